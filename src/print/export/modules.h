/* modules.h - the modules of the frames of a view, numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MODULES_H
#define SEEP_MODULES_H

#include <stdio.h>

#include "view/sites/view.h"

struct modules_item {
	const char *path;
	const struct process_module *module; /* NULL: only the path is known */
	bool has_functions, has_files, has_lines, has_inlined;
};

/* Numbered as they come up: 0, 1, ... */
struct modules {
	struct modules_item *list;
	size_t count, room;
	struct modules_known *known; /* of all processes, by address */
	size_t known_count;
};

/* -ENOMEM. */
int modules_init(struct modules *m, const struct session *s);

void modules_release(struct modules *m);

/* By the path of a frame or module, not NULL. -ENOMEM. */
int modules_find(struct modules *m, const char *path, uint32_t *ret);

/* The address of a frame in the memory of the process. */
uint64_t modules_address(const struct modules *m, const struct frame *f);

/*
 * A frame as valgrind's tools write it: "0x401136: parse (a.c:12)" or
 * "0x401136: parse (in /usr/lib/libfoo.so)", where `unknown` stands for a module
 * that is not known.
 */
void modules_put_frame(
    FILE *out, const struct modules *m, const struct frame *f, const char *unknown);

#endif
