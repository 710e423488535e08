/* libc.h - functions of libc itself, whoever else defines their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIBC_H
#define SEEP_LIBC_H

/*
 * A program may define any function of libc, and so may a library before libc
 * in the search order: tests have a clock_gettime() with a script, overlays wrap
 * dlsym(). A call by name ends there, in code of the host. It may hold a lock
 * while it allocates, which our hook would wait for, or count how often it is
 * called. A dlsym() that forwards RTLD_NEXT is taken for the caller, and finds
 * our own malloc. So what the collector needs of libc it looks up here, and
 * memcpy and its relatives are our own (bytes.c).
 *
 * NULL: this is not glibc, or it has no such function. Start-up, because the
 * list of objects may change later.
 */
typedef void libc_any(void); /* cast to what it is */
libc_any *libc_function(const char *name);

typedef void *libc_dlsym(void *handle, const char *name);

#endif
