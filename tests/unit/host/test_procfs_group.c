/* test_procfs_group.c - the service and container that a cgroup stands for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "host/proc/procfs_group.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void expect(const char *text, const char *unit, const char *container, const char *memory)
{
	struct procfs_group g;
	char copy[8192];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	procfs_group_parse(copy, &g);
	assert_string_equal(g.unit, unit);
	assert_string_equal(g.container, container);
	/* where the groups are mounted depends on the machine */
	if (memory)
		assert_string_equal(g.memory + g.root_bytes, memory);
}

TEST(units_of_systemd_are_services)
{
	expect("0::/system.slice/nginx.service\n", "nginx", "", "/system.slice/nginx.service");
	expect("0::/system.slice/system-postgresql.slice/"
	       "postgresql@15-main.service\n",
	    "postgresql@15-main", "", NULL);
	/* a cgroup that the service made for itself */
	expect("0::/system.slice/php8.2-fpm.service/workers/a\n", "php8.2-fpm", "", NULL);
	/* units of a user's own manager */
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
	       "redis.service\n",
	    "redis", "", NULL);
	/* version 1: systemd has a hierarchy without a controller */
	expect("12:pids:/\n4:memory:/system.slice/a.service\n"
	       "1:name=systemd:/system.slice/b.service\n0::/\n",
	    "b", "", "/system.slice/a.service");
}

TEST(logins_are_no_services)
{
	expect("0::/user.slice/user-0.slice/session-3.scope\n", "", "", NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
	       "vte-spawn-1.scope\n",
	    "", "", NULL);
	expect("0::/init.scope\n", "", "", NULL);
	expect("0::/\n", "", "", "");
}

TEST(containers_have_the_beginning_of_their_id)
{
	static const char *const paths[] = {"/docker/" ID, "/system.slice/docker-" ID ".scope",
	    "/machine.slice/libpod-" ID ".scope", "/machine.slice/libpod-" ID ".scope/container",
	    "/kubepods/burstable/pod8f1d/" ID,
	    "/kubepods.slice/kubepods-burstable.slice/"
	    "kubepods-burstable-pod8f1d.slice/cri-containerd-" ID ".scope",
	    "/kubepods.slice/kubepods-pod8f1d.slice/crio-" ID ".scope",
	    "/system.slice/containerd.service/kubepods-pod8f1d.slice:"
	    "cri-containerd:" ID,
	    "/user.slice/user-1000.slice/user@1000.service/user.slice/"
	    "libpod-" ID ".scope"};
	char text[512];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		(void)snprintf(text, sizeof(text), "0::%s\n", paths[i]);
		expect(text, "", "0123456789ab", NULL);
		(void)snprintf(text, sizeof(text), "3:cpu,cpuacct,memory:%s\n", paths[i]);
		expect(text, "", "0123456789ab", NULL);
	}
	expect("0::/lxc.payload.web1/system.slice\n", "", "web1", NULL);
	expect("0::/machine.slice/machine-build.scope/payload\n", "", "build", NULL);
}

TEST(a_path_above_our_own_root_is_not_followed)
{
	expect("0::/../../system.slice/a.service\n", "a", "", "");
	expect("4:memory:/..\n", "", "", "");
	expect("4:memory:relative\n", "", "", "");
	expect("0::/a..b/c\n", "", "", "/a..b/c");
}

TEST(any_text_is_survived)
{
	static const char letters[] = "/:\n.-0af,service\0scope=m";
	char long_name[4000];
	struct procfs_group g;

	expect("", "", "", "");
	expect("0", "", "", "");
	expect("0:", "", "", "");
	expect("::\n::", "", "", NULL);
	memset(long_name, 'x', sizeof(long_name));
	memcpy(long_name, "0::/", 4);
	memcpy(long_name + sizeof(long_name) - 10, ".service", 9);
	procfs_group_parse(long_name, &g);
	assert_true(strlen(g.unit) < sizeof(g.unit));
	assert_string_equal(g.memory, "");
	for (unsigned i = 0; i < 200000; i++) {
		char text[64];
		unsigned n = (unsigned)rand() % (sizeof(text) - 1);

		for (unsigned k = 0; k < n; k++)
			text[k] = letters[(unsigned)rand() % (sizeof(letters) - 1)];
		text[n] = '\0';
		procfs_group_parse(text, &g);
		assert_true(!g.unit[0] || !g.container[0]);
	}
	assert_int_equal(procfs_group_of(getpid(), &g), 0);
}
