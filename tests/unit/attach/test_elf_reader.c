/* test_elf_reader.c - ELF files are parsed in a jail, whatever is in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <sys/mman.h>

#include "test.h"
#include "attach/program/elf_reader.h"
#include "kit/os/clock.h"

static struct elf_facts facts;

static int read_path(struct elf_reader *r, const char *path)
{
	const struct elf_file file = {.path = path};
	uid_t owner;

	return elf_reader_read(r, &file, &facts, &owner);
}

/* The only child of this process. */
static pid_t inmate(void)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	int pid = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	(void)fclose(f);
	return pid;
}

static void status_of(pid_t pid, const char *name, char value[256])
{
	char path[64], line[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	value[0] = '\0';
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			(void)snprintf(value, 256, "%s", line + strlen(name) + 2);
	(void)fclose(f);
}

TEST(the_process_that_parses_is_in_a_jail)
{
	struct elf_reader *r = elf_reader_new();
	char value[256];
	pid_t pid;

	assert_non_null(r);
	assert_int_equal(read_path(r, "/bin/ls"), 0);
	assert_true(facts.native && facts.dynamic);
	assert_non_null(strstr(facts.interpreter, "ld-linux"));
	assert_string_equal(facts.needed + facts.needed_bytes - 10, "libc.so.6");
	pid = inmate();
	status_of(pid, "CapEff", value);
	assert_string_equal(value, "0000000000000000\n");
	status_of(pid, "NoNewPrivs", value);
	assert_string_equal(value, "1\n");
	status_of(pid, "Seccomp", value);
	if (value[0]) /* a kernel with filters */
		assert_string_equal(value, "2\n");
	status_of(pid, "Uid", value);
	if (geteuid() == 0)
		assert_int_not_equal(strtoul(value, NULL, 10), 0);
	/* the same process reads the next file; if it dies, there is no other */
	assert_int_equal(read_path(r, "/bin/cat"), 0);
	assert_int_equal(inmate(), pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(read_path(r, "/bin/cat"), -EBADMSG);
	assert_int_equal(read_path(r, "/bin/cat"), -EBADMSG);
	elf_reader_free(r);
}

TEST(a_file_leads_only_to_files_of_its_owner)
{
	struct elf_reader *r = elf_reader_new();
	struct elf_file file = {.path = "/bin/ls", .is_chosen = true, .chooser = 0};
	uid_t owner = 77;

	assert_int_equal(elf_reader_read(r, &file, &facts, &owner), 0);
	assert_int_equal(owner, 0);
	file.chooser = 4000000000;
	assert_int_equal(elf_reader_read(r, &file, &facts, &owner), -EPERM);
	elf_reader_free(r);
}

TEST(files_of_other_kinds_are_refused)
{
	struct elf_reader *r = elf_reader_new();

	assert_int_equal(read_path(r, "/etc/passwd"), -ENOEXEC);
	assert_int_equal(read_path(r, "/bin/ls/x"), -ENOTDIR);
	assert_int_equal(read_path(r, "/dev/null"), -EINVAL);
	assert_int_equal(read_path(r, "/"), -EISDIR);
	elf_reader_free(r);
}

/* ---- headers that lie, parsed here so that the sanitizers see it ---- */

struct image {
	Elf64_Ehdr e;
	Elf64_Phdr p[3];
	Elf64_Dyn d[4];
	Elf64_Shdr s[3];
	Elf64_Sym y[2];
	char strings[64];
};

static struct image good_image(void)
{
	struct image i = {
	    .e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	        .e_type = ET_DYN,
#if defined(__aarch64__)
	        .e_machine = EM_AARCH64,
#else
	        .e_machine = EM_X86_64,
#endif
	        .e_version = EV_CURRENT,
	        .e_phoff = offsetof(struct image, p),
	        .e_shoff = offsetof(struct image, s),
	        .e_phentsize = sizeof(Elf64_Phdr),
	        .e_phnum = 3,
	        .e_shentsize = sizeof(Elf64_Shdr),
	        .e_shnum = 3}};
	const char strings[] = "\0libneeded.so\0malloc\0soname";

	memcpy(i.strings, strings, sizeof(strings));
	i.p[0] = (Elf64_Phdr){
	    .p_type = PT_LOAD, .p_filesz = sizeof(i), .p_vaddr = 0x1000, .p_memsz = sizeof(i)};
	i.p[1] = (Elf64_Phdr){
	    .p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, d), .p_filesz = sizeof(i.d)};
	i.p[2] =
	    (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = offsetof(struct image, strings) + 21};
	i.d[0] = (Elf64_Dyn){DT_STRTAB, {0x1000 + offsetof(struct image, strings)}};
	i.d[1] = (Elf64_Dyn){DT_NEEDED, {1}};
	i.d[2] = (Elf64_Dyn){DT_SONAME, {21}};
	i.s[1] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
	    .sh_offset = offsetof(struct image, y),
	    .sh_size = sizeof(i.y),
	    .sh_entsize = sizeof(Elf64_Sym),
	    .sh_link = 2};
	i.s[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	    .sh_offset = offsetof(struct image, strings),
	    .sh_size = sizeof(i.strings)};
	i.y[1] = (Elf64_Sym){
	    .st_name = 14, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1};
	return i;
}

