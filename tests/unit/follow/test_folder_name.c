/* test_folder_name.c - services of a history: safe names, and no two alike. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "follow/history/store.h"

static const char *name_of(const char *text, enum folder_kind kind, uid_t uid)
{
	static char names[4][FOLDER_NAME_BYTES];
	static int next;
	char *to = names[next++ % 4];
	const struct folder_service s = {.text = text, .kind = kind, .uid = uid};

	folder_name(&s, 1000, to);
	return to;
}

TEST(plain_names_stay)
{
	assert_string_equal(name_of("nginx", FOLDER_UNIT, 0), "nginx.service");
	assert_string_equal(name_of("nginx.service", FOLDER_UNIT, 0), "nginx.service");
	assert_string_equal(name_of("web", FOLDER_CONTAINER, 0), "web%n");
	assert_string_equal(name_of("getty@tty1.service", FOLDER_UNIT, 0), "getty@tty1.service");
	assert_string_equal(name_of("redis", FOLDER_PROGRAM, 1000), "redis");
	assert_string_equal(name_of("0123456789abcdef", FOLDER_CONTAINER, 0), "0123456789abcdef");
}

TEST(hostile_text_is_a_harmless_file_name)
{
	static const char *const texts[] = {"", ".", "..", "...", "../x", "/", "a/b", "-rf", "\n",
	    "\x1b[2J", "\xff\xfe", "%", "a b", ".lock", ".version", "a\\b", "\u202e", "~", "$(x)",
	    "'"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (int kind = FOLDER_UNIT; kind <= FOLDER_PROGRAM; kind++) {
			const char *name = name_of(texts[i], (enum folder_kind)kind, 1000);

			assert_true(strlen(name) > 0 && strlen(name) < FOLDER_NAME_BYTES);
			assert_true(name[0] != '.' && name[0] != '-');
			assert_null(strchr(name, '/'));
			for (const char *p = name; *p; p++)
				assert_true(*p > ' ' && *p < 0x7f && !strchr("\\'\"$`~*?", *p));
		}
}

TEST(a_program_cannot_take_the_name_of_another_service)
{
	assert_string_not_equal(
	    name_of("nginx", FOLDER_UNIT, 0), name_of("nginx", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(
	    name_of("web", FOLDER_CONTAINER, 0), name_of("web", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(
	    name_of("web", FOLDER_CONTAINER, 0), name_of("web%n", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(name_of("nginx.service", FOLDER_UNIT, 0),
	    name_of("nginx.service", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(name_of("session-1.scope", FOLDER_UNIT, 0),
	    name_of("session-1.scope", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(name_of("0123456789abcdef", FOLDER_CONTAINER, 0),
	    name_of("0123456789abcdef", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(
	    name_of("nginx", FOLDER_PROGRAM, 1000), name_of("nginx", FOLDER_PROGRAM, 33));
	assert_string_not_equal(
	    name_of("nginx", FOLDER_PROGRAM, 33), name_of("nginx%u33", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(
	    name_of("a%2fb", FOLDER_PROGRAM, 1000), name_of("a/b", FOLDER_PROGRAM, 1000));
	assert_string_not_equal(
	    name_of("", FOLDER_PROGRAM, 1000), name_of("%00", FOLDER_PROGRAM, 1000));
}

/* In cgroups of his own a user calls a unit as he likes. */
TEST(a_users_unit_is_not_the_machines)
{
	const struct folder_service his = {
	    .text = "nginx", .kind = FOLDER_UNIT, .uid = 7, .is_chosen = true};
	char name[FOLDER_NAME_BYTES];

	folder_name(&his, 0, name);
	assert_string_equal(name, "nginx.service%u7");
	assert_string_equal(name_of("nginx", FOLDER_UNIT, 7), "nginx.service");
}

/* All short texts over a mean alphabet, for each kind and two users. */
TEST(no_two_services_share_a_name)
{
	static const char letters[] = "a.%u/0";
	enum { LETTERS = sizeof(letters) - 1, COUNT = 6 * 6 * 6 * 6 };
	static char all[COUNT * 2][FOLDER_NAME_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < COUNT; i++) {
		char text[5];
		size_t rest = i;

		for (size_t k = 0; k < 4; k++, rest /= LETTERS)
			text[k] = letters[rest % LETTERS];
		text[4] = '\0';
		strcpy(all[n++], name_of(text, FOLDER_PROGRAM, 1000));
		strcpy(all[n++], name_of(text, FOLDER_PROGRAM, 0));
	}
	qsort(all, n, sizeof(all[0]), (int (*)(const void *, const void *))strcmp);
	for (size_t i = 1; i < n; i++)
		assert_string_not_equal(all[i - 1], all[i]);
}

TEST(long_names_are_bounded_and_differ)
{
	char a[600], b[600];

	memset(a, 'x', sizeof(a) - 1);
	a[sizeof(a) - 1] = '\0';
	memcpy(b, a, sizeof(a));
	b[500] = 'y';
	assert_true(strlen(name_of(a, FOLDER_UNIT, 0)) < FOLDER_NAME_BYTES);
	assert_string_not_equal(name_of(a, FOLDER_UNIT, 0), name_of(b, FOLDER_UNIT, 0));
	assert_string_not_equal(name_of(a, FOLDER_PROGRAM, 1), name_of(a, FOLDER_PROGRAM, 2));
}
