/* vtable.h - from the address of a vtable to the name of its class. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VTABLE_H
#define SEEP_VTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An object with virtual functions begins with the address of its class's
 * vtable. Before that stands the address of the class's typeinfo, and in there
 * the address of its name. The typeinfo is an object itself, of one of three
 * classes of the C++ run time, and has a vtable with a typeinfo and a name. A
 * word is a vtable only if all of this is in modules, and both names are right.
 * So the name is found where symbols are stripped, and is never a guess.
 *
 * The memory belongs to a process that may have made up all of it: no more is
 * read than three words and a name at each of two addresses.
 */
struct vtable_memory {
	/* Copies memory of the process. false: some of it is not there. */
	bool (*read)(void *context, uint64_t address, void *to, size_t bytes);
	/* Is this address in a mapping of a module's file? */
	bool (*is_in_module)(void *context, uint64_t address);
	void *context;
};

enum { VTABLE_NAME_BYTES = 4096 }; /* longer names are not read */

/*
 * Length of the name, as the compiler wrote it ("N3app3FooE"), which is in
 * `name` with a NUL; 0: this is not the vtable of an object's beginning.
 */
size_t vtable_name(const struct vtable_memory *m, uint64_t vtable, char name[VTABLE_NAME_BYTES]);

/* Is this the name of a class, as a compiler writes it? */
bool vtable_is_name(const char *text, size_t len);

#endif
