/* the_whole_family_is_exact.c - each function of the malloc family, succeeding and failing, and called before anything else, is counted exactly. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T01 T02 T03 T04 T05 T08 T09 */
/* flags: -fno-builtin -Wno-deprecated-declarations */
#include "../../hosts/family.c"
