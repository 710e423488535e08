/* noplace.h - a process whose directory somebody else has taken says so. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_NOPLACE_H
#define SEEP_COLLECTOR_NOPLACE_H

#include <stdint.h>

/*
 * Without a directory of our own there is no segment, but its header can be
 * left where everybody may make files: /dev/shm/seep-UID-COMM-PID-RANDOM.seg,
 * 0400, 8 KiB, inert, with the uid of who has the directory. Made with O_EXCL
 * under a name that nobody can guess, in a sticky directory: others can neither
 * read, replace nor remove it. No more than a few hundred of them: whoever took
 * the directory could have taken a name for each process as well.
 *
 * Start-up. Nothing is mapped or kept open.
 */
void noplace_note(uint32_t owner, char **argv);

#endif
