/* export_path.c - the name of the file that export writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/export_path.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "kit/os/helper.h"
#include "kit/words/words.h"
#include "print/export/export.h"

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

/* ---- export_at_end: exports a finished recording to another tool's format ---- */

void export_at_end_check(const char *command, const char *format)
{
	if (!export_find(format))
		die(CMD_USAGE,
		    "%s: --export: there is no format \"%s\" (seep export "
		    "--list prints them)",
		    command, format);
}

struct order {
	const char *recording, *format;
	bool quiet;
};

static int export_here(int none, void *order)
{
	const struct order *x = order;
	const char *recording = x->recording, *format = x->format;
	char verb[] = "export", o[] = "-o", *name, *input, *kind;
	int fd;

	/* stdout belongs to the command that was recorded */
	(void)none;
	fd = x->quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
	    asprintf(&name, "%%e-%%p-%%n%s", export_find(format)->extension) < 0 ||
	    asprintf(&input, "%s%s", *recording == '-' ? "./" : "", recording) < 0 ||
	    asprintf(&kind, "--format=%s", format) < 0)
		die(CMD_INPUT, "record: --export: %s", strerror(errno));
	exit(cmd_export.run(&cmd_export, 5, (char *[]){verb, kind, o, name, input, NULL}));
}

void export_at_end(const char *recording, const char *format, bool quiet)
{
	struct order order = {recording, format, quiet};
	const struct helper_plan plan = {.run = export_here, .context = &order};
	int status, err;
	pid_t pid;

	/* in a child process, because a failure there ends the program */
	(void)fflush(NULL);
	err = helper_start(&plan, &pid, NULL);
	if (err < 0) {
		die_warn("--export %s: %s", format, strerror(-err));
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
}
