/* noplace.h - a process whose directory somebody else has taken says so. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_NOPLACE_H
#define SEEP_COLLECTOR_NOPLACE_H

#include <stdint.h>

/*
 * Without /dev/shm/seep-UID there is no segment, but its header can be left in
 * a directory that this process makes for it: /dev/shm/seep-UID-XXXXXXXX, with
 * a name that nobody can guess. COMM-PID-XXXXXXXX.seg in it has 8 KiB, 0400: it
 * is inert, and tells the uid of who has the other directory. A few hundred of
 * them at most, however many processes there are.
 *
 * Start-up. Nothing is mapped or kept open.
 */
void noplace_note(uint32_t owner, char **argv);

#endif
