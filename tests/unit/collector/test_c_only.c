/* test_c_only.c - promises of config_leaves_out(): which programs SEEP_ONLY leaves out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "collector/segment/config.h"

static bool is_out(const char *list, const char *executable, const char *started_as)
{
	bool ignored;

	return config_leaves_out(list, executable, started_as, &ignored);
}

TEST(names_are_whole_names_of_the_last_part)
{
	assert_false(is_out("nginx", "/usr/sbin/nginx", "/usr/sbin/nginx"));
	assert_false(is_out("a:nginx:b", "/usr/sbin/nginx", NULL));
	assert_false(is_out("nginx", "nginx", NULL)); /* there is no /proc */
	assert_true(is_out("nginx", "/usr/sbin/nginx-debug", NULL));
	assert_true(is_out("nginx-debug", "/usr/sbin/nginx", NULL));
	assert_true(is_out("ngin", "/usr/sbin/nginx", NULL));
	assert_true(is_out("NGINX", "/usr/sbin/nginx", NULL));
	assert_true(is_out("usr", "/usr/sbin/nginx", NULL));
	assert_true(is_out("nginx ", "/usr/sbin/nginx", NULL));
	assert_true(is_out("nginx", "", ""));
	assert_true(is_out("nginx", NULL, NULL));
	assert_true(is_out("*", "/usr/sbin/nginx", NULL));
}

TEST(links_and_scripts_go_by_both_names)
{
	assert_false(is_out("httpd", "/bin/busybox", "/usr/sbin/httpd"));
	assert_false(is_out("busybox", "/bin/busybox", "/usr/sbin/httpd"));
	assert_false(is_out("gunicorn", "/usr/bin/python3.11", "./gunicorn"));
	assert_false(is_out("python3.11", "/usr/bin/python3.11", "./gunicorn"));
	assert_true(is_out("python3", "/usr/bin/python3.11", "./gunicorn"));
}

TEST(a_name_with_a_slash_is_a_whole_path)
{
	assert_false(is_out("/opt/a/d", "/opt/a/d", NULL));
	assert_true(is_out("/opt/a/d", "/opt/b/d", NULL));
	assert_false(is_out("x:/opt/a/d:y", "/opt/b/d", "/opt/a/d"));
	assert_true(is_out("a/d", "/opt/a/d", NULL));
	assert_true(is_out("/", "/opt/a/d", NULL));
}

TEST(an_empty_list_leaves_nobody_out)
{
	bool ignored = false;

	assert_false(config_leaves_out(":::", "/bin/sh", NULL, &ignored));
	assert_true(ignored);
	assert_true(config_leaves_out("::x:", "/bin/sh", NULL, &ignored));
	assert_false(ignored);
	assert_false(config_leaves_out("::sh:", "/bin/sh", NULL, &ignored));
	assert_false(ignored);
}

TEST(names_may_be_as_long_as_a_file_name_can)
{
	char list[600], path[300];

	memset(list, 'n', sizeof(list));
	list[255] = ':';
	list[511] = '\0';
	memset(path, 'n', sizeof(path));
	memcpy(path, "/bin/", 5);
	path[5 + 255] = '\0';
	assert_false(is_out(list, path, NULL));
	path[5 + 254] = '\0';
	assert_true(is_out(list, path, NULL));
	memset(list, 'n', sizeof(list));
	list[sizeof(list) - 1] = '\0'; /* longer than any name */
	assert_true(is_out(list, path, NULL));
}
