/* foreign_areas.h - what kind of mapping an address of a process belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_AREAS_H
#define SEEP_FOREIGN_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum foreign_area {
	FOREIGN_AREA_NONE,      /* not mapped when we looked */
	FOREIGN_AREA_ANONYMOUS, /* no file */
	FOREIGN_AREA_SHARED,    /* shared memory of any kind */
	FOREIGN_AREA_FILE,      /* any other file */
	FOREIGN_AREA_DEVICE,    /* may be: to read it may do something */
};

/* For the helper: after this call no memory is allocated. */
struct foreign_areas;

/*
 * `maps` and `mounts` are descriptors of /proc/PID/maps and mountinfo; -1: none.
 * shm_device as in struct foreign_helper. NULL: no memory.
 */
struct foreign_areas *foreign_areas_new(int maps, int mounts, uint64_t shm_device);

/*
 * The kind of the page at this address; reads the mappings at the first call.
 */
enum foreign_area foreign_areas_at(struct foreign_areas *a, uint64_t address);

#endif
