/* control.h - what a control block of shared_ptr says of the object that it counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CONTROL_H
#define SEEP_CONTROL_H

#include <stddef.h>

enum control_kind {
	CONTROL_NONE,
	CONTROL_INSIDE,  /* the object is in the same block: make_shared */
	CONTROL_POINTER, /* the last word of the block points to it */
};

struct control {
	enum control_kind kind;
	const char *type; /* of the object: `len` bytes inside of the name */
	size_t len;
	/* the block has so many bytes, or its last word is another one; 0: any */
	size_t size;
};

/*
 * By the plain name of its class (type_name.h): libstdc++'s, libc++'s and
 * Boost's.
 */
struct control control_of(const char *name);

#endif
