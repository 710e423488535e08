/* fuzz_unit.c - the text of a unit, of an EnvironmentFile and of a drop-in: whatever they contain, they are read to their end and never run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/service/unit.h"
#include "attach/service/dropin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is written must be read back as it was, in one line. */
static void check_round_trip(const char *text)
{
	char *quoted = quoting_quote(text, true);
	struct quoting_words w = {0};

	if (!quoted || strpbrk(quoted, "\n\r") || quoting_split(quoted, &w) < 0 || w.count != 1 ||
	    strcmp(w.items[0], text) != 0)
		abort();
	quoting_release(&w);
	free(quoted);
}

static void check_dropin(const char *text)
{
	const struct dropin_plan plan = {.library = "/l/libseep.so",
	    .preload = text,
	    .base = "/run/seep",
	    .only = text,
	    .needs_write = true};
	char *own = dropin_text(&plan, "u.service");

	if (!own || dropin_judge(own, NULL) != DROPIN_OURS)
		abort();
	free(own);
	(void)dropin_judge(text, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unit u = {0};
	struct quoting_words words = {0};
	struct unit_commands c = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_round_trip(text);
	check_dropin(text);
	if (unit_file_parse(&u.files, "/u", text) == 0) {
		(void)unit_commands(&u, "ExecStart", &c);
		(void)unit_environment(&u, NULL, &words);
		(void)daemon_find(&u, &words);
		(void)unit_has_mount_namespace(&u);
	}
	quoting_release(&words);
	unit_commands_release(&c);
	unit_release(&u);
	free(text);
	return 0;
}
