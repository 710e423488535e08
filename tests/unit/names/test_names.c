/* test_names.c - promises of names/. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <link.h>

#include "test.h"
#include "names/find/demangle.h"
#include "names/find/names.h"
#include "names/dwarf/objfile.h"
#include "names/dwarf/lookup.h"
#include "names/find/wire.h"

enum { MODULE = 1 };

/* This program as one that was watched. */
struct self {
	struct process_module modules[MODULE + 1];
	struct process process;
	char path[4096];
};

static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first one is the program */
}

static void self_init(struct self *s)
{
	struct objfile f;
	const uint8_t *id;
	ssize_t n;

	memset(s, 0, sizeof(*s));
	n = readlink("/proc/self/exe", s->path, sizeof(s->path) - 1);
	assert_true(n > 0);
	assert_int_equal(objfile_open(open(s->path, O_RDONLY), s->path, &f), 0);
	s->modules[MODULE].build_id_bytes = (uint8_t)objfile_build_id(&f, &id);
	assert_true(s->modules[MODULE].build_id_bytes > 0);
	memcpy(s->modules[MODULE].build_id, id, s->modules[MODULE].build_id_bytes);
	objfile_close(&f);
	(void)dl_iterate_phdr(take_base, &s->modules[MODULE].base);
	s->modules[MODULE].end = UINT64_MAX;
	s->modules[MODULE].path = s->path;
	s->process.modules = s->modules;
	s->process.module_count = MODULE + 1;
}

static uint64_t frame_of(const void *pc)
{
	return (uint64_t)MODULE << 48 | (uint64_t)(uintptr_t)pc;
}

static const struct names_options plain = {.no_cache = true};

static __attribute__((noinline)) void *my_address(void)
{
	return __builtin_return_address(0);
}

static inline __attribute__((always_inline)) void *inner_function(void)
{
	return my_address();
}

static __attribute__((noinline)) void *outer_function(int *line)
{
	void *pc;

	*line = __LINE__ + 1;
	pc = inner_function();
	__asm__ volatile("" : "+r"(pc)); /* no tail call */
	return pc;
}

TEST(inlined_functions_are_told_with_their_lines)
{
	const struct names_frame *chain;
	struct names *names;
	struct self self;
	int line;
	void *pc = outer_function(&line);

	self_init(&self);
	assert_int_equal(names_new(&plain, &names), 0);
	assert_int_equal(names_chain(names, &self.process, frame_of(pc), &chain), 2);
	assert_string_equal(chain[0].function, "inner_function");
	assert_true(chain[0].inlined);
	assert_non_null(strstr(chain[0].file, "test_names.c"));
	assert_string_equal(chain[1].function, "outer_function");
	assert_false(chain[1].inlined);
	assert_int_equal(chain[1].line, line);
	names_free(names);
}

TEST(return_addresses_are_of_the_call_before)
{
	const struct names_frame *chain;
	uint64_t first = frame_of((void *)(uintptr_t)outer_function);
	struct names *names;
	struct self self;

	self_init(&self);
	assert_int_equal(names_new(&plain, &names), 0);
	/* the interrupted instruction itself, below a signal frame */
	(void)names_chain(names, &self.process, first | SEG_FRAME_EXACT, &chain);
	assert_string_equal(chain[0].function, "outer_function");
	/* a call that never returns may be the last instruction before it */
	(void)names_chain(names, &self.process, first, &chain);
	assert_true(!chain[0].function || strcmp(chain[0].function, "outer_function") != 0);
	names_free(names);
}

TEST(another_build_id_gives_no_names)
{
	const struct names_frame *chain;
	char *const *notes;
	struct names *names;
	struct self self;

	self_init(&self);
	self.modules[MODULE].build_id[0] ^= 1;
	assert_int_equal(names_new(&plain, &names), 0);
	assert_int_equal(
	    names_chain(names, &self.process, frame_of((void *)(uintptr_t)outer_function), &chain),
	    1);
	assert_null(chain[0].function);
	assert_null(chain[0].file);
	assert_int_equal(names_notes(names, &notes), 1);
	assert_non_null(strstr(notes[0], "but the one that ran had"));
	names_free(names);
}

