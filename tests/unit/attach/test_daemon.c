/* test_daemon.c - promises of attach/service/daemon.h and shell_text.h: the program behind shells and wrappers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/service/daemon.h"
#include "attach/service/shell_text.h"

static char root[64];

/* A root with programs that are no more than their first bytes. */
static int make_root(void **state)
{
	char command[4096];

	(void)state;
	strcpy(root, "/tmp/seep-test.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(command, sizeof(command),
	    "set -e; cd %s; mkdir -p usr/bin usr/sbin opt; ln -s usr/bin bin\n"
	    "for i in bash dash env nice numactl perl5.36 python3.11 mkdir "
	    "sleep runuser start-stop-daemon helper memcached; do "
	    "printf '\\177ELF' >usr/bin/$i; done\n"
	    "for i in ganesha.nfsd mariadbd daemon; do "
	    "printf '\\177ELF' >usr/sbin/$i; done\n"
	    "ln -s dash usr/bin/sh; ln -s perl5.36 usr/bin/perl\n"
	    "ln -s python3.11 usr/bin/python3; ln -s mariadbd usr/sbin/mysqld\n"
	    "printf '#!/bin/sh\\nmkdir -p /x\\nexec /usr/sbin/daemon \"$@\"\\n' "
	    ">opt/wrapper\n"
	    "printf '#!/bin/sh\\n/usr/sbin/daemon\\n' >opt/without_exec\n"
	    "printf '#!/usr/bin/perl -w\\nmy $m = \"/usr/bin/memcached\";\\n"
	    "exec \"$m $x\";\\n' >opt/perl_wrapper\n"
	    "printf '#!/usr/bin/env python3\\nexec(x)\\n' >opt/gunicorn\n"
	    "printf '#!/bin/sh\\nexec /opt/loop\\n' >opt/loop\n"
	    "printf '#!/opt/missing\\n' >opt/no_interpreter\n"
	    "chmod -R 755 usr opt; echo text >opt/not_executable\n"
	    "ln -s /../../../../../../bin/true opt/out",
	    root);
	return system(command);
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* What is found behind ExecStart=LINE, or "". */
static const char *behind(const char *line)
{
	static char answer[512];
	struct unit u = {.manager.root = root};
	struct quoting_words found = {0};
	char text[4096];

	snprintf(text, sizeof(text), "[Service]\nExecStart=%s\n", line);
	assert_int_equal(unit_file_parse(&u.files, "/u", text), 0);
	assert_int_equal(daemon_find(&u, &found), 0);
	answer[0] = '\0';
	for (size_t i = 0; i < found.count; i++)
		snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "%s%s",
		    i ? ":" : "", found.items[i]);
	quoting_release(&found);
	unit_release(&u);
	return answer;
}

static void daemons_are_found_behind_shells_and_wrappers(void **state)
{
	static const char *const cases[][2] = {
	    {"/usr/sbin/daemon -x", "/usr/sbin/daemon"},
	    {"-+!/usr/sbin/daemon", "/usr/sbin/daemon"},
	    {"daemon", "/usr/sbin/daemon"},
	    {"@/usr/sbin/daemon another name", "/usr/sbin/daemon"},
	    {"/usr/sbin/mysqld", "/usr/sbin/mysqld"},
	    /* nfs-ganesha and mariadb of Debian */
	    {"/bin/bash -c \"${NUMACTL} ${NUMAOPTS} /usr/sbin/ganesha.nfsd -C "
	     "${OPTIONS} ${EPOCH}\"",
	        "/usr/sbin/ganesha.nfsd"},
	    {"/bin/sh -c \"set -f; [ ! -e /usr/bin/helper ] && VAR= || \\\n "
	     "VAR=`/usr/bin/helper`; [ $? -eq 0 ] || exit 1; \\\n exec "
	     "/usr/sbin/mariadbd $OPTS $VAR\"",
	        "/usr/sbin/mariadbd"},
	    {"@/bin/sh name -ec 'A=1 exec nice -n 5 daemon >log 2>&1'", "/usr/sbin/daemon"},
	    {"/bin/sh -c 'mkdir -p /x; daemon & sleep 1'", "/usr/sbin/daemon"},
	    {"/bin/sh -c 'A=$(helper -x) daemon || exit 1'", "/usr/sbin/daemon"},
	    {"/bin/sh -c 'if helper; then exec daemon; fi; exit 1'", "/usr/sbin/daemon"},
	    {"/bin/sh -c \"bash -c 'exec daemon'\"", "/usr/sbin/daemon"},
	    {"/usr/bin/env A=1 -u B nice /usr/sbin/daemon", "/usr/sbin/daemon"},
	    {"/usr/bin/numactl --interleave all /usr/sbin/daemon", "/usr/sbin/daemon"},
	    {"/usr/bin/runuser -u nobody -- daemon", "/usr/sbin/daemon"},
	    {"/usr/bin/start-stop-daemon --start --pidfile /run/x.pid --exec "
	     "/usr/sbin/daemon",
	        "/usr/sbin/daemon"},
	    {"/opt/wrapper", "/usr/sbin/daemon"},
	    {"/bin/sh /opt/wrapper", "/usr/sbin/daemon"},
	    {"/opt/perl_wrapper /etc/x", "/usr/bin/memcached"},
	    {"/opt/gunicorn app", "/usr/bin/python3.11"},
	    {"/usr/sbin/daemon ; /usr/sbin/mariadbd", "/usr/sbin/daemon:/usr/sbin/mariadbd"},
	    /* not to be found out */
	    {"/opt/without_exec", ""},
	    {"/opt/no_interpreter", ""},
	    {"/opt/loop", ""},
	    {"/opt/not_executable", ""},
	    {"/opt/out", ""},
	    {"/opt/missing", ""},
	    {"${PROGRAM}", ""},
	    {"/bin/sh -c", ""},
	    {"/bin/sh -c 'exec $DAEMON'", ""},
	    {"/usr/bin/env", ""},
	    {"/bin/sh -c \"exec sh -c 'exec sh -c x'\"", ""},
	    {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = behind(cases[i][0]);

		if (strcmp(found, cases[i][1]) != 0)
			print_message("%s\n", cases[i][0]);
		assert_string_equal(found, cases[i][1]);
	}
}

static void names_are_those_of_the_unit_and_of_the_files(void **state)
{
	static const char *const paths[] = {"/usr/sbin/mysqld", "/usr/sbin/daemon",
	    "/usr/sbin/mariadbd", "/opt/missing", "/opt/a:b"};
	struct quoting_words found = {0};
	char *names = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(quoting_add(&found, strdup(paths[i])), 0);
	assert_int_equal(daemon_names(root, &found, &names), 0);
	assert_string_equal(names, "mysqld:mariadbd:daemon:missing");
	free(names);
	quoting_release(&found);
}

static void texts_of_shells_end(void **state)
{
	static const char *const texts[] = {"'", "\"", "`", "$(", "$((", "a \\", "\\", "#",
	    "# x\na", ";;&&||", "((((", "'\"`$(", "a'b\"c"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *at = texts[i];
		size_t n = 0;

		for (;;) {
			struct quoting_words w = {0};
			int more = shell_text_next(&at, &w);

			quoting_release(&w);
			if (more == 0)
				break;
			assert_int_equal(more, 1);
			assert_true(++n <= strlen(texts[i]) + 1);
		}
		assert_true(at <= texts[i] + strlen(texts[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(daemons_are_found_behind_shells_and_wrappers),
	    cmocka_unit_test(names_are_those_of_the_unit_and_of_the_files),
	    cmocka_unit_test(texts_of_shells_end),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
