/* test_export.c - promises of export/: plans, bytes on the wire, bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>
#include <zlib.h>

#include "test.h"
#include "../lib/mkseg.h"
#include "print/export/export.h"
#include "print/export/export_forms.h"
#include "session/load/session.h"
#include "names/find/names.h"

/* ---- heaptrack's plan ---- */

static bool is_group(const struct heaptrack_group *g)
{
	return g->blocks > 0 || g->bytes == 0;
}

/* The plan comes to the figures, all of them or all but the allocations. */
static void assert_plan(const struct process_figures *f, bool whole)
{
	struct heaptrack_plan p;

	heaptrack_plan(f, &p);
	assert_true(
	    is_group(&p.both) && is_group(&p.peak) && is_group(&p.end) && is_group(&p.neither));
	assert_int_equal(p.both.blocks + p.peak.blocks, f->peak_blocks);
	assert_int_equal(p.both.bytes + p.peak.bytes, f->peak_bytes);
	assert_int_equal(p.both.blocks + p.end.blocks, f->live_blocks);
	assert_int_equal(p.both.bytes + p.end.bytes, f->live_bytes);
	if (!whole)
		return;
	assert_int_equal(
	    p.both.blocks + p.peak.blocks + p.end.blocks + p.neither.blocks, f->allocations);
	assert_int_equal(
	    p.both.bytes + p.peak.bytes + p.end.bytes + p.neither.bytes, f->allocated_bytes);
}

/* Any life of blocks: so many in each group, with these sizes. */
TEST(every_life_of_blocks_has_a_plan)
{
	for (unsigned n = 0; n < 4 * 4 * 4 * 4 * 4; n++) {
		uint64_t both = n % 4, peak = n / 4 % 4, end = n / 16 % 4;
		uint64_t neither = n / 64 % 4, size = n / 256 * 7;
		/* sizes differ between the groups, or are all 0 */
		struct process_figures f = {
		    .allocations = both + peak + end + neither,
		    .allocated_bytes =
		        both * size + peak * size * 3 + end * size * 5 + neither * size * 2,
		    .peak_blocks = both + peak,
		    .peak_bytes = both * size + peak * size * 3,
		    .live_blocks = both + end,
		    .live_bytes = both * size + end * size * 5,
		};

		assert_plan(&f, true);
	}
}