TEST(no_symbols_means_none)
{
	const struct names_options o = {.no_symbols = true};
	const struct names_frame *chain;
	char *const *notes;
	struct names *names;
	struct self self;

	self_init(&self);
	assert_int_equal(names_new(&o, &names), 0);
	assert_int_equal(
	    names_chain(names, &self.process, frame_of((void *)(uintptr_t)outer_function), &chain),
	    1);
	assert_null(chain[0].function);
	assert_int_equal(names_notes(names, &notes), 0);
	names_free(names);
}

TEST(odd_frames_have_no_names_and_do_no_harm)
{
	const uint64_t frames[] = {
	    0, UINT64_MAX, 1, frame_of(NULL), UINT64_C(2) << 48 | 5, SEG_FRAME_EXACT};
	const struct names_frame *chain;
	struct names *names;
	struct self self;

	self_init(&self);
	assert_int_equal(names_new(&plain, &names), 0);
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		assert_int_equal(names_chain(names, &self.process, frames[i], &chain), 1);
		assert_null(chain[0].function);
	}
	names_free(names);
}

TEST(symbols_read_as_written)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
	    {"main", "main"},
	    {"_init", "_init"},
	    {"_DYNAMIC", "_DYNAMIC"},
	    {"malloc@@GLIBC_2.2.5", "malloc"},
	    {"parse.constprop.0", "parse"},
	    {"parse.part.0.cold", "parse"},
	    {"_ZN3foo3barEi", "foo::bar(int)"},
	    {"_ZN3foo3barEi.constprop.0", "foo::bar(int)"},
	    {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	    {"_RNvC6_123foo3bar", "123foo::bar"},
	    {"_D3std5stdio4File5closeMFZv", "std.stdio.File.close()"},
	    {"_Znot_mangled", "_Znot_mangled"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = demangle_name(cases[i].symbol);

		assert_string_equal(name, cases[i].name);
		free(name);
	}
	assert_int_equal(demangle_operator_new("_Znwm"), SEG_API_NEW);
	assert_int_equal(demangle_operator_new("_Znwm@@GLIBCXX_3.4"), SEG_API_NEW);
	assert_int_equal(demangle_operator_new("_Znwm.cold"), SEG_API_NEW);
	assert_int_equal(demangle_operator_new("_ZnamRKSt9nothrow_t"), SEG_API_NEW_ARRAY);
	assert_int_equal(demangle_operator_new("_ZnwmSt11align_val_tRKSt9nothrow_t"), SEG_API_NEW);
	/* placement and class operators are code like any other */
	assert_int_equal(demangle_operator_new("_ZnwmPv"), 0);
	assert_int_equal(demangle_operator_new("_ZN3foonwEm"), 0);
	assert_int_equal(demangle_operator_new("malloc"), 0);
}

/* Each pair names all before it twice: 2^40 names, or a stack of 100,000. */
TEST(hostile_symbols_stay_short)
{
	char symbol[16384] = "_Z1fI";
	char *name;

	strcat(symbol, "1A");
	for (int i = 0; i < 40; i++) {
		char part[32];

		(void)snprintf(part, sizeof(part), "IS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10,
		    i < 10 ? '0' + i : 'A' + i - 10);
		strcat(symbol, part);
	}
	strcat(symbol, "EvT_");
	name = demangle_name(symbol);
	assert_non_null(name);
	assert_true(strlen(name) <= 65536);
	free(name);
	memset(symbol, 'P', sizeof(symbol) - 1);
	memcpy(symbol, "_Z1f", 4);
	symbol[sizeof(symbol) - 1] = '\0';
	name = demangle_name(symbol);
	assert_non_null(name);
	free(name);
}

/* ---- what goes over the wire ---- */

