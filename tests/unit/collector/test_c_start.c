/* test_c_start.c - config.h, place.h and snap.h: settings, files and snapshots as the constructor makes them, in a directory of our own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/mman.h>

#include "test.h"
#include "collector/segment/config.h"
#include "collector/process/start.h"
#include "collector/segment/kernel.h"
#include "collector/heap/ledger_hit.h"
#include "collector/snapshot/mark.h"
#include "collector/unwind/module.h"
#include "collector/segment/place.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/snapshot/snap.h"
#include "collector/snapshot/snapfile.h"
#include "collector/segment/tick.h"
#include "collector/event/user_pools.h"

enum { MIB = 1 << 20, TAKEN = 50 };

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/dev/shm/seep-unit.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	(void)state;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(dir);
}

static int files_in_dir(const char *end)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(e->d_name), tail = strlen(end);

		n += len > tail && !strcmp(e->d_name + len - tail, end);
	}
	if (d)
		closedir(d);
	return n;
}

/* Reads one variable as the constructor would. */
static void set(const char *name, const char *value)
{
	char *text = malloc(strlen(name) + strlen(value) + 2);
	char *envp[2] = {text, NULL};

	assert_non_null(text);
	strcpy(stpcpy(stpcpy(text, name), "="), value);
	config_read(envp); /* copies: the memory is gone at once */
	memset(text, 'X', strlen(text));
	free(text);
}

TEST(values_that_make_no_sense_are_ignored_and_counted)
{
	static const char *const numbers[] = {"SEEP_SAMPLE", "SEEP_BUDGET", "SEEP_DEPTH",
	    "SEEP_EVERY", "SEEP_SNAPSHOTS", "SEEP_SNAPSHOT_BYTES"};
	static const char *const values[] = {"x", "-1", "12q", "1e9", " 7",
	    "99999999999999999999999", "18446744073709551615KiB", "0x10", "\xff\xfe", "1.5M"};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
			set(numbers[i], values[k]);
			assert_true(config.sample <= INT64_MAX);
			assert_true(config.ignored >= 1 || config.sample || config.budget ||
			    config.depth || config.every_ns || config.every_bytes ||
			    config.snapshots);
		}
	set("SEEP_SIGNAL", "NOSUCH");
	assert_true(config.signal <= 0);
}

/* A setting that is taken for another value in silence may be a promise broken. */
TEST(every_setting_counts_what_it_does_not_understand)
{
	static const char *const wrong[][2] = {{"SEEP_PRIVATE", "yes"},
	    {"SEEP_CHILD_FILES", "true"}, {"SEEP_MAPPINGS", "on"}, {"SEEP_MODE", "Dormant"},
	    {"SEEP_SAMPLE", "0.5M"}, {"SEEP_SAMPLE", "512K!"}, {"SEEP_DEPTH", "abc"},
	    {"SEEP_BUDGET", "lots"}, {"SEEP_LEAKS", "2"}};
	static const char *const right[][2] = {{"SEEP_PRIVATE", "0"}, {"SEEP_CHILD_FILES", "1"},
	    {"SEEP_MAPPINGS", ""}, {"SEEP_MODE", "on"}, {"SEEP_SAMPLE", ""}, {"SEEP_DEPTH", "64"},
	    {"SEEP_BUDGET", "256K"}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t before = config.ignored;

		set(wrong[i][0], wrong[i][1]);
		if (config.ignored != before + 1)
			fail_msg("%s=%s", wrong[i][0], wrong[i][1]);
	}
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		uint64_t before = config.ignored;

		set(right[i][0], right[i][1]);
		if (config.ignored != before)
			fail_msg("%s=%s", right[i][0], right[i][1]);
	}
	set("SEEP_SAMPLE", "1G");
	assert_int_equal(config.sample, 1 << 30);
	set("SEEP_SAMPLE", "2m");
	assert_int_equal(config.sample, 2 << 20);
	set("SEEP_SAMPLE", "512KB");
	assert_int_equal(config.sample, 512000);
	set("SEEP_EVERY", "2m");
	assert_int_equal(config.every_ns, UINT64_C(120000000000));
}

TEST(long_values_do_not_run_over)
{
	char *text = malloc(MIB);

	assert_non_null(text);
	memset(text, 'a', MIB - 1);
	text[0] = '/';
	text[MIB - 1] = '\0';
	set("SEEP_DIR", text);
	assert_true(strnlen(config.dir, sizeof(config.dir)) < sizeof(config.dir));
	set("SEEP_SESSION", text);
	assert_true(strnlen(config.session, sizeof(config.session)) < sizeof(config.session));
	set("SEEP_SNAPSHOT_DIR", text);
	assert_true(strnlen(config.snapshot_dir, sizeof(config.snapshot_dir)) <
	    sizeof(config.snapshot_dir));
	set("SEEP_BUDGET", text);
	assert_int_equal(config.budget, 0);
	free(text);
}

