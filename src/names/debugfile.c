/* debugfile.c - where debug information lies that is not in the module. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/debugfile.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL "/usr/lib/debug"

enum {
	ID_MAX = 32,
	MINI_MAX = 256 << 20, /* bytes, unpacked */
	LZMA_OK = 0,
	LZMA_BUF_ERROR = 10,
};

void
debugfile_hex(char to[65], const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (len > ID_MAX)
		len = ID_MAX;
	for (size_t i = 0; i < len; i++) {
		to[2 * i] = digits[bytes[i] >> 4];
		to[2 * i + 1] = digits[bytes[i] & 15];
	}
	to[2 * len] = '\0';
}

/* A file that must have a build-id, or else a checksum. */
struct wanted {
	const uint8_t *build_id;
	size_t build_id_bytes;
	const uint32_t *crc; /* NULL: the build-id alone counts */
	bool with_dwarf;
};

static bool
is_wanted(const struct objfile *f, const struct wanted *w)
{
	const uint8_t *id;
	uint32_t crc;
	size_t n = objfile_build_id(f, &id);

	if (w->with_dwarf && !objfile_has_debug_info(f))
		return false;
	if (n > 0 && w->build_id_bytes > 0)
		return n == w->build_id_bytes &&
		    memcmp(id, w->build_id, n) == 0;
	return w->crc && objfile_crc(f, &crc) && crc == *w->crc;
}

static bool
try_path(const char *path, const struct wanted *w, struct objfile *ret)
{
	struct objfile f;

	if (objfile_open(path, &f) < 0)
		return false;
	if (is_wanted(&f, w)) {
		*ret = f;
		return true;
	}
	objfile_close(&f);
	return false;
}

/* root, dir and a name below it, "" where there is none. */
static bool
try_in(const char *root, const char *dir, const char *name,
    const struct wanted *w, struct objfile *ret)
{
	char path[PATH_MAX * 2];
	int n = snprintf(path, sizeof(path), "%s%s/%s", root, dir, name);

	return n > 0 && (size_t)n < sizeof(path) && try_path(path, w, ret);
}

/* What is too long becomes a path that leads nowhere. */
static bool
put_place(struct debugfile_place *to, const char *root, const char *name)
{
	int n = snprintf(to->path, sizeof(to->path), "%s%s", root, name);

	if (n < 0 || (size_t)n >= sizeof(to->path))
		to->path[0] = '\0';
	to->name = to->path[0] ? to->path + strlen(root) : to->path;
	return true;
}

/* One of several names below one of several roots; *n counts places down. */
static bool
find_place(const struct debugfile_search *s, const char *const *names,
    size_t *n, struct debugfile_place *ret)
{
	for (size_t i = 0; names && names[i]; i++)
		for (size_t k = 0; names[i][0] == '/' && s->roots[k]; k++)
			if ((*n)-- == 0)
				return put_place(ret, s->roots[k], names[i]);
	return false;
}

/* By its whole path and by its last part, below a directory of the user's. */
static bool
find_in_dirs(
    const struct debugfile_search *s, size_t n, struct debugfile_place *ret)
{
	const char *slash = strrchr(s->path, '/');
	const char *names[] = {s->path, slash ? slash : s->path};
	char dir[PATH_MAX];

	for (size_t i = 0; s->dirs[i]; i++)
		for (size_t k = 0; k < 2; k++) {
			if (n-- > 0)
				continue;
			(void)snprintf(dir, sizeof(dir), "%s%s", s->dirs[i],
			    names[k][0] == '/' ? "" : "/");
			(void)put_place(ret, dir, names[k]);
			ret->name = ret->path;
			return true;
		}
	return false;
}

bool
debugfile_module(
    const struct debugfile_search *s, size_t n, struct debugfile_place *ret)
{
	const char *const own[] = {s->path, NULL};

	ret->path[0] = '\0';
	ret->by_id = false;
	if (find_place(s, s->mapped, &n, ret) || find_place(s, own, &n, ret))
		return true;
	ret->by_id = true;
	return find_place(s, s->twins, &n, ret) || find_in_dirs(s, n, ret);
}

enum { NAME_BYTES = 2 * ID_MAX + 33 };

/* ".build-id/ab/cdef.debug"; false: that is no build-id. */
static bool
name_by_id(char name[NAME_BYTES], const uint8_t *id, size_t bytes)
{
	char hex[2 * ID_MAX + 1];

	if (bytes < 2 || bytes > ID_MAX)
		return false;
	debugfile_hex(hex, id, bytes);
	(void)snprintf(
	    name, NAME_BYTES, ".build-id/%.2s/%s.debug", hex, hex + 2);
	return true;
}

static bool
is_in(const char *root, const char *dir, const char *name)
{
	char path[PATH_MAX * 2];
	int n = snprintf(path, sizeof(path), "%s%s/%s", root, dir, name);

	return n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0;
}

bool
debugfile_is_there(const struct debugfile_search *s)
{
	char name[NAME_BYTES];

	if (!name_by_id(name, s->build_id, s->build_id_bytes))
		return false;
	for (size_t i = 0; s->dirs[i]; i++)
		if (is_in("", s->dirs[i], name) ||
		    is_in("", s->dirs[i], name + strlen(".build-id/")))
			return true;
	for (size_t i = 0; s->roots[i]; i++)
		if (is_in(s->roots[i], USUAL, name))
			return true;
	return false;
}