static const struct name_table_key key = {
    .kind = TABLE_MODULE, .id = {1, 2, 3}, .id_bytes = 20, .path = "/bin/x"};

static const struct names_frame two[] = {
    {.function = "f(int)", .symbol = "_Z1fi", .file = "/a.c", .line = 3, .inlined = true},
    {.function = "main", .symbol = "main", .file = "/a.c", .line = 99},
};

static void put_two(struct wire_out *out)
{
	static const struct names_frame none;
	const struct name_table_state fine = {.level = TABLE_DEBUG};
	uint32_t chain;

	wire_put_object(out, &key, &fine);
	chain = wire_put_chain(out, two, 2);
	wire_put_place(out, 0x1000, chain);
	wire_put_place(out, 0x10, chain); /* in any order */
	wire_put_place(out, UINT64_MAX, wire_put_chain(out, &none, 1));
	wire_put_done(out);
	assert_false(wire_failed(out));
}

static void check_two(struct table *t, uint64_t address)
{
	const struct names_frame *chain;
	uint32_t object;

	assert_true(name_table_has(t, &key, &object));
	assert_int_equal(name_table_state(t, object)->level, TABLE_DEBUG);
	assert_int_equal(name_table_find(t, object, address, &chain), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(chain[i].function, two[i].function);
		assert_string_equal(chain[i].symbol, two[i].symbol);
		assert_string_equal(chain[i].file, two[i].file);
		assert_int_equal(chain[i].line, two[i].line);
		assert_int_equal(chain[i].inlined, two[i].inlined);
	}
}

TEST(names_come_back_as_they_were_written)
{
	struct wire_out out = {0}, again = {0};
	struct wire_in in = {0};
	const struct names_frame *chain;
	struct table_row *rows;
	struct table *t;
	uint32_t object;
	size_t used;

	put_two(&out);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(name_table_new(&t), 0);
		in.table = t;
		assert_int_equal(wire_get(&in, out.out.bytes, out.out.len, &used), 0);
		assert_int_equal(used, out.out.len);
		assert_int_equal(in.done, round == 0);
		check_two(t, 0x1000);
		check_two(t, 0x10);
		assert_true(name_table_has(t, &key, &object));
		assert_int_equal(name_table_find(t, object, UINT64_MAX, &chain), 1);
		assert_null(chain[0].function);
		assert_int_equal(name_table_find(t, object, 0x11, &chain), 0);
		/* and once more from the table itself */
		assert_int_equal(name_table_places(t, TABLE_ALL, &rows, &used), 0);
		assert_int_equal(used, 3);
		wire_put_rows(&again, t, rows, used);
		free(rows);
		wire_release(&out);
		out = again;
		again = (struct wire_out){0};
		wire_get_release(&in);
		name_table_free(t);
	}
	wire_release(&out);
}

TEST(half_an_item_waits_for_the_rest)
{
	struct wire_out out = {0};
	struct wire_in in = {0};
	size_t at = 0, used;

	put_two(&out);
	assert_int_equal(name_table_new(&in.table), 0);
	for (size_t end = 1; end <= out.out.len; end++) {
		assert_int_equal(wire_get(&in, out.out.bytes + at, end - at, &used), 0);
		at += used;
	}
	assert_int_equal(at, out.out.len);
	assert_true(in.done);
	check_two(in.table, 0x1000);
	name_table_free(in.table);
	wire_get_release(&in);
	wire_release(&out);
}

