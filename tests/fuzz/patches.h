/* patches.h - an input that changes between two looks: its last bytes say what is written where. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_PATCHES_H
#define SEEP_FUZZ_PATCHES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PATCHES = 8 };

struct patch {
	uint32_t at, value;
};

/* A copy of the input, for free(), and what will be written into it; or NULL. */
static inline uint8_t *patches_copy(const uint8_t *data, size_t size, struct patch *patches)
{
	const size_t all = PATCHES * sizeof(*patches);
	uint8_t *bytes = malloc(size ? size : 1);

	if (size > all)
		memcpy(patches, data + size - all, all);
	if (bytes && size > 0)
		memcpy(bytes, data, size);
	return bytes;
}

/* Writes number i, if there is one. */
static inline void patches_apply(
    const struct patch *patches, uint64_t i, uint8_t *bytes, size_t size)
{
	if (i < PATCHES && size >= sizeof(patches[i].value))
		memcpy(bytes + patches[i].at % (size - sizeof(patches[i].value) + 1),
		    &patches[i].value, sizeof(patches[i].value));
}

#endif
