/* notice.h - a note of a process whose directory belongs to another user. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NOTICE_H
#define SEEP_NOTICE_H

#include <stdint.h>

/*
 * Without /dev/shm/seep-UID there is no segment. But a header can be left in a
 * directory that this process makes for it, /dev/shm/seep-UID-XXXXXXXX, whose
 * name nobody can guess. The file COMM-PID-XXXXXXXX.seg in it has 8 KiB and
 * mode 0400. It says that the process is inert, and the uid of the other
 * directory's owner. There are a few hundred of them at most, however many
 * processes there are.
 *
 * Start-up. Nothing stays mapped or open.
 */
void notice_write(uint32_t owner, char **argv);

#endif
