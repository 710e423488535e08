/* fork_under_busy_threads.c - children of a threaded process allocate, free and start threads: no hang, all counts exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T30 */
/* also: mappings */
/* args: threads 60 */
/* ignore: ledger threads of a child run or not by chance */
#include "../../hosts/forks.c"
