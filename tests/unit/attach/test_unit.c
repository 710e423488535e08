/* test_unit.c - promises of attach/service/unit.h, unit_file.h, quoting.h and systemctl.h: what is understood of a unit, whatever its text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "attach/service/unit.h"

static char scratch[64]; /* a directory of this test */

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* A systemctl that runs this script. */
static void fake_systemctl(const char *script)
{
	char path[128], text[4096];

	snprintf(path, sizeof(path), "%s/systemctl", scratch);
	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	write_file(path, text, 0755);
	snprintf(text, sizeof(text), "%s:/usr/bin:/bin", scratch);
	assert_int_equal(setenv("PATH", text, 1), 0);
}

static int make_scratch(void **state)
{
	(void)state;
	strcpy(scratch, "/tmp/seep-test.XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
	return system(command);
}

TEST(words_are_split_as_systemd_does)
{
	static const struct {
		const char *value;
		const char *words[6];
	} cases[] = {
	    {"", {NULL}},
	    {"  a\tb  ", {"a", "b", NULL}},
	    {"\"A=b c\" 'd e'", {"A=b c", "d e", NULL}},
	    {"A=\"b c\"d", {"A=b cd", NULL}},
	    {"a\\x41\\102\\n \\s\\u00e4", {"aAB\n", " \xc3\xa4", NULL}},
	    {"\"\\\"\\\\\" '\"'", {"\"\\", "\"", NULL}},
	    {"\"\\$A\\`b\"", {"$A`b", NULL}}, /* as systemctl prints it */
	    {"\\", {"\\", NULL}},
	    {"\\q \\x4", {"\\q", "\\x4", NULL}},
	    {"\\x00y", {"\\x00y", NULL}}, /* never a NUL */
	    {"\"open", {"open", NULL}},
	    {"'' \"\"", {"", "", NULL}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct quoting_words w = {0};
		size_t n = 0;

		assert_int_equal(quoting_split(cases[i].value, &w), 0);
		while (cases[i].words[n]) {
			assert_true(n < w.count);
			assert_string_equal(w.items[n], cases[i].words[n]);
			n++;
		}
		assert_int_equal(w.count, n);
		quoting_release(&w);
	}
}

TEST(what_is_quoted_is_one_word_in_one_line)
{
	static const char *const texts[] = {"", "a", "a b", "it's", "\"", "\\", "\\n", "a\nb\rc\td",
	    "\x1b[31m", "%n 100%", "\xc3\xa4\xff", "[Service]\nExecStart=/bin/evil", "#x", ";",
	    "$HOME `x`"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *quoted = quoting_quote(texts[i], true);
		struct quoting_words w = {0};

		assert_non_null(quoted);
		assert_null(strpbrk(quoted, "\n\r\x1b"));
		assert_int_equal(quoting_split(quoted, &w), 0);
		assert_int_equal(w.count, 1);
		assert_string_equal(w.items[0], texts[i]);
		quoting_release(&w);
		free(quoted);
	}
	char *quoted = quoting_quote("50%n", false);

	assert_string_equal(quoted, "\"50%%n\"");
	free(quoted);
}

TEST(settings_are_merged_and_taken_back)
{
	struct unit u = {0};
	struct unit_commands c = {0};
	struct quoting_words e = {0};

	assert_int_equal(unit_file_parse(&u.files, "/a",
	                     "# comment\n[Unit]\nExecStart=/bin/no\n[Service]\n"
	                     "ExecStart=/bin/one\nExecStart=\n"
	                     "ExecStart=-@/bin/sh name -c \\\n# within\n  'exec x; y' ; "
	                     "!/bin/two a\\;b\nEnvironment=A=1 B=2\nEnvironment=\"A=3 4\"\n"
	                     "no equal sign\n =x\nKey = value \n"),
	    0);
	assert_int_equal(unit_file_parse(&u.files, "/b", "[Service]\nEnvironment=B=5\nUser=me"), 0);
	assert_int_equal(unit_commands(&u, "ExecStart", &c), 0);
	assert_int_equal(c.count, 2);
	assert_string_equal(c.items[0].prefix, "-@");
	assert_string_equal(c.items[0].path, "/bin/sh");
	assert_int_equal(c.items[0].argv.count, 3);
	assert_string_equal(c.items[0].argv.items[0], "name");
	assert_string_equal(c.items[0].argv.items[2], "exec x; y");
	assert_string_equal(c.items[1].path, "/bin/two");
	assert_string_equal(c.items[1].argv.items[1], "a\\;b");
	assert_int_equal(unit_environment(&u, NULL, &e), 0);
	assert_string_equal(unit_variable(&e, "A"), "3 4");
	assert_string_equal(unit_variable(&e, "B"), "5");
	assert_null(unit_variable(&e, "C"));
	quoting_release(&e);
	assert_int_equal(unit_environment(&u, "/b", &e), 0);
	assert_string_equal(unit_variable(&e, "B"), "2");
	assert_string_equal(unit_get(&u, "User"), "me");
	assert_string_equal(unit_get(&u, "Key"), "value");
	assert_string_equal(unit_get(&u, "Nothing"), "");
	quoting_release(&e);
	unit_commands_release(&c);
	unit_release(&u);
}

TEST(names_are_names_of_services)
{
	static const char *const bad[] = {"", "a b", "a/b", "../x", ".service", "x.socket", "a\nb",
	    "@.service", "a\x1b", "-/x", ".hidden"};
	char name[UNIT_NAME_BYTES], longest[400];
	struct fault where;

	assert_int_equal(unit_name("redis", name, &where), 0);
	assert_string_equal(name, "redis.service");
	assert_int_equal(unit_name("a@b\\x2dc.service", name, &where), 0);
	assert_string_equal(name, "a@b\\x2dc.service");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(unit_name(bad[i], name, &where), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[399] = '\0';
	assert_int_equal(unit_name(longest, name, &where), -EINVAL);
}

TEST(systemd_is_asked_and_its_files_are_read)
{
	const struct unit_manager m = {0};
	struct unit_environment_files f = {0};
	char script[1024], path[128];
	struct unit u;
	struct fault where;

	snprintf(path, sizeof(path), "%s/u.service", scratch);
	write_file(path, "[Service]\nExecStart=/usr/bin/d\nEnvironment=LD_PRELOAD=/x.so\n", 0644);
	snprintf(path, sizeof(path), "%s/a b.conf", scratch);
	write_file(path, "[Service]\nEnvironment=\"V=1 2\"\n", 0644);
	snprintf(path, sizeof(path), "%s/env", scratch);
	write_file(path, "# x\nLD_PRELOAD='/y.so' \n; z\nQ=\"a\nb\" \nR=c\\\nd  \nbad\n", 0644);
	snprintf(script, sizeof(script),
	    "[ \"$1 $2 $3 $4\" = '--no-pager show -- u.service' ] || exit 9\n"
	    "cat <<'END'\nId=real.service\nLoadState=loaded\nMainPID=4711\n"
	    "FragmentPath=%s/u.service\nDropInPaths=\"%s/a b.conf\" %s/missing\n"
	    "EnvironmentFiles=%s/env (ignore_errors=no)\n"
	    "EnvironmentFiles=%s/none of it (ignore_errors=yes)\n"
	    "PrivateTmp=yes\nProtectHome=no\nNotAProperty\nEND",
	    scratch, scratch, scratch, scratch, scratch);
	fake_systemctl(script);
	assert_int_equal(unit_load("u", &m, &u, &where), 0);
	assert_string_equal(u.name, "real.service");
	assert_int_equal(unit_main_pid(&u), 4711);
	assert_int_equal(u.files.paths.count, 2);
	assert_int_equal(u.files.unread, 1);
	assert_true(unit_is_on(&u, "PrivateTmp"));
	assert_true(unit_has_mount_namespace(&u));
	assert_int_equal(unit_environment_files(&u, &f), 0);
	assert_int_equal(f.count, 2);
	assert_true(f.items[0].is_read && !f.items[0].is_optional);
	assert_string_equal(unit_variable(&f.items[0].variables, "LD_PRELOAD"), "/y.so");
	assert_string_equal(unit_variable(&f.items[0].variables, "Q"), "a\nb");
	assert_string_equal(unit_variable(&f.items[0].variables, "R"), "cd");
	assert_non_null(strstr(f.items[1].path, "/none of it"));
	assert_true(f.items[1].is_optional && !f.items[1].is_read);
	unit_environment_files_release(&f);
	unit_release(&u);
}

TEST(a_template_is_asked_about_by_an_instance)
{
	const struct unit_manager m = {.is_user = true};
	struct unit u;
	struct fault where;

	fake_systemctl("[ \"$2 $5\" = '--user t@seep.service' ] || exit 9\n"
	               "echo Id=t@seep.service; echo LoadState=loaded");
	assert_int_equal(unit_load("t@", &m, &u, &where), 0);
	assert_true(u.is_template);
	assert_string_equal(u.name, "t@.service");
	assert_false(unit_has_mount_namespace(&u));
	unit_release(&u);
}

TEST(failures_have_their_names)
{
	static const struct {
		const char *script;
		int err;
		const char *words;
	} cases[] = {
	    {"echo LoadState=not-found", -ENOENT, "no such unit"},
	    {"echo 'System has not been booted with systemd as init system "
	     "(PID 1).' >&2; exit 1",
	        -ENOTCONN, "has not been booted"},
	    {"echo 'Failed to connect to bus: No such file' >&2; exit 1", -ENOTCONN,
	        "Failed to connect to bus: No such file"},
	    {"echo 'x: Access denied' >&2; exit 4", -EPERM, "Access denied"},
	    {"exit 3", -EIO, "without a word"},
	    {"kill -9 $$", -EIO, "without a word"},
	    {"yes | head -c 3000000", -EFBIG, "too much"},
	    {"head -c 3000000 /dev/zero >&2; exit 1", -EIO, ""},
	    {"echo Id=../../x; echo LoadState=loaded", -EIO, "no name"},
	};
	const struct unit_manager m = {0};
	char empty[128];
	struct unit u;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fault where = {""};

		fake_systemctl(cases[i].script);
		assert_int_equal(unit_load("u", &m, &u, &where), cases[i].err);
		assert_non_null(strstr(where.text, cases[i].words));
		assert_null(strchr(where.text, '\n'));
	}
	snprintf(empty, sizeof(empty), "%s/empty", scratch);
	assert_int_equal(setenv("PATH", empty, 1), 0);
	{
		struct fault where = {""};

		assert_int_equal(unit_load("u", &m, &u, &where), -ENOENT);
		assert_non_null(strstr(where.text, "no systemctl"));
	}
}

TEST(a_systemctl_that_hangs_is_ended)
{
	const char *arguments[] = {"show", NULL};
	struct fault where;
	time_t begin = time(NULL);

	fake_systemctl("exec sleep 100");
	assert_int_equal(systemctl_run(false, arguments, 1, NULL, &where), -ETIMEDOUT);
	assert_true(time(NULL) - begin < 30);
}

/* A megabyte of the shortest words, lines and variables: no more than a moment. */
TEST(long_texts_take_no_more_than_their_length)
{
	enum { BYTES = 1 << 20 };
	char *text = malloc(BYTES + 1), path[128], script[512];
	const struct unit_manager m = {0};
	struct unit_environment_files f = {0};
	struct quoting_words w = {0};
	struct unit u = {0};
	struct fault where;
	time_t begin = time(NULL);

	assert_non_null(text);
	for (size_t i = 0; i < BYTES; i++)
		text[i] = i % 2 ? ' ' : 'a';
	text[BYTES] = '\0';
	assert_int_equal(quoting_split(text, &w), 0);
	assert_int_equal(w.count, BYTES / 2);
	quoting_release(&w);
	for (size_t i = 0; i < BYTES; i++)
		text[i] = "a=\n"[i % 3];
	assert_int_equal(unit_file_parse(&u.files, "/u", text), 0);
	unit_release(&u);
	for (size_t i = 0; i + 8 <= BYTES; i += 8)
		snprintf(text + i, 9, "%06zx=\n", i / 8);
	text[BYTES - 8] = '\0';
	snprintf(path, sizeof(path), "%s/many", scratch);
	write_file(path, text, 0644);
	snprintf(script, sizeof(script),
	    "echo Id=u.service; echo LoadState=loaded; echo "
	    "'EnvironmentFiles=%s (ignore_errors=no)'",
	    path);
	fake_systemctl(script);
	assert_int_equal(unit_load("u", &m, &u, &where), 0);
	assert_int_equal(unit_environment_files(&u, &f), 0);
	assert_false(f.items[0].is_read);
	unit_environment_files_release(&f);
	unit_release(&u);
	free(text);
	assert_true(time(NULL) - begin < 20);
}

TEST_GROUP(make_scratch, remove_scratch);