TEST(other_objects_than_the_one_asked_for_are_refused)
{
	struct name_table_key other = key;
	struct wire_out out = {0};
	struct wire_in in = {.only = &other};
	size_t used;

	other.id[0] ^= 1;
	put_two(&out);
	assert_int_equal(name_table_new(&in.table), 0);
	assert_int_equal(wire_get(&in, out.out.bytes, out.out.len, &used), -EBADMSG);
	assert_int_equal(name_table_objects(in.table), 0);
	name_table_free(in.table);
	wire_get_release(&in);
	wire_release(&out);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

TEST(damaged_names_are_an_error_or_names)
{
	struct wire_out out = {0};
	uint64_t x = 88172645463325252;

	put_two(&out);
	for (int i = 0; i < 20000; i++) {
		struct wire_in in = {0};
		size_t at = next_random(&x) % out.out.len, used;
		uint8_t was = out.out.bytes[at];

		out.out.bytes[at] = (uint8_t)next_random(&x);
		assert_int_equal(name_table_new(&in.table), 0);
		(void)wire_get(
		    &in, out.out.bytes, i % 2 ? out.out.len : next_random(&x) % out.out.len, &used);
		assert_true(used <= out.out.len);
		name_table_free(in.table);
		wire_get_release(&in);
		out.out.bytes[at] = was;
	}
	wire_release(&out);
}

/* ---- the cache ---- */

static void remove_tree(const char *path)
{
	char command[4200];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", path);
	assert_int_equal(system(command), 0);
}

static void resolve_self(struct self *self, const struct names_options *o, bool *ret_known)
{
	const struct names_frame *chain;
	struct names *names;

	assert_int_equal(names_new(o, &names), 0);
	*ret_known = names_chain(names, &self->process,
	                 frame_of((void *)(uintptr_t)outer_function) + 1, &chain) > 0 &&
	    chain[0].function && chain[0].file && strcmp(chain[0].function, "outer_function") == 0;
	names_free(names);
}

TEST(names_stay_when_the_file_is_gone_but_cached)
{
	static const struct names_options cached = {0};
	char dir[] = "/tmp/seep-test.XXXXXX", path[128], command[300];
	struct self self;
	struct stat st;
	bool known;

	assert_non_null(mkdtemp(dir));
	setenv("XDG_CACHE_HOME", dir, 1);
	self_init(&self);
	resolve_self(&self, &cached, &known);
	assert_true(known);
	(void)snprintf(path, sizeof(path), "%s/seep", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	strcpy(self.path, "/proc/none/file");
	resolve_self(&self, &cached, &known);
	assert_true(known);
	resolve_self(&self, &plain, &known);
	assert_false(known);
	/* another file under that name: no names, though they are known */
	strcpy(self.path, "/bin/sh");
	resolve_self(&self, &cached, &known);
	assert_false(known);
	strcpy(self.path, "/proc/none/file");
	/* damaged: deleted, and found anew */
	(void)snprintf(command, sizeof(command),
	    "for f in %s/seep/*.names; do printf xyz | dd of=$f bs=1 seek=120 "
	    "conv=notrunc 2>/dev/null; done",
	    dir);
	assert_int_equal(system(command), 0);
	resolve_self(&self, &cached, &known);
	assert_false(known);
	self_init(&self);
	resolve_self(&self, &cached, &known);
	assert_true(known);
	/* others may write there: not used */
	assert_int_equal(chmod(path, 0777), 0);
	strcpy(self.path, "/proc/none/file");
	resolve_self(&self, &cached, &known);
	assert_false(known);
	unsetenv("XDG_CACHE_HOME");
	remove_tree(dir);
}

/* ---- maps of run-time compilers ---- */

TEST(jit_frames_are_named_by_the_perf_map)
{
	char path[64];
	const struct names_frame *chain;
	struct process p = {.header = {.pid = (uint32_t)getpid()}};
	struct names *names;
	char *const *notes;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	(void)unlink(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("7f0000001000 20 old\nnonsense\n7f0000001000 10 LFoo;::bar\n"
	      "ffffffffffffffff ffffffffffffffff wraps\n7f0000002000 10 x",
	    f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(names_new(&plain, &names), 0);
	(void)names_chain(names, &p, 0x7f0000001010, &chain);
	assert_string_equal(chain[0].function, "Foo.bar");
	assert_string_equal(chain[0].symbol, "LFoo;::bar");
	(void)names_chain(names, &p, 0x7f0000001011, &chain);
	assert_string_equal(chain[0].function, "old");
	(void)names_chain(names, &p, 0x7f0000002001, &chain);
	assert_string_equal(chain[0].function, "x");
	(void)names_chain(names, &p, 0x7f0000003000, &chain);
	assert_null(chain[0].function);
	assert_int_equal(names_notes(names, &notes), 2);
	assert_string_equal(notes[0], "a /tmp/perf-PID.map has 1 malformed line, skipped");
	names_free(names);
	/* of an earlier process with this pid */
	p.header.start_realtime_ns = UINT64_C(1) << 62;
	assert_int_equal(names_new(&plain, &names), 0);
	(void)names_chain(names, &p, 0x7f0000001010, &chain);
	assert_null(chain[0].function);
	names_free(names);
	/* a link may lead anywhere */
	p.header.start_realtime_ns = 0;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(names_new(&plain, &names), 0);
	(void)names_chain(names, &p, 0x7f0000001010, &chain);
	assert_null(chain[0].function);
	names_free(names);
	(void)unlink(path);
}

/* ---- hostile files ---- */

/*
 * Our own program with bytes changed: an answer or none, and the process that
 * asked lives.
 */
TEST(damaged_files_are_survived)
{
	char path[] = "/tmp/seep-test.XXXXXX";
	int in = open("/proc/self/exe", O_RDONLY), fd = mkstemp(path);
	off_t size = lseek(in, 0, SEEK_END);
	uint8_t *bytes = malloc((size_t)size);
	struct names_options o = {.no_cache = true, .seconds = 10};
	uint64_t x = 88172645463325252;
	struct self self;
	bool known;

	assert_true(fd >= 0);
	assert_int_equal(pread(in, bytes, (size_t)size, 0), size);
	close(in);
	assert_int_equal(write(fd, bytes, (size_t)size), size);
	self_init(&self);
	strcpy(self.path, path);
	self.modules[MODULE].build_id_bytes = 0; /* take it as it is */
	resolve_self(&self, &o, &known);
	assert_true(known);
	for (int i = 0; i < 40; i++) {
		uint64_t v[64];
		off_t at;

		for (size_t k = 0; k < 64; k++)
			v[k] = next_random(&x);
		/* headers, section headers at the end, DWARF in between */
		at = (off_t)(x % (uint64_t)(size - (off_t)sizeof(v)));
		if (i % 4 == 0)
			at = 16 + (off_t)(x % 48);
		if (i % 4 == 1)
			at = size - 8 - (off_t)(x % 4096);
		assert_true(pwrite(fd, v, i % 4 > 1 ? sizeof(v) : 4, at) > 0);
		resolve_self(&self, &o, &known);
		assert_true(
		    pwrite(fd, bytes + at,
		        (size_t)(size - at < (off_t)sizeof(v) ? size - at : (off_t)sizeof(v)),
		        at) > 0);
		assert_int_equal(ftruncate(fd, size), 0);
	}
	for (off_t n = size; n > 0; n /= 3) {
		assert_int_equal(ftruncate(fd, n), 0);
		resolve_self(&self, &o, &known);
	}
	close(fd);
	unlink(path);
	free(bytes);
}

TEST(devices_and_pipes_are_no_modules)
{
	static const char *const paths[] = {
	    "/dev/zero", "/dev/tty", "/proc/self/status", "/", "/dev/null"};
	char fifo[] = "/tmp/seep-test.XXXXXX", path[64];
	struct self self;
	bool known;

	self_init(&self);
	self.modules[MODULE].build_id_bytes = 0;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		strcpy(self.path, paths[i]);
		resolve_self(&self, &plain, &known);
		assert_false(known);
	}
	assert_non_null(mkdtemp(fifo));
	(void)snprintf(path, sizeof(path), "%s/fifo", fifo);
	assert_int_equal(mkfifo(path, 0600), 0);
	strcpy(self.path, path);
	resolve_self(&self, &plain, &known);
	assert_false(known);
	remove_tree(fifo);
}
