/* test_daemon.c - the program of a unit, as systemd says it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "attach/service/unit.h"

static char folder[] = "/tmp/seep-test-daemon-XXXXXX";

static int make_folder(void **state)
{
	char command[1024];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(command, sizeof(command),
	    "set -e; PATH=/usr/bin:/bin; cd '%s'; cp /bin/true daemon; cp /bin/true real\n"
	    "ln -s real linked; printf '#!/bin/sh\\nexec ./daemon\\n' >script; chmod 755 script",
	    folder);
	return system(command);
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

/* What is found for ExecStart=LINE, with # for the folder, and MainPID=pid; or "". */
static const char *found_for(const char *line, pid_t pid)
{
	static char answer[512];
	struct unit u = {.name = "u.service"};
	struct quoting_words found = {0};
	char text[4096] = "[Service]\nExecStart=", number[64];

	for (size_t n = strlen(text); *line; line++, n = strlen(text)) {
		if (*line == '#')
			snprintf(text + n, sizeof(text) - n, "%s", folder);
		else
			text[n] = *line;
	}
	assert_true(strlen(text) + 1 < sizeof(text));
	snprintf(number, sizeof(number), "[Service]\nMainPID=%d\n", (int)pid);
	assert_int_equal(unit_file_parse(&u.files, "/u", text), 0);
	assert_int_equal(unit_file_parse(&u.files, "/v", number), 0);
	assert_int_equal(daemon_find(&u, &found), 0);
	answer[0] = '\0';
	for (size_t i = 0; i < found.count; i++)
		snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "%s%s",
		    i ? ":" : "", found.items[i]);
	quoting_release(&found);
	unit_release(&u);
	return answer;
}

TEST(the_program_of_the_command_counts_and_no_launcher)
{
	char both[128];

	snprintf(both, sizeof(both), "%s/daemon", folder);
	assert_string_equal(found_for("#/daemon -x", 0), both);
	assert_string_equal(found_for("-+!#/daemon", 0), both);
	assert_string_equal(found_for("@#/daemon another name", 0), both);
	snprintf(both, sizeof(both), "%s/daemon:%s/real", folder, folder);
	assert_string_equal(found_for("#/daemon ; #/real", 0), both);
	assert_string_equal(found_for("#/script", 0), "");
	assert_string_equal(found_for("/bin/sh -c 'exec #/daemon'", 0), "");
	assert_string_equal(found_for("/usr/bin/env A=1 #/daemon", 0), "");
	assert_string_equal(found_for("${PROGRAM}", 0), "");
	assert_string_equal(found_for("", 0), "");
}

TEST(the_main_process_counts_more)
{
	char self[512] = "", linked[128];

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_string_equal(found_for("#/daemon", getpid()), self);
	assert_string_equal(found_for("/bin/sh -c 'exec #/daemon'", getpid()), self);
	/* by the name that the unit has for it */
	snprintf(linked, sizeof(linked), "%s/self", folder);
	assert_int_equal(symlink(self, linked), 0);
	assert_string_equal(found_for("#/self", getpid()), linked);
}

TEST(names_are_those_of_the_unit_and_of_the_files)
{
	static const char *const names_of[] = {"linked", "daemon", "real", "missing", "a:b"};
	struct quoting_words found = {0};
	char *names = NULL, *path;

	for (size_t i = 0; i < sizeof(names_of) / sizeof(names_of[0]); i++) {
		assert_true(asprintf(&path, "%s/%s", folder, names_of[i]) > 0);
		assert_int_equal(quoting_add(&found, path), 0);
	}
	assert_int_equal(daemon_names(&found, &names), 0);
	assert_string_equal(names, "linked:real:daemon:missing");
	free(names);
	quoting_release(&found);
}

TEST_GROUP(make_folder, remove_folder);