TEST(figures_that_disagree_keep_peak_and_end)
{
	static const struct process_figures bad[] = {
	    {.allocations = 1,
	        .allocated_bytes = 5,
	        .peak_blocks = 1,
	        .peak_bytes = 5,
	        .live_blocks = 1,
	        .live_bytes = 7},
	    {.peak_blocks = 10, .peak_bytes = 100},
	    {.allocations = 3,
	        .allocated_bytes = 30,
	        .peak_blocks = 9,
	        .peak_bytes = 9,
	        .live_blocks = 8,
	        .live_bytes = 90},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_plan(&bad[i], false);
}

/* ---- protocol buffers ---- */

TEST(fields_are_written_as_the_format_says)
{
	static const uint8_t expected[] = {
	    0x08, 0x96, 0x01,                                                 /* 1: 150 */
	    0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 2: -1 */
	    0x1a, 0x03, 0x00, 0xac, 0x02,                                     /* 3: packed 0, 300 */
	    0x22, 0x02, 'h', 'i',                                             /* 4: text */
	};
	struct proto m = {0}, inner = {0};

	pprof_proto_uint(&m, 1, 150);
	pprof_proto_uint(&m, 9, 0); /* left out */
	pprof_proto_int(&m, 2, -1);
	pprof_proto_packed(&inner, 0);
	pprof_proto_packed(&inner, 300);
	pprof_proto_message(&m, 3, &inner);
	pprof_proto_bytes(&m, 4, "hi", 2);
	assert_false(m.failed);
	assert_int_equal(inner.len, 0);
	assert_int_equal(m.len, sizeof(expected));
	assert_memory_equal(m.bytes, expected, sizeof(expected));
	free(m.bytes);
	free(inner.bytes);
}

/* More than a buffer, in pieces larger and smaller than it. */
TEST(streams_come_back_whole)
{
	enum { BYTES = 300000 };
	char path[] = "/tmp/seep-test.XXXXXX";
	int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");
	uint8_t *back = malloc(BYTES + 1);
	struct pprof_proto_stream *s;
	struct proto m = {0};
	gzFile in;

	assert_non_null(out);
	assert_non_null(back);
	assert_int_equal(pprof_proto_stream_new(out, &s), 0);
	for (unsigned i = 0; i < BYTES; i++) {
		pprof_proto_packed(&m, i * 7919 % 128);
		if (i == 5 || i == 200000)
			pprof_proto_stream_put(s, &m);
	}
	pprof_proto_stream_put(s, &m);
	assert_int_equal(pprof_proto_stream_end(s, 0), 0);
	assert_int_equal(fclose(out), 0);
	in = gzopen(path, "r");
	assert_non_null(in);
	assert_int_equal(gzread(in, back, BYTES + 1), BYTES);
	for (unsigned i = 0; i < BYTES; i++)
		assert_int_equal(back[i], i * 7919 % 128);
	assert_int_equal(gzclose(in), Z_OK);
	unlink(path);
	free(back);
	free(m.bytes);
}

/* ---- all formats ---- */

extern const char __ehdr_start[], etext[];

/* Frames are addresses of our own code, `step` apart. */
static uint64_t frame_at(unsigned n)
{
	uint64_t from = (uint64_t)(uintptr_t)__ehdr_start + 0x4000;
	uint64_t room = (uint64_t)(uintptr_t)etext - from;

	return MKSEG_FRAME(1, from + (uint64_t)n * 61 % room);
}

enum { LEVELS = 14, FRAMES = 20000 }; /* and the six innermost */

static unsigned next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Blocks of one size, and what the destructor says of those that live. */
static void book(struct mkseg *m, uint32_t id, uint64_t blocks, uint64_t size, uint64_t frees)
{
	struct seg_live *live;

	mkseg_book(m, 0, id, blocks, size, frees);
	if (blocks == frees)
		return;
	live = mkseg_live(m, id);
	live->blocks = blocks - frees;
	live->bytes = live->blocks * size;
	live->young = (uint32_t)live->blocks;
	live->size_min = live->size_max = size;
	live->sizes[seg_size_class(size)] = live->young;
}

/* Sites of random stacks that share their outer halves. */
static void write_segment(const char *path, unsigned sites)
{
	struct mkseg *m = mkseg_new_rows(sites * 2 + MKSEG_ROWS);
	unsigned per_level = sites / 64 + 1;
	uint32_t seed = 1;
	size_t len;
	void *bytes;
	FILE *out;

	assert_int_equal(mkseg_module(m, "/proc/self/exe", (uint64_t)(uintptr_t)__ehdr_start), 1);
	/* a level of the trie after the other, each of them per_level wide */
	for (unsigned i = 0; i < LEVELS * per_level; i++)
		(void)mkseg_node(m, frame_at(next_random(&seed) % FRAMES),
		    i < per_level
		        ? 0
		        : 1 + (i / per_level - 1) * per_level + next_random(&seed) % per_level,
		    0);
	for (unsigned i = 1; i <= sites; i++) {
		uint64_t frames[SEG_INNER_FRAMES];
		uint64_t blocks = 1 + next_random(&seed) % 9;

		for (int k = 0; k < SEG_INNER_FRAMES; k++)
			frames[k] = frame_at(next_random(&seed) % FRAMES);
		*mkseg_site(m, i) = (struct seg_site){
		    .node = 1 + (LEVELS - 1) * per_level + next_random(&seed) % per_level,
		    .inner = mkseg_inner(m, frames, SEG_INNER_FRAMES, 0),
		    .kind = SEG_SITE_HEAP,
		    .api = SEG_API_MALLOC,
		};
		book(m, i, blocks, 16 + next_random(&seed) % 5000,
		    next_random(&seed) % (blocks + 1));
	}
	bytes = mkseg_finish(m, &len);
	mkseg_free(m);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	free(bytes);
}

/* In a process of its own: what it takes is no matter of exports. */
static void write_elsewhere(const char *path, unsigned sites)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		write_segment(path, sites);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct fixture {
	char path[32];
	struct session *session;
	struct names *names;
};

static void load(struct fixture *f, unsigned sites)
{
	strcpy(f->path, "/tmp/seep-test.XXXXXX");
	assert_int_equal(close(mkstemp(f->path)), 0);
	write_elsewhere(f->path, sites);
	assert_int_equal(session_load(f->path, &f->session, NULL), 0);
	assert_int_equal(names_new(NULL, &f->names), 0);
}

static void leave(struct fixture *f)
{
	unlink(f->path);
	names_free(f->names);
	session_free(f->session);
}

/* What the command makes of a format's flags. */
static void choose_options(const struct export_format *format, struct view_options *ret)
{
	*ret = (struct view_options){.metric = VIEW_ALL,
	    .group = format->flags & EXPORT_GROUPED,
	    .fold = format->flags & EXPORT_FOLDED,
	    .merge = format->flags & EXPORT_MERGED && format->flags & EXPORT_GROUPED};
}

static int write_to(
    const struct fixture *f, const struct export_format *format, const struct view *v, FILE *out)
{
	struct export_options options = {
	    .version = "0", .only = format->flags & EXPORT_ONE ? f->session->processes[0] : NULL};
	struct view_options o;
	int err;

	choose_options(format, &o);
	err = format->write ? format->write(out, v, &options)
	                    : format->write_session(out, f->session, f->names, &o, &options);
	return fflush(out) != 0 && err == 0 ? -EIO : err;
}

/* To this file; the result of the writer. */
static int export_to(const struct fixture *f, const struct export_format *format, const char *path)
{
	FILE *out = fopen(path, "w");
	struct view_options o;
	struct view *v;
	int err;

	assert_non_null(out);
	choose_options(format, &o);
	assert_int_equal(view_new(f->session, f->names, &o, &v), 0);
	err = write_to(f, format, v, out);
	view_free(v);
	(void)fclose(out);
	return err;
}

/* In a process of its own, so that its memory can be told. */
static void measure(const struct fixture *f, const struct export_format *format,
    const struct view *v, unsigned *ret_ms, unsigned *ret_mb)
{
	struct rusage usage;
	int status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		FILE *out = fopen("/dev/null", "w");

		_exit(out && write_to(f, format, v, out) == 0 ? 0 : 1);
	}
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	*ret_ms = (unsigned)(usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000 +
	    usage.ru_stime.tv_sec * 1000 + usage.ru_stime.tv_usec / 1000);
	*ret_mb = (unsigned)(usage.ru_maxrss / 1024);
}

