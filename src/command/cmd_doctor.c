/* cmd_doctor.c - seep doctor: why something is not traced, and what to do. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "attach/doctor/doctor.h"
#include "kit/json/json_put.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum { PID_DIGITS = 9 };

enum doctor_format { FORMAT_TEXT, FORMAT_JSON };

struct doctor_options {
	int format; /* enum doctor_format */
	bool quiet;
	bool user; /* the user's own systemd */
};

/* What is to be looked at. */
struct subject {
	const char *kind, *name;
};

static const char *const states[] = {
    [DOCTOR_OK] = "ok",
    [DOCTOR_WARN] = "warn",
    [DOCTOR_FAIL] = "fail",
};

/* ---- looking ---- */

static bool is_pid(const char *word)
{
	size_t n = strlen(word);

	return n > 0 && n <= PID_DIGITS && strspn(word, "0123456789") == n;
}

static void look_at_process(struct doctor_report *r, const char *word)
{
	const pid_t pid = (pid_t)strtol(word, NULL, 10);
	int err = doctor_process(r, pid);

	/* whoever is root is told of another reason */
	if (err == -ESRCH || ((err == -EACCES || err == -EPERM) && geteuid() == 0))
		input_die_pid(pid, err, &(struct fault){""});
	if (err == -EACCES || err == -EPERM)
		die(CMD_INPUT,
		    "doctor: process %s belongs to another user, or is "
		    "protected: run seep doctor as that user or as root",
		    word);
	if (err == -EBUSY)
		die(CMD_INPUT,
		    "doctor: process %s does not answer: it holds a lock of "
		    "its memory",
		    word);
	if (err == -ENODEV)
		die(CMD_INPUT, "doctor: there is no /proc here");
	if (err < 0)
		die(CMD_INPUT, "doctor: process %s: %s", word, strerror(-err));
}

/* If it is traced already, its process is looked at, too. */
static void look_at_unit(struct doctor_report *r, const char *word, const struct unit_manager *m,
    const char *why_no_command)
{
	struct fault where = {""};
	struct unit u;
	int err = unit_load(word, m, &u, &where);
	pid_t pid;

	if (err < 0 && why_no_command)
		die(CMD_INPUT, "doctor: %s: %s, and no such unit (%s)", word, why_no_command,
		    where.text);
	if (err < 0)
		die(CMD_INPUT, "doctor: %s: %s", word, where.text);
	doctor_unit(&u, r);
	pid = unit_main_pid(&u);
	if (pid > 0 && doctor_unit_is_preloaded(&u))
		(void)doctor_process(r, pid);
	unit_release(&u);
}

static bool is_unit(const char *word, const struct doctor_options *o)
{
	return !strchr(word, '/') && (text_ends_with(word, ".service") || o->user);
}

static void look_at(
    struct doctor_report *r, const char *word, const struct doctor_options *o, struct subject *s)
{
	const struct unit_manager m = {.is_user = o->user};
	int err;

	*s = (struct subject){"host", NULL};
	if (!word)
		return;
	s->name = word;
	s->kind = "unit";
	if (is_unit(word, o)) {
		look_at_unit(r, word, &m, NULL);
	} else if (is_pid(word)) {
		s->kind = "process";
		look_at_process(r, word);
	} else {
		err = doctor_command(r, word);
		if (err == -ENOENT && word[0] && !strchr(word, '/')) {
			look_at_unit(r, word, &m, "no such command");
			return;
		}
		s->kind = "command";
		if (err == -ENOENT)
			die(CMD_INPUT, "doctor: %s: no such command", word);
		if (err < 0)
			die(CMD_INPUT, "doctor: %s: cannot be executed: %s", word, strerror(-err));
	}
}

/* ---- printing ---- */

static void print_finding(const struct doctor_finding *f)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s.%s", f->group, f->check);
	(void)printf("%-5s %-22s ", states[f->state], name);
	text_print(stdout, f->text);
	if (f->advice[0]) {
		(void)fputs("; ", stdout);
		text_print(stdout, f->advice);
	}
	(void)putchar('\n');
}

