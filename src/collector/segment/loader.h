/* loader.h - symbols of loaded objects: what defines them, who calls them, where they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOADER_H
#define SEEP_LOADER_H

#include <link.h>
#include <stdbool.h>

/*
 * Looks at the dynamic symbols of a loaded object. dlsym cannot answer this: if
 * a program is not position-independent and takes the address of malloc, dlsym
 * finds an entry of the program's own PLT, which calls libc's function. False
 * if there is no DT_GNU_HASH. Start-up.
 */
bool loader_defines(const struct link_map *l, const char *name);

/*
 * Does the object use this symbol of another one? Looks at its relocations,
 * because nothing says how many symbols there are. Start-up.
 */
bool loader_imports(const struct link_map *l, const char *name);

/*
 * A function of libc itself, whoever else defines its name.
 *
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
typedef void loader_any(void); /* cast to what it is */
loader_any *loader_libc(const char *name);

/* Is this library relocated, so that it may call functions of others? */
bool loader_is_relocated(void);

/*
 * Finds dlsym, for the two functions below; cheap if it has. False: this library
 * is not relocated yet. The first call is made before there is a second thread.
 */
bool loader_ready(void);

/*
 * Finds a symbol in the whole process, or in the libraries after ours. If it is
 * absent, dlerror allocates and frees on the host's heap, so ask only for what
 * every host that we serve has.
 */
void *loader_symbol(const char *name);
void *loader_after_us(const char *name);

#endif
