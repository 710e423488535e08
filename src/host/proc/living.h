/* living.h - a process whose first thread has ended is seen through another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIVING_H
#define SEEP_LIVING_H

#include <sys/types.h>

/*
 * When main() calls pthread_exit(), /proc/PID is that of a zombie: no memory, no
 * files, no root. /proc/TID of a thread that lives has them, although /proc does
 * not list it; and system calls that take a pid take a thread id as well.
 *
 * The id of a thread that lives: pid itself, except if the first thread has
 * ended and another one has not. pid also for a process that is gone.
 */
pid_t living_thread(pid_t pid);

#endif
