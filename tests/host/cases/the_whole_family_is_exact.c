/* the_whole_family_is_exact.c - each function of the family, well and failing, called before anything else. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T01 T02 */
/* flags: -fno-builtin -Wno-deprecated-declarations */
#include "../../hosts/family.c"