static bool
try_build_id(const struct debugfile_search *s, const struct wanted *w,
    struct objfile *ret)
{
	char name[NAME_BYTES];

	if (!name_by_id(name, w->build_id, w->build_id_bytes))
		return false;
	for (size_t i = 0; s->dirs[i]; i++)
		if (try_in("", s->dirs[i], name, w, ret) ||
		    try_in("", s->dirs[i], name + strlen(".build-id/"), w, ret))
			return true;
	for (size_t i = 0; s->roots[i]; i++)
		if (try_in(s->roots[i], USUAL, name, w, ret))
			return true;
	return false;
}

static bool
try_link(const struct debugfile_search *s, const char *name,
    const struct wanted *w, struct objfile *ret)
{
	const char *slash = strrchr(s->path, '/');
	char dir[PATH_MAX], below[PATH_MAX + sizeof(USUAL)];

	(void)snprintf(dir, sizeof(dir), "%.*s",
	    slash ? (int)(slash - s->path) : 0, s->path);
	for (size_t i = 0; s->dirs[i]; i++) {
		(void)snprintf(below, sizeof(below), "%s", dir);
		if (try_in(s->dirs[i], below, name, w, ret) ||
		    try_in(s->dirs[i], "", name, w, ret))
			return true;
	}
	for (size_t i = 0; s->roots[i]; i++) {
		if (try_in(s->roots[i], dir, name, w, ret))
			return true;
		(void)snprintf(below, sizeof(below), "%s/.debug", dir);
		if (try_in(s->roots[i], below, name, w, ret))
			return true;
		(void)snprintf(below, sizeof(below), USUAL "%s", dir);
		if (try_in(s->roots[i], below, name, w, ret))
			return true;
	}
	return false;
}

int
debugfile_find(const struct debugfile_search *s, const struct objfile *module,
    struct objfile *ret)
{
	struct wanted w = {.build_id = s->build_id,
	    .build_id_bytes = s->build_id_bytes,
	    .with_dwarf = true};
	const char *name = NULL;
	GElf_Word crc;

	if (module && w.build_id_bytes == 0)
		w.build_id_bytes = objfile_build_id(module, &w.build_id);
	if (s->given && try_path(s->given, &w, ret))
		return 0;
	if (try_build_id(s, &w, ret))
		return 0;
	if (module)
		name = dwelf_elf_gnu_debuglink(module->elf, &crc);
	if (!name || !*name || strchr(name, '/') || strlen(name) > NAME_MAX)
		return -ENOENT;
	w.crc = &crc;
	return try_link(s, name, &w, ret) ? 0 : -ENOENT;
}

int
debugfile_find_alt(const struct debugfile_search *s,
    const struct objfile *debug, struct objfile *ret, char ret_id[65])
{
	size_t len, name_len;
	const char *name = objfile_section(debug, ".gnu_debugaltlink", &len);
	struct wanted w = {.with_dwarf = true};

	if (!name)
		return 1;
	ret_id[0] = '\0';
	name_len = strnlen(name, len);
	if (name_len == 0 || name_len >= PATH_MAX || name_len + 3 > len)
		return -ENOENT;
	w.build_id = (const uint8_t *)name + name_len + 1;
	w.build_id_bytes = len - name_len - 1;
	debugfile_hex(ret_id, w.build_id, w.build_id_bytes);
	if (s->given_alt && try_path(s->given_alt, &w, ret))
		return 0;
	if (try_build_id(s, &w, ret))
		return 0;
	/* "../../.dwz/x.debug" is relative to a file in such a directory */
	while (strncmp(name, "../", 3) == 0)
		name += 3;
	if (strncmp(name, USUAL "/", sizeof(USUAL)) == 0)
		name += sizeof(USUAL);
	for (size_t i = 0; s->dirs[i]; i++)
		if (try_in("", s->dirs[i], name, &w, ret))
			return 0;
	for (size_t i = 0; s->roots[i]; i++)
		if (try_in(s->roots[i], name[0] == '/' ? "" : USUAL, name, &w,
		        ret))
			return 0;
	return -ENOENT;
}

typedef int lzma_decode(uint64_t *memory_limit, uint32_t flags,
    const void *allocator, const uint8_t *in, size_t *in_at, size_t in_len,
    uint8_t *out, size_t *out_at, size_t out_len);

int
debugfile_open_mini(const struct objfile *module, struct objfile *ret)
{
	size_t len, room;
	const uint8_t *packed = objfile_section(module, ".gnu_debugdata", &len);
	/* libdw needs that library, too: it is there */
	void *library = packed ? dlopen("liblzma.so.5", RTLD_NOW) : NULL;
	lzma_decode *decode = NULL;

	if (library)
		*(void **)&decode = dlsym(library, "lzma_stream_buffer_decode");
	if (!decode)
		return -ENOENT;
	for (room = len * 4 + 4096; room <= MINI_MAX; room *= 2) {
		uint64_t limit = MINI_MAX;
		size_t in_at = 0, out_at = 0;
		uint8_t *out = malloc(room);
		int err;

		if (!out)
			return -ENOMEM;
		err = decode(
		    &limit, 0, NULL, packed, &in_at, len, out, &out_at, room);
		if (err == LZMA_OK)
			return objfile_open_memory(out, out_at, ret);
		free(out);
		if (err != LZMA_BUF_ERROR)
			break;
	}
	return -ENOENT;
}
