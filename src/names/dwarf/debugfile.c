/* debugfile.c - debug information that is not in the module itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/objfile.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>

#include "names/jail/ask.h"

enum {
	MINI_MAX = 256 << 20, /* bytes, unpacked */
	LZMA_OK = 0,
	LZMA_BUF_ERROR = 10,
};

/* A file that must have a certain build-id, or otherwise a certain checksum. */
struct wanted {
	const uint8_t *build_id;
	size_t build_id_bytes;
	const uint32_t *crc; /* NULL: the build-id alone counts */
};

static bool is_wanted(const struct objfile *f, const struct wanted *w)
{
	const uint8_t *id;
	uint32_t crc;
	size_t n = objfile_build_id(f, &id);

	if (!objfile_has_debug_info(f))
		return false;
	if (n > 0 && w->build_id_bytes > 0)
		return n == w->build_id_bytes && memcmp(id, w->build_id, n) == 0;
	return w->crc && objfile_crc(f, &crc) && crc == *w->crc;
}

/* Opens the first file of the parent's that is the right one. */
static bool find(int ask_fd, struct ask *q, const struct wanted *w, struct objfile *ret)
{
	struct ask_answer a;
	struct objfile f;

	for (q->n = 0; ask_file(ask_fd, q, &a) == 0; q->n = a.next) {
		if (objfile_open(a.fd, a.path, &f) == 0) {
			if (is_wanted(&f, w)) {
				*ret = f;
				return true;
			}
			objfile_close(&f);
		}
		if (a.next == 0)
			break;
	}
	return false;
}

int debugfile_find(
    const struct debugfile_search *s, const struct objfile *module, struct objfile *ret)
{
	struct wanted w = {.build_id = s->build_id, .build_id_bytes = s->build_id_bytes};
	struct ask q = {.kind = ASK_DEBUG};
	GElf_Word crc;

	if (module && w.build_id_bytes == 0)
		w.build_id_bytes = objfile_build_id(module, &w.build_id);
	q.id = w.build_id;
	q.id_bytes = w.build_id_bytes <= 32 ? w.build_id_bytes : 0;
	if (find(s->ask_fd, &q, &w, ret))
		return 0;
	q = (struct ask){.kind = ASK_LINK};
	if (module)
		q.name = dwelf_elf_gnu_debuglink(module->elf, &crc);
	if (!q.name || strlen(q.name) > NAME_MAX)
		return -ENOENT;
	w.crc = &crc;
	return find(s->ask_fd, &q, &w, ret) ? 0 : -ENOENT;
}

int debugfile_find_alt(const struct debugfile_search *s, const struct objfile *debug,
    struct objfile *ret, char ret_id[65])
{
	size_t len, name_len;
	const char *name = objfile_section(debug, ".gnu_debugaltlink", &len);
	struct ask q = {.kind = ASK_ALT, .name = name};
	struct wanted w = {0};

	if (!name)
		return 1;
	ret_id[0] = '\0';
	name_len = strnlen(name, len);
	if (name_len == 0 || name_len >= ASK_NAME_BYTES || name_len + 3 > len)
		return -ENOENT;
	w.build_id = (const uint8_t *)name + name_len + 1;
	w.build_id_bytes = len - name_len - 1;
	if (w.build_id_bytes > 32)
		return -ENOENT;
	buildid_hex(ret_id, w.build_id, w.build_id_bytes);
	q.id = w.build_id;
	q.id_bytes = w.build_id_bytes;
	return find(s->ask_fd, &q, &w, ret) ? 0 : -ENOENT;
}

typedef int lzma_decode(uint64_t *memory_limit, uint32_t flags, const void *allocator,
    const uint8_t *in, size_t *in_at, size_t in_len, uint8_t *out, size_t *out_at, size_t out_len);

static lzma_decode *decode;

void debugfile_prepare(void)
{
	/* libdw needs this library too, so it is installed */
	void *library = decode ? NULL : dlopen("liblzma.so.5", RTLD_NOW);

	if (library)
		*(void **)&decode = dlsym(library, "lzma_stream_buffer_decode");
}

int debugfile_open_mini(const struct objfile *module, struct objfile *ret)
{
	size_t len, room;
	const uint8_t *packed = objfile_section(module, ".gnu_debugdata", &len);

	if (!packed || !decode)
		return -ENOENT;
	for (room = len * 4 + 4096; room <= MINI_MAX; room *= 2) {
		uint64_t limit = MINI_MAX;
		size_t in_at = 0, out_at = 0;
		uint8_t *out = malloc(room);
		int err;

		if (!out)
			return -ENOMEM;
		err = decode(&limit, 0, NULL, packed, &in_at, len, out, &out_at, room);
		if (err == LZMA_OK)
			return objfile_open_memory(out, out_at, ret);
		free(out);
		if (err != LZMA_BUF_ERROR)
			break;
	}
	return -ENOENT;
}
