/* all_symbols_bound_at_the_start.c - with LD_BIND_NOW and -z now the loader resolves all symbols before the collector runs: counts are exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T20 */
/* also: mappings */
/* env: LD_BIND_NOW=1 */
/* flags: -Wl,-z,now -fno-builtin -Wno-deprecated-declarations */
#include "../../hosts/family.c"