/* Bits of elf_defines(), or negative errno of elf_init(). */
static int parse(const struct image *i, size_t bytes, struct elf *e)
{
	int fd = memfd_create("elf", MFD_CLOEXEC), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, i, bytes), bytes);
	err = elf_init(e, fd);
	return err < 0 ? err : (int)elf_defines(e, elf_family, ELF_FAMILY, true);
}

TEST(headers_that_lie_are_refused_or_find_nothing)
{
	struct image i = good_image();
	struct elf e;

	assert_int_equal(parse(&i, sizeof(i), &e), 1);
	assert_int_equal(e.needed_count, 1);
	assert_string_equal(e.needed[0], "libneeded.so");
	assert_string_equal(e.soname, "soname");
	elf_release(&e);
	for (size_t n = 0; n < sizeof(i); n++)
		if (parse(&i, n, &e) >= 0)
			elf_release(&e);

#define LIE(field, value, want) \
	do { \
		i = good_image(); \
		i.field = (value); \
		assert_int_equal(parse(&i, sizeof(i), &e), (want)); \
		if ((want) >= 0) \
			elf_release(&e); \
	} while (0)
	LIE(e.e_phnum, 0xffff, -EBADMSG);
	LIE(e.e_phoff, UINT64_MAX, -EBADMSG);
	LIE(e.e_phoff, UINT64_MAX - sizeof(Elf64_Phdr), -EBADMSG);
	LIE(e.e_phentsize, 1, -EBADMSG);
	LIE(e.e_shentsize, 1, 0);
	LIE(e.e_shoff, UINT64_MAX, 0);
	LIE(e.e_shoff, UINT64_MAX - 64, 0);
	LIE(e.e_shnum, 0xffff, 1);
	LIE(p[0].p_offset, UINT64_MAX, -EBADMSG);
	LIE(p[0].p_filesz, 0, -EBADMSG);
	LIE(p[0].p_vaddr, UINT64_MAX, -EBADMSG);
	LIE(p[1].p_offset, UINT64_MAX, -EBADMSG);
	LIE(p[1].p_filesz, UINT64_MAX, -EBADMSG);
	LIE(p[1].p_filesz, 0, -EBADMSG);
	LIE(p[2].p_offset, UINT64_MAX, 1);
	LIE(d[0].d_un.d_val, UINT64_MAX, -EBADMSG);
	LIE(d[1].d_un.d_val, UINT64_MAX, 1);
	LIE(d[1].d_un.d_val, UINT64_MAX - sizeof(i), 1);
	LIE(s[1].sh_offset, UINT64_MAX, 0);
	LIE(s[1].sh_size, UINT64_MAX, 0);
	LIE(s[1].sh_entsize, 0, 0);
	LIE(s[1].sh_link, UINT32_MAX, 0);
	LIE(s[2].sh_offset, UINT64_MAX, 0);
	LIE(s[2].sh_size, UINT64_MAX, 0);
	LIE(s[2].sh_size, (uint64_t)256 << 20, 0);
	LIE(y[1].st_name, UINT32_MAX, 0);
	LIE(y[1].st_name, sizeof(i.strings) - 1, 0);
	LIE(y[1].st_shndx, SHN_UNDEF, 0);
#undef LIE
}

TEST(a_large_sparse_file_is_read_in_bounded_time)
{
	struct image i = good_image();
	int fd = memfd_create("elf", MFD_CLOEXEC);
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct elf e;

	/* 8 million symbols, each of which names a hole */
	i.s[1].sh_offset = 1 << 20;
	i.s[1].sh_size = (uint64_t)8 << 20;
	i.s[1].sh_size *= sizeof(Elf64_Sym);
	assert_int_equal(write(fd, &i, sizeof(i)), sizeof(i));
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	assert_int_equal(elf_init(&e, fd), 0);
	assert_int_equal(elf_defines(&e, elf_family, ELF_FAMILY, true), 0);
	elf_release(&e);
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin < 30000000000);
}