static size_t tables(struct segment_table **ret)
{
	size_t n = ledger_tables(ret, 70);

	ret[n++] = &module_table;
	ret[n++] = &module_strings;
	ret[n++] = &sites_tables[0];
	ret[n++] = &sites_tables[1];
	ret[n++] = &sites_tables[2];
	ret[n++] = &mark_table;
	ret[n++] = &user_pools_tables[0];
	ret[n++] = &user_pools_tables[1];
	return n;
}

static int find_nothing(void *pc, void *ret)
{
	(void)pc;
	(void)ret;
	return -1;
}

/* From here on there is a segment in a file, with some blocks in it. */
TEST(a_segment_and_its_control_file_are_made_private)
{
	struct thread *t = calloc(1, sizeof(*t));
	uint64_t frame = 0x1234, bytes;
	struct segment_memory m;
	uint32_t site;

	umask(0);
	set("SEEP_DIR", dir);
	kernel_probe();
	assert_true(kernel.honest);
	config.budget = 16 * MIB;
	assert_true(place_create(PLACE_SLOTS_MAPPED, kernel.populate, NULL));
	assert_int_equal(files_in_dir(".seg"), 1);
	assert_int_equal(files_in_dir(".ctl"), 1);
	assert_int_equal(place.medium, SEG_MEDIUM_TMPFS);
	assert_true(
	    segment_init(&place.memory, place.segment_bytes, place.segment_bytes, kernel.populate));
	tick_start(true);
	describe_process(segment.header, NULL, "");
	assert_true(segment.header->pid == (uint32_t)getpid());
	assert_true(module_init((void *)(uintptr_t)find_nothing, "/bin/x") && sites_init(1) &&
	    ledger_init(1) && mark_init() && user_pools_init(1));
	if (place.slots.head) {
		assert_true(slots_map_one(&place.slots, 1000, &m, &bytes));
		assert_true(m.head && bytes >= 512 << 10);
	}
	assert_true(t && ledger_claim(t, 0));
	site = sites_get(SITES_NODE_ROOT, sites_inner(&frame, 1), SEG_API_MALLOC).v;
	for (int i = 0; i < 1000; i++)
		assert_true(ledger_alloc(t, site, 64));
	for (int i = 0; i < 400; i++)
		assert_true(ledger_free(t, site, 64));
	assert_int_equal(ledger_events(UINT64_MAX), 1400);
	assert_int_equal(ledger_events(0), 0); /* no time */
	STORE_RELEASE(&segment.header->magic, SEG_MAGIC);
	free(t);
}

TEST(a_snapshot_is_a_whole_file_or_none)
{
	struct seg_header h;
	char path[512] = "";
	DIR *d;
	struct dirent *e;
	struct stat st;
	int fd;

	snapfile_start();
	snap_start(2, tables);
	assert_int_equal(snap_take("one", SEG_SNAPSHOT_PROGRAM), 1);
	assert_int_equal(snap_take("two", SEG_SNAPSHOT_PROGRAM), 2);
	assert_int_equal(files_in_dir(".seep-snap"), 2);
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (strstr(e->d_name, ".seep-snap"))
			snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
	closedir(d);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(read(fd, &h, sizeof(h)), sizeof(h));
	assert_int_equal(h.magic, SEG_MAGIC);
	assert_int_equal(h.snapshot_reason, SEG_SNAPSHOT_PROGRAM);
	assert_true(h.dir_used > 0 && h.dir_used <= h.dir_capacity);
	close(fd);
}

/* Numbers of the snapshots that are left, as bits. */
static uint64_t numbers_left(void)
{
	DIR *d = opendir(dir);
	uint64_t bits = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *end = strstr(e->d_name, ".seep-snap");
		const char *dash = end;

		while (dash && dash > e->d_name && *dash != '-')
			dash--;
		if (dash)
			bits |= UINT64_C(1) << strtoul(dash + 1, NULL, 10);
	}
	closedir(d);
	return bits;
}

