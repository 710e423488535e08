/* test_limits.c - limits of memory: cgroups of both versions, made by hand; ulimits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>

#include "test.h"
#include "host/proc/procfs_group.h"

#define MIB UINT64_C(1048576)

static const char *const levels[] = {"", "/a", "/a/b"};
static const char *const files[] = {"memory.current", "memory.max", "memory.high", "memory.stat",
    "memory.usage_in_bytes", "memory.limit_in_bytes", "memory.use_hierarchy"};

static int make_tree(void **state)
{
	const char *tmp = getenv("TMPDIR");
	static char path[4096];

	(void)snprintf(
	    path, sizeof(path), "%s/seep-limits.XXXXXX", tmp && strlen(tmp) < 1000 ? tmp : "/tmp");
	*state = mkdtemp(path);
	for (size_t i = 1; *state && i < 3; i++) {
		char below[5000];

		(void)snprintf(below, sizeof(below), "%s%s", path, levels[i]);
		if (mkdir(below, 0700) < 0)
			return -1;
	}
	return *state ? 0 : -1;
}

static int remove_tree(void **state)
{
	char path[5000];

	for (size_t i = 3; i-- > 0;) {
		for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++) {
			(void)snprintf(
			    path, sizeof(path), "%s%s/%s", (char *)*state, levels[i], files[k]);
			(void)unlink(path);
		}
		(void)snprintf(path, sizeof(path), "%s%s", (char *)*state, levels[i]);
		if (rmdir(path) < 0)
			return -1;
	}
	return 0;
}

static void put(void *const *state, int level, const char *name, const char *text)
{
	char path[5000];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s%s/%s", (char *)*state, levels[level], name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* The limit of a kind in the group a/b; false: there is none. */
static bool find(void *const *state, bool is_v2, uint32_t kind, struct aging_limit *ret)
{
	struct aging_limit all[AGING_LIMITS];
	struct procfs_group g = {.root_bytes = strlen(*state), .is_v2 = is_v2};
	size_t n;

	(void)snprintf(g.memory, sizeof(g.memory), "%s/a/b", (char *)*state);
	n = limits_of_group(&g, all);
	assert_true(n <= AGING_LIMITS);
	for (size_t i = 0; i < n; i++)
		if (all[i].kind == kind) {
			*ret = all[i];
			return true;
		}
	return false;
}

TEST_WITH(version_2_has_max_and_high_of_all_groups_above, make_tree, remove_tree)
{
	struct aging_limit x = {0};

	assert_false(find(state, true, AGING_LIMIT_GROUP, &x));
	put(state, 2, "memory.current", "104857600\n");
	put(state, 2, "memory.max", "max\n");
	put(state, 2, "memory.high", "max\n");
	assert_false(find(state, true, AGING_LIMIT_GROUP, &x));
	/* the one above has less room than its own */
	put(state, 2, "memory.max", "209715200\n");
	put(state, 1, "memory.current", "314572800\n");
	put(state, 1, "memory.max", "367001600\n");
	put(state, 1, "memory.high", "1073741824\n");
	assert_true(find(state, true, AGING_LIMIT_GROUP, &x));
	assert_int_equal(x.limit, 350 * MIB);
	assert_int_equal(x.used, 300 * MIB);
	assert_true(find(state, true, AGING_LIMIT_GROUP_HIGH, &x));
	assert_int_equal(x.limit, 1024 * MIB);
	/* page cache that can be dropped is room */
	put(state, 1, "memory.stat", "anon 1\nactive_file 7\ninactive_file 209715200\n");
	assert_true(find(state, true, AGING_LIMIT_GROUP, &x));
	assert_int_equal(x.limit, 200 * MIB);
	assert_int_equal(x.used, 100 * MIB);
	/* nonsense is no limit */
	put(state, 2, "memory.max", "-1\n");
	put(state, 1, "memory.max", "");
	assert_false(find(state, true, AGING_LIMIT_GROUP, &x));
}

TEST_WITH(version_1_has_a_limit_and_groups_above_that_count_it, make_tree, remove_tree)
{
	struct aging_limit x = {0};

	put(state, 2, "memory.usage_in_bytes", "104857600\n");
	put(state, 2, "memory.limit_in_bytes", "9223372036854771712\n");
	assert_false(find(state, false, AGING_LIMIT_GROUP, &x)); /* none */
	put(state, 2, "memory.limit_in_bytes", "1073741824\n");
	put(state, 1, "memory.usage_in_bytes", "209715200\n");
	put(state, 1, "memory.limit_in_bytes", "262144000\n");
	put(state, 1, "memory.stat", "inactive_file 1\ntotal_inactive_file 52428800\n");
	put(state, 1, "memory.use_hierarchy", "1\n");
	assert_true(find(state, false, AGING_LIMIT_GROUP, &x));
	assert_int_equal(x.limit, 250 * MIB);
	assert_int_equal(x.used, 150 * MIB);
	put(state, 1, "memory.use_hierarchy", "0\n");
	assert_true(find(state, false, AGING_LIMIT_GROUP, &x));
	assert_int_equal(x.limit, 1024 * MIB);
	assert_int_equal(x.used, 100 * MIB);
	assert_false(find(state, false, AGING_LIMIT_GROUP_HIGH, &x));
}

/* A child with these limits, which waits. */
static pid_t child_with(rlim_t space, rlim_t data, int ready_fd)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (setrlimit(RLIMIT_DATA, &(struct rlimit){data, data}) < 0 ||
	    setrlimit(RLIMIT_AS, &(struct rlimit){space, space}) < 0)
		_exit(1);
	(void)!write(ready_fd, "x", 1);
	for (;;)
		(void)pause();
}

TEST(ulimits_and_the_machine_are_limits)
{
	struct aging_limit all[AGING_LIMITS];
	bool seen[AGING_LIMIT_MACHINE + 1] = {false};
	int fds[2];
	pid_t pid;
	size_t n;
	char c;

	assert_int_equal(pipe(fds), 0);
	pid = child_with(800 * MIB, 500 * MIB, fds[1]);
	assert_true(pid > 0);
	assert_int_equal(read(fds[0], &c, 1), 1);
	n = limits_read(pid, all);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	for (size_t i = 0; i < n; i++) {
		assert_in_range(all[i].kind, 1, AGING_LIMIT_MACHINE);
		assert_false(seen[all[i].kind]);
		seen[all[i].kind] = true;
		if (all[i].kind == AGING_LIMIT_SPACE)
			assert_int_equal(all[i].limit, 800 * MIB);
		if (all[i].kind == AGING_LIMIT_DATA)
			assert_int_equal(all[i].limit, 500 * MIB);
		if (all[i].kind == AGING_LIMIT_SPACE || all[i].kind == AGING_LIMIT_DATA)
			assert_true(all[i].used > 0);
		if (all[i].kind == AGING_LIMIT_MACHINE)
			assert_in_range(all[i].used, 1, all[i].limit);
	}
	assert_true(seen[AGING_LIMIT_SPACE] && seen[AGING_LIMIT_DATA] && seen[AGING_LIMIT_MACHINE]);
	close(fds[0]);
	close(fds[1]);
}
