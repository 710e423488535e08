/* fuzz_typed.c - any text as a rule, as moments, as a size, as the name of a chapter, of a type or a function, as a census. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "print/json/leaks_json.h"
#include "follow/history/watch_rule.h"
#include "view/stacks/fingerprint.h"
#include "recording/file/chapter.h"
#include "kit/words/words.h"
#include "analysis/types/survey_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void try_rule(const char *text, size_t len)
{
	struct rule_fault fault = {0};
	struct rule_watch w = {0};
	struct rule_look look = {.limit_bytes = len};
	char value[RULE_VALUE_BYTES];
	struct rule r;

	if (!watch_rule_parse(text, &r, &fault)) {
		check(fault.words && fault.column >= 1 && fault.column <= len + 1);
		return;
	}
	(void)watch_rule_is_for(&r, text);
	for (int i = 0; i < 200; i++) {
		look.at_ns += r.window_ns / 50 + 1;
		look.live_bytes += UINT64_C(1) << (i % 64);
		look.used_bytes = look.live_bytes;
		(void)watch_rule_look(&r, &w, &look);
		check(strlen(watch_rule_value(&r, &w, value)) > 0);
	}
}

static void try_moments(const char *text, size_t len)
{
	const struct moment_line line = {.start_ns = UINT64_C(1) << 60,
	    .until_us = UINT64_C(1) << 53,
	    .now_ns = UINT64_C(1) << 61};
	struct moment from = {.kind = MOMENT_PERCENT}, to = from;
	struct moment_fault fault = {0};
	int64_t us;

	if (!moment_range(text, &from, &to, &fault)) {
		check(fault.words && fault.column >= 1 && fault.column <= len + 1);
		return;
	}
	check(moment_resolve(&from, &line, &us));
	check(moment_resolve(&to, &line, &us));
}

static void try_name(const char *text)
{
	char again[CHAPTER_NAME_BYTES];
	struct chapter_name name;

	if (!chapter_name_read(text, &name))
		return;
	chapter_name_write(&name, again);
	check(strcmp(text, again) == 0);
}

enum { FUNCTIONS = 6 };

/* Each line is a function, and what is found is a part of one of them. */
static void try_functions(const char *text, size_t len)
{
	static const bool lines[FUNCTIONS] = {true, false, true, true};
	const char *functions[FUNCTIONS];
	char *copy = strdup(text), *at = copy;
	struct element e;
	size_t count = 0;
	bool found;

	if (!copy)
		abort();
	while (at && count < FUNCTIONS) {
		functions[count++] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	found = element_find(functions, lines, count, &e);
	if (found)
		check(e.len > 0 && e.type >= copy && e.type + e.len <= copy + len &&
		    e.container == element_container(e.container));
	(void)element_is_open(functions, count, found ? &e : NULL);
	free(copy);
}

/* What is found is a part of the text. */
static void try_types(const char *text, size_t len)
{
	struct control c = control_of(text);
	char plain[256];

	check(c.kind == CONTROL_NONE ||
	    (c.len > 0 && c.type >= text && c.type + c.len <= text + len));
	try_functions(text, len);
	check(type_name_plain(text, len, plain, sizeof(plain)) < sizeof(plain));
	check(type_name_first(text, len, plain, sizeof(plain)) < sizeof(plain));
}

static void try_census(const char *text, size_t len)
{
	struct by_type t = {.count = 0};

	if (census_json_read(text, len, &t) == 0)
		for (size_t i = 0; i < t.count; i++)
			check(t.rows[i].name[0] && t.rows[i].blocks == 0);
	by_type_settle(&t);
	by_type_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t number;
	size_t len;

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	len = strlen(text);
	try_rule(text, len);
	try_moments(text, len);
	try_name(text);
	try_types(text, len);
	try_census(text, len);
	(void)units_size(text, len, &number);
	(void)units_time(text, len, &number);
	free(text);
	return 0;
}
