/* elf_reader.c - reads ELF files in a process in a jail. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/elf_reader.h"

#include <sys/socket.h>

#include "names/dwarf/objfile.h"
#include "kit/os/helper.h"
#include "kit/os/descriptor.h"
#include "names/jail/jail.h"
#include "names/jail/opener.h"
#include "kit/os/infile.h"

enum {
	MEMORY_BYTES = 512 << 20, /* tables of strings of up to 256 MiB */
	SECONDS = 10,             /* of computing */
};

const char *const elf_family[ELF_FAMILY] = {"malloc", "free", "calloc", "realloc", "reallocarray",
    "memalign", "aligned_alloc", "posix_memalign"};

const struct elf_inside elf_inside[ELF_INSIDE] = {
    {"_rjem_malloc", "jemalloc"},
    {"je_malloc", "jemalloc"},
    {"mallctl", "jemalloc"},
    {"tc_malloc", "tcmalloc"},
    {"mi_malloc", "mimalloc"},
    {"scalable_malloc", "the allocator of TBB"},
};

static const char *const sanitizers[] = {
    "__asan_init",
    "__tsan_init",
    "__msan_init",
    "__lsan_init",
    "__hwasan_init",
};
enum { SANITIZERS = sizeof(sanitizers) / sizeof(sanitizers[0]) };

struct reply {
	int32_t err;
	struct elf_facts facts;
};

struct elf_reader {
	pid_t inmate; /* 0: none runs */
	int fd;
	bool has_died; /* one has failed, so no second one is started */
};

/* ---- in the jail ---- */

static void add_needed(struct elf_facts *to, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if (bytes > sizeof(to->needed) - to->needed_bytes)
		return;
	memcpy(to->needed + to->needed_bytes, name, bytes);
	to->needed_bytes += (uint32_t)bytes;
}

/* One search for all, because a table of symbols may be large. */
static void find_symbols(const struct elf *e, struct elf_facts *ret)
{
	const char *names[SANITIZERS + ELF_INSIDE];
	uint32_t found;

	for (size_t i = 0; i < SANITIZERS; i++)
		names[i] = sanitizers[i];
	for (size_t i = 0; i < ELF_INSIDE; i++)
		names[SANITIZERS + i] = elf_inside[i].function;
	found = elf_defines(e, names, SANITIZERS + ELF_INSIDE, true);
	ret->has_sanitizer = (found & ((1U << SANITIZERS) - 1)) != 0;
	ret->inside = found >> SANITIZERS;
}

static void find_sections(const struct elf *e, struct elf_facts *ret)
{
	struct elf_sections s;
	int bytes;

	elf_sections(e, &s);
	ret->has_symbols = s.has_symbols;
	ret->has_debug = s.has_debug;
	ret->has_mini = s.has_mini;
	memcpy(ret->debuglink, s.debuglink, sizeof(ret->debuglink));
	ret->is_go = s.is_go;
	ret->is_rust = s.is_rust;
	bytes = e->native ? buildid_find(e->fd, ret->id) : 0;
	ret->id_bytes = (uint8_t)(bytes > 0 ? bytes : 0);
	ret->needs_bytes = (uint32_t)elf_versions(e, true, ret->needs, sizeof(ret->needs));
	ret->defines_bytes = (uint32_t)elf_versions(e, false, ret->defines, sizeof(ret->defines));
}

static int find_facts(int fd, struct elf_facts *ret)
{
	struct elf e;
	int err = elf_init(&e, fd);

	if (err < 0)
		return err;
	ret->elf_class = e.elf_class;
	ret->machine = e.machine;
	ret->native = e.native;
	ret->dynamic = e.dynamic;
	memcpy(ret->interpreter, e.interpreter, sizeof(ret->interpreter));
	memcpy(ret->soname, e.soname, sizeof(ret->soname));
	memcpy(ret->runpath, e.runpath, sizeof(ret->runpath));
	for (size_t i = 0; i < e.needed_count; i++)
		add_needed(ret, e.needed[i]);
	ret->own = elf_defines(&e, elf_family, ELF_FAMILY, false);
	find_symbols(&e, ret);
	find_sections(&e, ret);
	elf_release(&e);
	return 0;
}

