/* export_path.c - the name of the file that export writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/export_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cmd.h"
#include "command/shell/die.h"
#include "kit/words/program_filename.h"

enum { SEQUENCE_MAX = 100000 }; /* files of one name, %n */

/*
 * Expands %e program, %p pid, %n a number, %% a percent sign; the caller frees
 * it.
 */
static char *fill_in(const char *pattern, const struct process *p, unsigned number)
{
	char program[128]; /* leaves room for other parts of the name */
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		die(CMD_INPUT, "export: out of memory");
	program_filename(p->header.exe, program, sizeof(program));
	for (; *pattern; pattern++) {
		if (pattern[0] != '%' || !strchr("epn%", pattern[1])) {
			(void)putc(*pattern, out);
			continue;
		}
		switch (*++pattern) {
		case 'e':
			(void)fputs(program, out);
			break;
		case 'p':
			(void)fprintf(out, "%u", p->header.pid);
			break;
		case 'n':
			(void)fprintf(out, "%u", number);
			break;
		default:
			(void)putc('%', out);
			break;
		}
	}
	if (fclose(out) != 0)
		die(CMD_INPUT, "export: out of memory");
	return text;
}

bool export_path_has(const char *pattern, char mark)
{
	for (; pattern && *pattern; pattern++)
		if (pattern[0] == '%' && *++pattern == mark)
			return true;
		else if (*pattern == '\0')
			break;
	return false;
}

/*
 * Was the file written while this process ran, not an earlier one with its pid?
 */
static bool is_of(const char *path, const struct process *p)
{
	struct stat st;

	/* a link, or a file of another user, is not a report of ours */
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec >=
	    p->header.start_realtime_ns;
}

static void add_previous(struct export_path *e, char *path)
{
	e->previous = reallocarray(e->previous, e->previous_count + 1, sizeof(*e->previous));
	if (!e->previous)
		die(CMD_INPUT, "export: out of memory");
	e->previous[e->previous_count++] = path;
}

void export_path_release(struct export_path *e)
{
	for (size_t i = 0; i < e->previous_count; i++)
		free(e->previous[i]);
	free(e->previous);
	free(e->path);
	e->path = NULL;
	e->previous = NULL;
	e->previous_count = 0;
}

void export_path_choose(const char *pattern, const struct process *p, struct export_path *ret)
{
	export_path_release(ret);
	if (!pattern || strcmp(pattern, "-") == 0)
		return;
	ret->path = fill_in(pattern, p, 1);
	for (unsigned n = 2;
	     n < SEQUENCE_MAX && export_path_has(pattern, 'n') && access(ret->path, F_OK) == 0;
	     n++) {
		if (is_of(ret->path, p))
			add_previous(ret, ret->path);
		else
			free(ret->path);
		ret->path = fill_in(pattern, p, n);
	}
}
