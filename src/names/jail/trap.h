/* trap.h - answers system calls that the jail does not execute. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRAP_H
#define SEEP_TRAP_H

/*
 * libdw opens .dwo files by itself, beside the file that names them. In the
 * jail these calls raise SIGSYS, and the handler answers instead of the kernel:
 * with a descriptor of the .dwo file from the parent (ask.h), the path of the
 * file that is being read, or the status of a descriptor. All other calls are
 * refused. Call this before filter_install(). 0, or a negative errno.
 */
int trap_install(int fd);

/* The file whose debug information is being read; must stay valid. */
void trap_set_path(const char *path);

#endif