/* Of CPU time; sanitizers take more of all. */
struct limits {
	unsigned sites, ms, mb;
};

static struct limits find_limits(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return (struct limits){.sites = 2000, .ms = 60000, .mb = 4000};
#else
	return (struct limits){.sites = 100000, .ms = 3000, .mb = 240};
#endif
}

/* The formats that want this view; true: all kept within the limits. */
static bool measure_all(const struct fixture *f, unsigned flags, const struct limits *limits)
{
	const struct export_format *const *formats;
	const unsigned of_view = EXPORT_GROUPED | EXPORT_FOLDED | EXPORT_MERGED;
	struct view *v = NULL;
	size_t count;
	bool good = true;

	formats = export_formats(&count);
	for (size_t i = 0; i < count; i++) {
		struct view_options o;
		unsigned ms, mb;

		if ((formats[i]->flags & of_view) != flags || formats[i]->flags & EXPORT_PACKED)
			continue;
		choose_options(formats[i], &o);
		if (!v)
			assert_int_equal(view_new(f->session, f->names, &o, &v), 0);
		measure(f, formats[i], v, &ms, &mb);
		print_message("# %-12s %5u ms %5u MB\n", formats[i]->name, ms, mb);
		good = good && ms <= limits->ms && mb <= limits->mb;
	}
	view_free(v);
	return good;
}

TEST(many_sites_take_bounded_time_and_memory)
{
	const struct limits limits = find_limits();
	struct fixture f;
	bool good = true;

	load(&f, limits.sites);
	for (unsigned flags = 0; flags < 8; flags++)
		good = measure_all(&f, flags, &limits) && good;
	leave(&f);
	assert_true(good);
}

/* How each format ends that is written to this file. */
static void assert_exports(unsigned sites, const char *path, int expected)
{
	const struct export_format *const *formats;
	struct fixture f;
	size_t count;

	load(&f, sites);
	formats = export_formats(&count);
	for (size_t i = 0; i < count; i++) {
		int err;

		if (formats[i]->flags & EXPORT_PACKED)
			continue; /* of files: tests/command/export */
		err = export_to(&f, formats[i], path);
		if (err != expected)
			fail_msg("%s to %s: %d", formats[i]->name, path, err);
	}
	leave(&f);
}

TEST(a_full_disk_is_told)
{
	assert_exports(300, "/dev/full", -EIO);
}

static ssize_t count_bytes(void *context, const char *bytes, size_t len)
{
	(void)bytes;
	*(size_t *)context += len;
	return (ssize_t)len;
}

/* More blocks at the peak than were ever allocated; found by fuzz_check. */
TEST(figures_that_cannot_be_do_not_become_endless_lines)
{
	const cookie_io_functions_t counting = {.write = count_bytes};
	const uint64_t frames[] = {MKSEG_FRAME(0, 0x1234)};
	const struct view_options options = {.metric = VIEW_ALL};
	const struct export_options how = {.version = "test"};
	struct mkseg *m = mkseg_new();
	struct session *s;
	struct names *names;
	struct view *v;
	struct seg_row *row;
	size_t len, written = 0;
	FILE *out = fopencookie(&written, "w", counting);
	void *bytes;

	row = mkseg_row(m, 0, mkseg_stack(m, frames, 1));
	*row = (struct seg_row){.allocations = 1,
	    .allocated_bytes = 100,
	    .snap_bytes = INT64_MAX,
	    .snap_blocks = INT64_MAX,
	    .epoch = (uint32_t)mkseg_header(m)->peak_epoch};
	bytes = mkseg_finish(m, &len);
	assert_int_equal(session_load_bytes(bytes, len, &s, NULL), 0);
	assert_int_equal(names_new(&(struct names_options){.no_symbols = true}, &names), 0);
	assert_int_equal(view_new(s, names, &options, &v), 0);
	assert_non_null(out);
	assert_int_equal(export_heaptrack.write(out, v, &how), 0);
	assert_int_equal(fclose(out), 0);
	assert_in_range(written, 1, 200 << 20);
	view_free(v);
	names_free(names);
	session_free(s);
	free(bytes);
	mkseg_free(m);
}

/* A process that never allocated is an answer, too. */
TEST(nothing_can_be_exported)
{
	assert_exports(0, "/dev/null", 0);
}
