/* doctor_environment.c - the variables that a process was started with. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/doctor/doctor_parts.h"

#include "base/std.h"
#include "host/memory/foreign.h"
#include "kit/words/text.h"

int doctor_environment_read(struct doctor_environment *e, pid_t pid)
{
	*e = (struct doctor_environment){0};
	return foreign_text(pid, "environ", &e->text, &e->bytes);
}

void doctor_environment_release(struct doctor_environment *e)
{
	free(e->text);
	free(e->library);
	*e = (struct doctor_environment){0};
}

const char *doctor_environment(const struct doctor_environment *e, const char *name)
{
	size_t len = strlen(name);

	/* a NUL follows the text, whatever is in it */
	for (size_t at = 0; at < e->bytes; at += strlen(e->text + at) + 1)
		if (!strncmp(e->text + at, name, len) && e->text[at + len] == '=')
			return e->text + at + len + 1;
	return NULL;
}

char *doctor_environment_find(const char *list)
{
	while (*list) {
		size_t n = strcspn(list, " :");
		char *path = strndup(list, n);

		if (path && text_begins_with(text_base(path), "libseep.so"))
			return path;
		free(path);
		list += n + strspn(list + n, " :");
	}
	return NULL;
}

const char *doctor_environment_library(struct doctor_environment *e)
{
	const char *list = doctor_environment(e, "LD_PRELOAD");

	if (!e->library && list)
		e->library = doctor_environment_find(list);
	return e->library;
}