static void print_text(const struct doctor_report *const *reports, size_t count, bool quiet)
{
	size_t fails = 0, warnings = 0;

	for (size_t k = 0; k < count; k++) {
		const struct doctor_report *r = reports[k];

		fails += doctor_count(r, DOCTOR_FAIL);
		warnings += doctor_count(r, DOCTOR_WARN);
		for (size_t i = 0; i < r->count; i++)
			if (!quiet || r->list[i].state != DOCTOR_OK)
				print_finding(&r->list[i]);
	}
	if (!quiet)
		(void)printf("%s, %s\n", WORDS_COUNTED(fails, "failure"),
		    WORDS_COUNTED(warnings, "warning"));
}

static void print_json(
    const struct doctor_report *const *reports, size_t count, const struct subject *s)
{
	size_t of[DOCTOR_FAIL + 1] = {0};
	struct json out;

	for (size_t k = 0; k < count; k++)
		for (int state = DOCTOR_OK; state <= DOCTOR_FAIL; state++)
			of[state] += doctor_count(reports[k], (enum doctor_state)state);
	out = json_begin(stdout, SEEP_VERSION);
	json_text(&out, "kind", "doctor");
	json_text(&out, "subject", s->kind);
	json_text(&out, "name", s->name);
	json_text(&out, "result",
	    states[of[DOCTOR_FAIL]    ? DOCTOR_FAIL
	            : of[DOCTOR_WARN] ? DOCTOR_WARN
	                              : DOCTOR_OK]);
	json_number(&out, "ok", of[DOCTOR_OK]);
	json_number(&out, "warn", of[DOCTOR_WARN]);
	json_number(&out, "fail", of[DOCTOR_FAIL]);
	json_rows(&out, "checks");
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < reports[k]->count; i++) {
			const struct doctor_finding *f = &reports[k]->list[i];

			json_object(&out, NULL);
			json_text(&out, "group", f->group);
			json_text(&out, "check", f->check);
			json_text(&out, "state", states[f->state]);
			json_text(&out, "text", f->text);
			json_text(&out, "advice", f->advice[0] ? f->advice : NULL);
			json_end(&out);
		}
	(void)json_finish(&out, 0);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct doctor_report host = {0}, named = {0};
	const struct doctor_report *const both[] = {&host, &named};
	struct doctor_options o = {0};
	struct subject s;
	int err, count;
	bool fails, silent;

	count = opts_parse(self, argc, argv, &o);
	look_at(&named, count > 0 ? argv[1] : NULL, &o, &s);
	doctor_host(&host);
	if (host.is_cut || named.is_cut)
		die(CMD_INPUT, "doctor: out of memory");
	if (o.format == FORMAT_JSON)
		print_json(both, 2, &s);
	else
		print_text(both, 2, o.quiet);
	fails = doctor_count(&host, DOCTOR_FAIL) > 0 || doctor_count(&named, DOCTOR_FAIL) > 0;
	silent = host.is_silent || named.is_silent;
	doctor_release(&host);
	doctor_release(&named);
	err = output_flush();
	return err ? err : fails ? CMD_YES : silent ? CMD_INPUT : CMD_OK;
}

static const struct opts_option rows[] = {
    {"quiet", 'q', OPTS_FLAG, offsetof(struct doctor_options, quiet), 0, NULL,
        "print warnings and failures only"},
    {"user", 0, OPTS_FLAG, offsetof(struct doctor_options, user), 0, NULL,
        "look at a unit of the user's own systemd"},
    {"format", 0, OPTS_WORD, offsetof(struct doctor_options, format), 0, "text|json",
        "for people (the default), or for programs"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0}, {0}};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "find out why something is not traced",
    .operands = "[CMD|PID|UNIT]",
    .about = "Checks the machine and, if one is named, a command before it is "
             "started, a running process, or a unit of systemd. Each check is one "
             "line: ok, warn or fail, what was found, and what to do about it. Digits "
             "are a PID, a name that ends in .service is a UNIT; other names are "
             "commands, as a shell finds them, or if there is no such command, "
             "units.\n\n"
             "The exit status is 0 if nothing fails, 1 if a check fails (the "
             "program would not be traced, or not run), 2 if the command line is "
             "wrong, and 3 if seep could not look.",
    .options = options,
    .run = run,
};