static void remove_snapshots(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -f '%s'/*.seep-snap", dir);
	assert_int_equal(system(command), 0);
}

TEST(the_first_and_the_newest_stay)
{
	static const struct {
		uint32_t most, taken;
		uint64_t left;
	} cases[] = {
	    {2, 3, 1 << 1 | 1 << 3},
	    {4, 4, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4},
	    {4, 5, 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5},
	    {4, 6, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6},
	    {4, 7, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7},
	    {4, 8, 1 << 1 | 1 << 5 | 1 << 7 | 1 << 8},
	    {4, 9, 1 << 1 | 1 << 5 | 1 << 7 | 1 << 9},
	    {4, 13, 1 << 1 | 1 << 5 | 1 << 9 | 1 << 13},
	    {4, 18, 1 << 1 | 1 << 9 | 1 << 17 | 1 << 18},
	};
	uint64_t before;

	config.snapshot_bytes = CONFIG_SNAPSHOT_BYTES;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		remove_snapshots();
		snap_start(cases[i].most, tables);
		before = segment.header->counts[SEG_SNAPSHOTS_THINNED];
		for (uint32_t k = 1; k <= cases[i].taken; k++)
			assert_int_equal(snap_take("x", SEG_SNAPSHOT_PROGRAM), k);
		assert_int_equal(numbers_left(), cases[i].left);
		assert_int_equal(segment.header->counts[SEG_SNAPSHOTS_THINNED] - before,
		    cases[i].taken - (uint32_t)__builtin_popcountll(cases[i].left));
	}
	/* there is no newest beside the first */
	snap_start(0, tables);
	assert_int_equal(snap_take("x", SEG_SNAPSHOT_PROGRAM), -EDQUOT);
	remove_snapshots();
	snap_start(1, tables);
	assert_int_equal(snap_take("x", SEG_SNAPSHOT_PROGRAM), 1);
	assert_int_equal(snap_take("x", SEG_SNAPSHOT_PROGRAM), -EDQUOT);
}

/* TSan does not see raw mmap and munmap hand memory from one to another. */
#ifdef __SANITIZE_THREAD__
enum { TAKERS = 1 };
#else
enum { TAKERS = 4 };
#endif

static void *take_many(void *arg)
{
	for (int i = 0; i < TAKEN; i++)
		if (snap_take("x", SEG_SNAPSHOT_PROGRAM) < 0)
			__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
	return NULL;
}

TEST(threads_thin_at_once)
{
	uint64_t before = segment.header->counts[SEG_SNAPSHOTS_THINNED];
	pthread_t threads[TAKERS];
	int failed = 0, left;

	remove_snapshots();
	snap_start(5, tables);
	for (int i = 0; i < TAKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_many, &failed), 0);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failed, 0);
	left = files_in_dir(".seep-snap");
	/* the thread that thins may have looked before the last ones had their names */
	assert_true(left >= 2 && left <= 5 + TAKERS - 1);
	assert_int_equal(
	    segment.header->counts[SEG_SNAPSHOTS_THINNED] - before, TAKERS * TAKEN - left);
	/* the next one, alone, finds the books in order */
	assert_int_equal(snap_take("x", SEG_SNAPSHOT_PROGRAM), TAKERS * TAKEN + 1);
	assert_true(files_in_dir(".seep-snap") <= 5);
	remove_snapshots();
}

TEST(names_of_snapshots_are_tame)
{
	static const struct {
		const char *pattern, *begin;
	} cases[] = {
	    {"a/../b\x01\x1b[31m", "a_.._b___31m-"},
	    {"..", "_.-"},
	    {"-rf", "_rf-"},
	    {".hidden", "_hidden-"},
	    {"100%%", "100_-"},
	    {"\xc3\xa4 \n", "____-"},
	    {"pid%p", "pid77-"},
	};
	char name[SNAPFILE_NAME_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set("SEEP_SNAPSHOT_NAME", cases[i].pattern);
		snapfile_name(name, 77, 3, true);
		assert_memory_equal(name, cases[i].begin, strlen(cases[i].begin));
		assert_null(strchr(name, '/'));
		assert_non_null(strstr(name, "-77-"));
		assert_non_null(strstr(name, "-3.seep-snap"));
	}
	/* as long as it gets: cut, and still a whole name */
	set("SEEP_SNAPSHOT_NAME", "%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h");
	snapfile_name(name, UINT32_MAX, UINT32_MAX, false);
	assert_non_null(strstr(name, "-4294967295.seep-snap.tmp"));
	/* not understood: the usual name */
	config.ignored = 0;
	set("SEEP_SNAPSHOT_NAME", "%q");
	set("SEEP_SNAPSHOT_NAME", "x%");
	assert_int_equal(config.ignored, 2);
	assert_int_equal(config.snapshot_name[0], 0);
}

TEST(a_directory_must_be_ours_alone)
{
	char file[128];
	int fd;

	snprintf(file, sizeof(file), "%s/file", dir);
	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_true(place_open_dir(file, &(struct stat){0}) < 0);
	assert_true(place_open_dir("/proc/none/at/all", &(struct stat){0}) < 0);
	chmod(dir, 0777);
	assert_true(place_open_dir(dir, &(struct stat){0}) < 0);
	chmod(dir, 0700);
}

TEST_GROUP(make_dir, remove_dir);