/*
 * If the kernel has no seccomp filters, this continues: these few headers are
 * read within fixed bounds, and the privileges are gone.
 */
static int serve(int socket, void *nothing)
{
	static struct reply reply;
	char byte;
	int fd;

	(void)nothing;
	(void)jail_enter(socket, MEMORY_BYTES, SECONDS);
	while (descriptor_receive(JAIL_FD, &byte, 1, 0, &fd) && fd >= 0) {
		memset(&reply, 0, sizeof(reply));
		reply.err = find_facts(fd, &reply.facts);
		if (write(JAIL_FD, &reply, sizeof(reply)) != (ssize_t)sizeof(reply))
			break;
	}
	return 0;
}

/* ---- in the command ---- */

struct elf_reader *elf_reader_new(void)
{
	return calloc(1, sizeof(struct elf_reader));
}

static void end_inmate(struct elf_reader *r)
{
	int status;

	if (!r->inmate)
		return;
	(void)close(r->fd);
	(void)helper_end(r->inmate, 0, &status);
	r->inmate = 0;
}

void elf_reader_free(struct elf_reader *r)
{
	if (!r)
		return;
	end_inmate(r);
	free(r);
}

static int start(struct elf_reader *r)
{
	/* the jail takes its rights, signals and descriptors */
	const struct helper_plan plan = {.run = serve, .channel = HELPER_PACKETS};

	if (r->inmate)
		return 0;
	return r->has_died || helper_start(&plan, &r->inmate, &r->fd) < 0 ? -EBADMSG : 0;
}

static void end_text(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
}

/* Texts, each with its NUL. */
static bool is_list(const char *list, uint32_t used, size_t bytes)
{
	return used <= bytes && (used == 0 || list[used - 1] == '\0');
}

bool elf_reader_lists(const char *list, uint32_t bytes, const char *name)
{
	for (uint32_t at = 0; at < bytes; at += (uint32_t)strlen(list + at) + 1)
		if (!strcmp(list + at, name))
			return true;
	return false;
}

static bool make_plain(struct elf_facts *f)
{
	end_text(f->debuglink, sizeof(f->debuglink));
	end_text(f->interpreter, sizeof(f->interpreter));
	end_text(f->soname, sizeof(f->soname));
	end_text(f->runpath, sizeof(f->runpath));
	return f->id_bytes <= sizeof(f->id) &&
	    is_list(f->needed, f->needed_bytes, sizeof(f->needed)) &&
	    is_list(f->needs, f->needs_bytes, sizeof(f->needs)) &&
	    is_list(f->defines, f->defines_bytes, sizeof(f->defines));
}

static int ask(struct elf_reader *r, int file, struct reply *ret)
{
	const struct iovec part = {(void *)(uintptr_t) "", 1};
	int none = -1, err = start(r);

	if (err < 0)
		return err;
	if (descriptor_send(r->fd, &part, 1, file, 0) &&
	    descriptor_receive(r->fd, ret, sizeof(*ret), 0, &none) && ret->err <= 0 &&
	    make_plain(&ret->facts))
		return ret->err;
	if (none >= 0)
		(void)close(none);
	r->has_died = true;
	end_inmate(r);
	return -EBADMSG;
}

static bool may_choose(const struct elf_file *file, uid_t owner)
{
	return !file->is_chosen || opener_may_choose(file->chooser, owner);
}

int elf_reader_read(
    struct elf_reader *r, const struct elf_file *file, struct elf_facts *ret, uid_t *ret_owner)
{
	int fd = file->root ? infile_open_in_root(file->root, file->path)
	                    : infile_open(AT_FDCWD, file->path);
	int err;
	struct reply *reply;
	struct stat st;

	if (fd < 0)
		return fd;
	reply = malloc(sizeof(*reply));
	err = !reply                       ? -ENOMEM
	    : fstat(fd, &st) < 0           ? -errno
	    : !may_choose(file, st.st_uid) ? -EPERM
	                                   : ask(r, fd, reply);
	(void)close(fd);
	if (err == 0) {
		*ret = reply->facts;
		*ret_owner = st.st_uid;
	}
	free(reply);
	return err;
}
