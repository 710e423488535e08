/* fuzz_names.c - any bytes as names: from a recording, the cache, the jail. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "names/jail/ask.h"
#include "names/dwarf/objfile.h"
#include "names/find/wire.h"
#include "names/find/demangle.h"
#include "names/dwarf/lookup.h"
#include "names/find/places.h"

#include "lib/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct name_table_key asked = {
    .kind = TABLE_MODULE, .id = {1, 2, 3, 4, 5, 6, 7, 8}, .id_bytes = 8, .path = "/bin/x"};

static void write_file(int dir, const char *name, const void *head, size_t head_bytes,
    const uint8_t *data, size_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || (head_bytes && write(fd, head, head_bytes) != (ssize_t)head_bytes) ||
	    write(fd, data, size) != (ssize_t)size)
		abort(); /* the fuzzer's own trouble */
	close(fd);
}

static void count_frames(struct table *t, size_t *ret_places)
{
	struct table_row *rows;
	size_t count, length = 0;

	if (name_table_places(t, TABLE_ALL, &rows, &count) < 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct names_frame *chain;
		size_t n = name_table_frames(t, rows[i].chain, &chain);

		for (size_t k = 0; k < n; k++)
			length += chain[k].function ? strlen(chain[k].function) : 0;
	}
	*ret_places = count + (length > SIZE_MAX / 2);
	free(rows);
}

/* What was read can be written and read again, and is the same. */
static void check_again(struct table *t)
{
	struct wire_out out = {0};
	struct wire_in in = {0};
	struct table_row *rows;
	size_t count, before, after, used;

	count_frames(t, &before);
	if (name_table_new(&in.table) < 0 || name_table_places(t, TABLE_ALL, &rows, &count) < 0)
		abort();
	wire_put_rows(&out, t, rows, count);
	free(rows);
	if (wire_failed(&out) || wire_get(&in, out.out.bytes, out.out.len, &used) < 0 ||
	    used != out.out.len)
		abort();
	count_frames(in.table, &after);
	if (before != after)
		abort();
	name_table_free(in.table);
	wire_get_release(&in);
	wire_release(&out);
}

/* A question of a hostile inmate: where would it be answered from? */
static int take_question(void *context, const uint8_t *body, size_t len)
{
	static const char *const roots[] = {"/proc/1/root", "", NULL};
	static const char *const dirs[] = {"/a", NULL};
	const struct places_search search = {.path = "/bin/../x",
	    .build_id = asked.id,
	    .build_id_bytes = asked.id_bytes,
	    .roots = roots,
	    .dirs = dirs};
	char name[ASK_NAME_BYTES];
	struct places_place place;
	struct ask_head head;
	struct ask q;

	(void)context;
	if (!ask_parse(body, len, &head, name, &q))
		return -EBADMSG;
	for (q.n = 0; places_of(&search, &q, &place); q.n++) {
		/* a name alone leads no way up, but for a .dwo file's owner */
		if (!place.check_owner && q.kind != ASK_MODULE && strstr(place.path, "/../"))
			abort();
		if (place.root_bytes > strlen(place.path) || q.n > 100)
			abort();
	}
	return 0;
}

static void check_items(const uint8_t *data, size_t size, const struct name_table_key *only)
{
	struct wire_in in = {.only = only, .ask = take_question};
	size_t used, half = size / 2;

	if (name_table_new(&in.table) < 0)
		return;
	/* in two pieces, as from a pipe */
	if (wire_get(&in, data, half, &used) == 0)
		(void)wire_get(&in, data + used, size - used, &used);
	check_again(in.table);
	name_table_free(in.table);
	wire_get_release(&in);
}

static void check_cache(const uint8_t *data, size_t size)
{
	/* as of cache.c: magic, version, crc, content_bytes, origin */
	uint64_t head[11] = {UINT64_C(0x014d414e50454553), 2, size * 4};
	static const struct cache_origin gone;
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 8];
	struct cache *c;
	struct table *t;
	int fd;

	if (size > 8)
		memcpy(&head[2], data + size - 8, 4);
	head[10] = 1; /* of a file that is trusted */
	head[1] |= (uint64_t)crc32(crc32(0, (const Bytef *)head, sizeof(head)), data, (uInt)size)
	    << 32;
	scratch_make(dir);
	setenv("XDG_CACHE_HOME", dir, 1);
	if (cache_open(&c) < 0 || name_table_new(&t) < 0)
		abort();
	(void)snprintf(path, sizeof(path), "%s/seep", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	write_file(fd, "0102030405060708.names", head, sizeof(head), data, size);
	(void)cache_load(c, &asked, &gone, t);
	(void)unlinkat(fd, "0102030405060708.names", 0);
	close(fd);
	cache_close(c);
	name_table_free(t);
	(void)rmdir(path);
	(void)rmdir(dir);
}

static void ignore(void *context, size_t number, const char *name, size_t len)
{
	struct mapname m;
	char function[64];

	mapname_parse(name, len, &m);
	mapname_function(&m, function, sizeof(function));
	if (m.function_len == 0 || (m.file && m.file_len == 0) ||
	    (m.file && (m.file < name || m.file + m.file_len > name + len)))
		abort();
	*(size_t *)context += number + (size_t)(unsigned char)name[len - 1];
}

static void check_files(const uint8_t *data, size_t size)
{
	const uint64_t addresses[] = {1, 0x1000, 0x7f0000000000, UINT64_MAX};
	uint8_t id[32];
	size_t sum = 0;
	struct perfmap_gaps gaps;
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	(void)perfmap_read(fd, addresses, 4, ignore, &sum, &gaps);
	if (buildid_find(fd, id) > (int)sizeof(id))
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0] & 3) {
	case 0:
		check_items(data + 1, size - 1, NULL);
		break;
	case 1:
		check_items(data + 1, size - 1, &asked);
		break;
	case 2:
		check_cache(data + 1, size - 1);
		break;
	default:
		check_files(data + 1, size - 1);
		break;
	}
	return 0;
}
