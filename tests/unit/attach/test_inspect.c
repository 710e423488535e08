/* test_inspect.c - what is known of a command before it starts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "test.h"
#include "attach/program/inspect.h"

enum { ROOM = 1 << 20 };

/* A directory, a file in it, and the bytes of an ordinary program. */
struct place {
	char dir[64];
	char file[96];
	char *old_path;
	unsigned char *bytes;
	size_t len;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	FILE *f = fopen("/bin/ls", "rb");

	if (!p || !f)
		return -1;
	p->bytes = malloc(ROOM);
	if (!p->bytes)
		return -1;
	p->len = fread(p->bytes, 1, ROOM, f);
	fclose(f);
	strcpy(p->dir, "/tmp/test_inspect.XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->file, sizeof(p->file), "%s/program", p->dir);
	p->old_path = strdup(getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin");
	unsetenv("LD_PRELOAD");
	*state = p;
	return 0;
}

static int drop_place(void **state)
{
	struct place *p = *state;
	char command[128];

	setenv("PATH", p->old_path, 1);
	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	if (system(command) != 0)
		return -1;
	free(p->old_path);
	free(p->bytes);
	free(p);
	return 0;
}

static void store(const struct place *p, const void *bytes, size_t len)
{
	int fd = open(p->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static enum inspect_kind kind_of(const struct place *p)
{
	struct inspect r;

	assert_int_equal(inspect_command(p->file, &r), 0);
	if (r.kind == INSPECT_FINE)
		assert_string_equal(r.message, "");
	else
		assert_non_null(strstr(r.message, p->file));
	return r.kind;
}

/* Replaces a name in the file, which must be there and no shorter. */
static bool rename_string(struct place *p, const char *from, const char *to)
{
	size_t len = strlen(from) + 1;
	unsigned char *at = memmem(p->bytes, p->len, from, len);

	if (!at || strlen(to) >= len)
		return false;
	memset(at, 0, len);
	memcpy(at, to, strlen(to));
	return true;
}

TEST_WITH(an_ordinary_program_is_fine, make_place, drop_place)
{
	struct place *p = *state;

	store(p, p->bytes, p->len);
	assert_int_equal(kind_of(p), INSPECT_FINE);
}

TEST_WITH(commands_are_found_as_execvp_finds_them, make_place, drop_place)
{
	struct place *p = *state;
	struct inspect r;
	char path[256];

	store(p, p->bytes, p->len);
	snprintf(path, sizeof(path), "/proc/none:%s:/bin", p->dir);
	setenv("PATH", path, 1);
	assert_int_equal(inspect_command("program", &r), 0);
	assert_string_equal(r.path, p->file);
	assert_int_equal(inspect_command("no-such-thing", &r), -ENOENT);
	assert_int_equal(inspect_command("", &r), -ENOENT);
	assert_int_equal(inspect_command("./no-such-thing", &r), -ENOENT);
	assert_int_equal(inspect_command(p->dir, &r), -EACCES);
	chmod(p->file, 0644);
	assert_int_equal(inspect_command("program", &r), -EACCES);
	assert_int_equal(inspect_command(p->file, &r), -EACCES);
}

TEST_WITH(a_script_is_judged_by_its_interpreter, make_place, drop_place)
{
	static const char *const scripts[] = {
	    "#!/bin/ls\n",
	    "#! /bin/ls -l\n",
	    "#!/usr/bin/env ls\n",
	    "#!/usr/bin/env -S A=b ls -l\n",
	};
	struct place *p = *state;
	struct inspect r;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		const char *end;

		store(p, scripts[i], strlen(scripts[i]));
		assert_int_equal(inspect_command(p->file, &r), 0);
		end = strrchr(r.program, '/');
		assert_non_null(end);
		assert_string_equal(end, "/ls");
		assert_string_equal(r.path, p->file);
	}
	/* a script that is its own interpreter ends, too */
	snprintf((char *)p->bytes, 200, "#!%s\n", p->file);
	store(p, p->bytes, strlen((char *)p->bytes));
	assert_int_equal(inspect_command(p->file, &r), 0);
}

TEST_WITH(a_program_without_a_loader_is_static, make_place, drop_place)
{
	struct place *p = *state;
	Elf64_Ehdr eh;

	memcpy(&eh, p->bytes, sizeof(eh));
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		uint64_t at = eh.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr ph;

		memcpy(&ph, p->bytes + at, sizeof(ph));
		if (ph.p_type == PT_INTERP)
			ph.p_type = PT_NULL;
		memcpy(p->bytes + at, &ph, sizeof(ph));
	}
	store(p, p->bytes, p->len);
	assert_int_equal(kind_of(p), INSPECT_STATIC);
}

TEST_WITH(another_loader_is_another_libc, make_place, drop_place)
{
	struct place *p = *state;

	assert_true(rename_string(p, "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"));
	store(p, p->bytes, p->len);
	assert_int_equal(kind_of(p), INSPECT_LIBC);
}

TEST_WITH(another_class_or_machine_is_told, make_place, drop_place)
{
	struct place *p = *state;

	p->bytes[EI_CLASS] = ELFCLASS32;
	store(p, p->bytes, p->len);
	assert_int_equal(kind_of(p), INSPECT_MACHINE);
	p->bytes[EI_CLASS] = ELFCLASS64;
	p->bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_PPC64;
	store(p, p->bytes, p->len);
	assert_int_equal(kind_of(p), INSPECT_MACHINE);
}

TEST_WITH(a_needed_sanitizer_is_found, make_place, drop_place)
{
	struct place *p = *state;

	assert_true(rename_string(p, "libselinux.so.1", "libasan.so.8"));
	store(p, p->bytes, p->len);
	assert_int_equal(kind_of(p), INSPECT_SANITIZER);
}

TEST_WITH(a_preloaded_sanitizer_is_found, make_place, drop_place)
{
	struct place *p = *state;
	struct inspect r;

	store(p, p->bytes, p->len);
	setenv("LD_PRELOAD", "/usr/lib/libtsan.so.2", 1);
	assert_int_equal(inspect_command(p->file, &r), 0);
	unsetenv("LD_PRELOAD");
	assert_int_equal(r.kind, INSPECT_SANITIZER);
}

TEST_WITH(a_shared_allocator_is_named, make_place, drop_place)
{
	struct place *p = *state;
	struct inspect r;

	store(p, p->bytes, p->len);
	assert_int_equal(inspect_command(p->file, &r), 0);
	assert_string_equal(r.allocator, "");
	setenv("LD_PRELOAD", "libeatmydata.so libmimalloc.so.2", 1);
	assert_int_equal(inspect_command(p->file, &r), 0);
	unsetenv("LD_PRELOAD");
	assert_string_equal(r.allocator, "libmimalloc.so.2");
	assert_true(rename_string(p, "libselinux.so.1", "libjemalloc.so"));
	store(p, p->bytes, p->len);
	assert_int_equal(inspect_command(p->file, &r), 0);
	assert_int_equal(r.kind, INSPECT_FINE);
	assert_string_equal(r.allocator, "libjemalloc.so");
}

TEST_WITH(setuid_of_another_user_is_told, make_place, drop_place)
{
	struct place *p = *state;

	if (geteuid() != 0) { /* who cannot make one takes the system's */
		struct inspect r;

		assert_int_equal(inspect_command("/bin/su", &r), 0);
		assert_true(r.kind == INSPECT_SECURE || r.kind == INSPECT_FINE);
		return;
	}
	store(p, p->bytes, p->len);
	assert_int_equal(chown(p->file, 1, 1), 0);
	assert_int_equal(chmod(p->file, 04755), 0);
	/* where the directory is mounted nosuid the bit means nothing */
	assert_true(kind_of(p) == INSPECT_SECURE || kind_of(p) == INSPECT_FINE);
	assert_int_equal(chown(p->file, 0, 0), 0);
	assert_int_equal(chmod(p->file, 04755), 0);
	assert_int_equal(kind_of(p), INSPECT_FINE);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Hostile ELF: whatever the verdict, there is one. */
TEST_WITH(no_damage_crashes_or_hangs, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char *copy = malloc(p->len);
	uint32_t seed = 1;
	struct inspect r;

	assert_non_null(copy);
	for (size_t n = 0; n < p->len; n += n < 2048 ? 13 : 4099) {
		store(p, p->bytes, n);
		assert_int_equal(inspect_command(p->file, &r), 0);
	}
	for (int i = 0; i < 600; i++) {
		/* headers are worth more flips than code */
		size_t from = i % 3 == 0 ? p->len - 2048 : 0;
		size_t span = i % 3 == 1 ? p->len : 2048;

		memcpy(copy, p->bytes, p->len);
		for (int k = 0; k < 8; k++) {
			size_t at = from + next_random(&seed) % span;
			uint32_t v = next_random(&seed);

			copy[at] = v & 1 ? 0xff : (unsigned char)(v >> 1);
		}
		store(p, copy, p->len);
		(void)inspect_command(p->file, &r);
	}
	free(copy);
}
