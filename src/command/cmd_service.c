/* cmd_service.c - seep service: traces a unit of systemd by a drop-in. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "attach/program/launch.h"
#include "attach/service/service_run.h"
#include "attach/doctor/doctor.h"
#include "attach/program/inspect.h"
#include "attach/service/unit.h"
#include "kit/words/text.h"

#define VERBS "enable|disable|status"
enum { VERB_ENABLE, VERB_DISABLE, VERB_STATUS, DEPTH_MAX = 4096 };

static _Noreturn void die_memory(void)
{
	die(CMD_INPUT, "service: out of memory");
}

/* ---- systemd ---- */

static int reload(const struct service_run *r, struct fault *where)
{
	const char *const arguments[] = {"daemon-reload", NULL};

	return systemctl_run(r->options.is_user, arguments, SYSTEMCTL_RELOAD_S, NULL, where);
}

static void restart(const struct service_run *r)
{
	const char *const arguments[] = {"restart", "--", r->unit.name, NULL};
	struct fault where = {""};

	if (systemctl_run(r->options.is_user, arguments, SYSTEMCTL_RELOAD_S, NULL, &where) < 0)
		die(CMD_INPUT, "%s is set up, but was not restarted: %s", r->unit.name, where.text);
	(void)printf("%s was restarted\n", r->unit.name);
}

static void load(struct service_run *r, const char *name)
{
	const struct unit_manager m = {.is_user = r->options.is_user};
	struct fault where = {""};
	int err = unit_load(name, &m, &r->unit, &where);

	if (err == -EINVAL)
		die(CMD_USAGE, "%s: %s", name, where.text);
	if (err < 0)
		die(CMD_INPUT, "%s: %s", name, where.text);
	err = dropin_path(&m, r->options.is_runtime, r->unit.name, r->path);
	if (err < 0)
		die(CMD_INPUT, "%s: there is no directory for units of this user: set %s",
		    r->unit.name, r->options.is_runtime ? "XDG_RUNTIME_DIR" : "HOME");
}

/* ---- what is refused before anything is written ---- */

static void refuse_state(const struct service_run *r)
{
	const char *state = unit_get(&r->unit, "LoadState");

	if (r->unit.is_masked)
		die(CMD_INPUT,
		    "%s is masked, so that it cannot be started: systemctl%s "
		    "unmask it",
		    r->unit.name, service_run_scope(r));
	if (strcmp(state, "loaded") != 0)
		die(CMD_INPUT,
		    "%s cannot be started, because systemd could not load it "
		    "(%s)",
		    r->unit.name, state);
	if (r->options.restarts && r->unit.is_template)
		die(CMD_USAGE, "%s is a template: --restart takes one of its instances",
		    r->unit.name);
}

/* Variables of EnvironmentFile= win over those of a drop-in. */
static void warn_of_files(const struct service_run *r)
{
	struct unit_environment_files files = {0};

	if (unit_environment_files(&r->unit, &files) < 0)
		die_memory();
	for (size_t i = 0; i < files.count; i++) {
		const struct unit_environment_file *f = &files.items[i];

		for (size_t n = 0; n < f->variables.count; n++)
			if (text_begins_with(f->variables.items[n], "SEEP_"))
				die_warn("%s: %s (EnvironmentFile=) sets %.*s, "
				         "which wins over the drop-in",
				    r->unit.name, f->path, (int)strcspn(f->variables.items[n], "="),
				    f->variables.items[n]);
	}
	unit_environment_files_release(&files);
}

/* What doctor finds fatal in the unit as it would be. */
static void refuse_fatal(struct service_run *r, const char *text)
{
	struct doctor_report report = {0};

	if (unit_add_text(&r->unit, r->path, text) < 0)
		die_memory();
	doctor_unit(&r->unit, &report);
	for (size_t i = 0; i < report.count; i++) {
		const struct doctor_finding *f = &report.list[i];

		if (f->state == DOCTOR_FAIL)
			die(CMD_INPUT, "%s: %s%s%s", r->unit.name, f->text,
			    f->advice[0] ? ": " : "", f->advice);
	}
	doctor_release(&report);
}

static void refuse_existing(const struct service_run *r, char **ret_old)
{
	enum dropin_state state;
	struct fault where = {""};
	int err = dropin_look(r->path, &state, ret_old, &where);

	if (err < 0)
		die(CMD_INPUT, "%s: %s", r->path, strerror(-err));
	if (state == DROPIN_CHANGED || state == DROPIN_FOREIGN)
		die(CMD_INPUT, "%s is there already, and %s; remove it first", r->path, where.text);
}

/* ---- what is written ---- */

/* The collector must be where the unit will look for it. */
static void find_library(char *path, size_t bytes)
{
	if (!preload_find(die_warn, "libseep.so", path, bytes))
		exit(CMD_INPUT);
}

/* The allocator that brings its own operator new, or "". */
static void find_allocator(const struct service_run *r, const struct quoting_words *programs,
    const char *preload, char allocator[64])
{
	allocator[0] = '\0';
	if (unit_get(&r->unit, "RootDirectory")[0])
		return; /* its libraries are others */
	if (preload)
		(void)setenv("LD_PRELOAD", preload, 1);
	else
		(void)unsetenv("LD_PRELOAD");
	for (size_t i = 0; i < programs->count && !allocator[0]; i++) {
		static struct inspect in;

		if (inspect_command(programs->items[i], &in) == 0)
			(void)snprintf(allocator, 64, "%s", in.allocator);
	}
	(void)unsetenv("LD_PRELOAD");
}

/* is_hidden: the daemon is not known, so all that the unit starts are traced. */
static char *make_text(const struct service_run *r, bool *ret_is_hidden)
{
	struct quoting_words programs = {0}, environment = {0};
	char library[4096], companions[3 * 4096], allocator[64];
	struct dropin_plan plan = {.library = library,
	    .companions = companions,
	    .base = DROPIN_BASE,
	    .sample_bytes = r->options.sample_bytes,
	    .depth = r->options.depth,
	    .is_dormant = r->options.is_dormant,
	    .no_deepbind = r->options.no_deepbind};
	char *names, *text;

	find_library(library, sizeof(library));
	if (unit_environment(&r->unit, r->path, &environment) < 0 ||
	    daemon_find(&r->unit, &programs) < 0)
		die_memory();
	plan.preload = unit_variable(&environment, "LD_PRELOAD");
	find_allocator(r, &programs, plan.preload, allocator);
	preload_companions(die_warn, allocator, companions, sizeof(companions));
	if (r->options.only)
		names = strdup(r->options.only);
	else if (daemon_names(&programs, &names) < 0)
		names = NULL;
	if (!names)
		die_memory();
	/* cppcheck-suppress nullPointer ; die_memory() ends it */
	*ret_is_hidden = !*names;
	plan.only = names;
	dropin_fit(&plan, &r->unit);
	text = dropin_text(&plan, r->unit.name);
	if (!text)
		die_memory();
	free(names);
	quoting_release(&programs);
	quoting_release(&environment);
	return text;
}

/* tmpfiles.d makes it when the machine starts; until then we do. */
static void make_base(const struct service_run *r)
{
	struct stat st;

	if (r->options.is_user || geteuid() != 0 || lstat(DROPIN_BASE, &st) == 0)
		return;
	if (mkdir(DROPIN_BASE, 01777) < 0 || chmod(DROPIN_BASE, 01777) < 0)
		die_warn("%s cannot be made: %s; segments will be in /dev/shm", DROPIN_BASE,
		    strerror(errno));
}

/* In the text of a unit "%%" is one '%'. */
static bool is_same(const char *value, const char *written)
{
	while (*written && *value == *written) {
		written += written[0] == '%' && written[1] == '%' ? 2 : 1;
		value++;
	}
	return !*value && !*written;
}

/*
 * Has systemd this variable, NAME=VALUE? What the unit preloads itself may have
 * specifiers, so of LD_PRELOAD only our own part is compared. -ENOMEM.
 */
static int is_effective(const struct quoting_words *have, const char *wanted, bool *ret)
{
	size_t n = strcspn(wanted, "=");
	char *name = strndup(wanted, n);
	const char *value = name ? unit_variable(have, name) : NULL;

	*ret = value &&
	    (strcmp(name, "LD_PRELOAD") == 0 ? strstr(value, "libseep.so") != NULL
	                                     : is_same(value, wanted + n + 1));
	free(name);
	return name ? 0 : -ENOMEM;
}

/*
 * Has systemd understood all variables of the text? -EBADMSG: not the one that
 * `where` names; other errors are those of asking it.
 */
static int check_effective(const struct service_run *r, const char *text, struct fault *where)
{
	struct quoting_words have = {0}, want = {0};
	struct unit written = {.manager = r->unit.manager}, now;
	bool is = true;
	int err;

	err = unit_load(r->unit.name, &r->unit.manager, &now, where);
	if (err < 0)
		return err;
	err = unit_list(&now, "Environment", &have);
	if (err == 0)
		err = unit_file_parse(&written.files, r->path, text);
	if (err == 0)
		err = unit_environment(&written, NULL, &want);
	for (size_t i = 0; i < want.count && err == 0; i++) {
		err = is_effective(&have, want.items[i], &is);
		if (err == 0 && !is)
			err = fault_set(where, -EBADMSG, "%.*s", (int)strcspn(want.items[i], "="),
			    want.items[i]);
	}
	if (err < 0 && err != -EBADMSG)
		(void)fault_set(where, err, "%s", strerror(-err));
	quoting_release(&have);
	quoting_release(&want);
	unit_release(&written);
	unit_release(&now);
	return err;
}

/* As it was before; `made` directories were not there. */
static void take_back(const struct service_run *r, const char *old, unsigned made)
{
	int err = old ? dropin_write(r->path, old, NULL) : dropin_remove(r->path, made);
	struct fault where;

	if (err < 0)
		die_warn("%s cannot be taken back: %s", r->path, strerror(-err));
	(void)reload(r, &where);
}

static void write_dropin(const struct service_run *r, const char *text, const char *old)
{
	unsigned made = 0;
	int err = dropin_write(r->path, text, &made);
	struct fault where = {""};

	if (err < 0)
		die(CMD_INPUT, "%s cannot be written: %s%s", r->path, strerror(-err),
		    err == -EACCES && !r->options.is_user ? "; try sudo" : "");
	err = reload(r, &where);
	if (err < 0) {
		take_back(r, old, made);
		die(CMD_INPUT,
		    "%s is as before, because systemd could not reload its "
		    "units: %s",
		    r->unit.name, where.text);
	}
	err = check_effective(r, text, &where);
	if (err < 0)
		take_back(r, old, made);
	if (err == -EBADMSG)
		die(CMD_INPUT,
		    "%s is as before, because systemd has another %s: does a "
		    "later drop-in set it? (systemctl%s cat %s)",
		    r->unit.name, where.text, service_run_scope(r), r->unit.name);
	if (err < 0)
		die(CMD_INPUT,
		    "%s is as before, because systemd did not show what it has "
		    "understood: %s",
		    r->unit.name, where.text);
}

static int enable(struct service_run *r)
{
	char *text, *old = NULL;
	bool is_hidden;

	refuse_state(r);
	refuse_existing(r, &old);
	text = make_text(r, &is_hidden);
	refuse_fatal(r, text);
	warn_of_files(r);
	if (r->options.is_dry) {
		(void)fputs("# ", stdout);
		text_print(stdout, r->path);
		(void)printf("\n%s", text);
	} else {
		write_dropin(r, text, old);
		make_base(r);
		text_print(stdout, r->path);
		(void)printf(" was written\n");
		if (r->options.restarts)
			restart(r);
		else if (r->unit.is_template)
			(void)printf("its instances are traced when they are "
			             "started next\n");
		else
			(void)printf("to have it traced, type: systemctl%s "
			             "restart %s\n",
			    service_run_scope(r), r->unit.name);
	}
	if (is_hidden)
		die_warn("%s: its command is a script, a shell or a launcher, and hides which "
		         "program is the daemon, so all that it starts are traced; name it with "
		         "--only NAME",
		    r->unit.name);
	free(text);
	free(old);
	unit_release(&r->unit);
	return output_flush();
}

static int disable(struct service_run *r)
{
	enum dropin_state state;
	struct fault where = {""};
	char *old = NULL;
	int err = dropin_look(r->path, &state, &old, &where);

	if (err < 0)
		die(CMD_INPUT, "%s: %s", r->path, strerror(-err));
	if (state == DROPIN_NONE)
		die(CMD_INPUT, "%s is not enabled: there is no %s", r->unit.name, r->path);
	if (state != DROPIN_OURS)
		die(CMD_INPUT, "%s stays, because %s", r->path, where.text);
	if (r->options.is_dry) {
		text_print(stdout, r->path);
		(void)printf(" would be removed\n");
		free(old);
		return output_flush();
	}
	err = dropin_remove(r->path, 1);
	if (err < 0)
		die(CMD_INPUT, "%s cannot be removed: %s%s", r->path, strerror(-err),
		    err == -EACCES ? "; try sudo" : "");
	if (reload(r, &where) < 0) {
		take_back(r, old, 0);
		die(CMD_INPUT,
		    "%s is as before, because systemd could not reload its "
		    "units: %s",
		    r->unit.name, where.text);
	}
	free(old);
	text_print(stdout, r->path);
	(void)printf(" was removed\n");
	if (r->options.restarts)
		restart(r);
	else if (unit_main_pid(&r->unit) > 0)
		(void)printf("it is traced until it ends: systemctl%s restart %s\n",
		    service_run_scope(r), r->unit.name);
	unit_release(&r->unit);
	return output_flush();
}

static int status(struct service_run *r)
{
	if (service_status(r, terminal_columns(STDOUT_FILENO)) < 0)
		die_memory();
	unit_release(&r->unit);
	return output_flush();
}

/* ---- the command line ---- */

#define AT(field) offsetof(struct service_options, field)

static const struct opts_option rows[] = {
    {"user", 0, OPTS_FLAG, AT(is_user), 0, NULL, "a unit of the user's own systemd"},
    {"runtime", 0, OPTS_FLAG, AT(is_runtime), 0, NULL,
        "until the machine is started again: below /run instead of /etc"},
    {"dry-run", 'n', OPTS_FLAG, AT(is_dry), 0, NULL,
        "print the drop-in, or what would be removed, and change nothing"},
    {"restart", 0, OPTS_FLAG, AT(restarts), 0, NULL, "restart the unit afterwards"},
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json",
        "of status: for people (the default), or for programs"},
    {0},
};

static const struct opts_option trace_rows[] = {
    {"only", 0, OPTS_TEXT, AT(only), 0, "NAME[:NAME]",
        "trace the programs with these names (default: the main process, or the "
        "program of ExecStart=; needed if a shell or a launcher hides it)"},
    {"sample", 0, OPTS_SIZE, AT(sample_bytes), 0, "BYTES",
        "record one block for about so many bytes, instead of all"},
    {"dormant", 0, OPTS_FLAG, AT(is_dormant), 0, NULL, "record nothing until seep on PID"},
    {"depth", 0, OPTS_COUNT, AT(depth), 0, "N", "keep the N innermost frames of a stack"},
    {"no-deepbind", 0, OPTS_FLAG, AT(no_deepbind), 0, NULL,
        "load modules without RTLD_DEEPBIND, which hides their allocations "
        "(nfs-ganesha); see seep record --help"},
    {0},
};

static const struct opts_group options[] = {
    {NULL, rows, 0}, {"What is recorded", trace_rows, 0}, {0}};

static void check_options(const struct service_options *o, int verb)
{
	if (verb != VERB_ENABLE &&
	    (o->only || o->sample_bytes || o->is_dormant || o->depth || o->no_deepbind))
		die(CMD_USAGE,
		    "service: --only, --sample, --dormant and "
		    "--depth are for enable");
	if (verb != VERB_STATUS && o->format != SERVICE_TEXT)
		die(CMD_USAGE, "service: --format is for status");
	if (verb == VERB_STATUS && (o->is_dry || o->restarts))
		die(CMD_USAGE, "service: status changes nothing");
	if (o->restarts && o->is_dry)
		die(CMD_USAGE,
		    "service: --dry-run and --restart contradict "
		    "each other");
	if (o->depth > DEPTH_MAX)
		die(CMD_USAGE, "service: --depth takes up to %d", DEPTH_MAX);
	if (o->only && (strspn(o->only, ":") == strlen(o->only)))
		die(CMD_USAGE, "service: --only takes names of programs");
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct service_run r = {0};
	int verb;

	(void)opts_parse(self, argc, argv, &r.options);
	verb = values_word(VERBS, argv[1]);
	if (verb < 0)
		die(CMD_USAGE, "service: takes one of " VERBS ", not \"%s\"", argv[1]);
	check_options(&r.options, verb);
	load(&r, argv[2]);
	if (verb == VERB_ENABLE)
		return enable(&r);
	return verb == VERB_DISABLE ? disable(&r) : status(&r);
}

const struct cmd cmd_service = {
    .name = "service",
    .summary = "trace a unit of systemd",
    .operands = VERBS " UNIT",
    .about = "Has a service of systemd traced, by a drop-in UNIT.d/50-seep.conf and "
             "nothing else. enable writes it and has systemd reload its units; the "
             "service is traced from its next start on. What cannot work is "
             "refused before anything is written. disable removes the drop-in if "
             "nobody has changed it. status prints the drop-in, the environment "
             "that systemd gives the service, and whether the processes that run "
             "are traced.\n\n"
             "The service keeps its segments in /run/seep, where they stay when it "
             "stops or crashes: seep ls lists them, seep watch keeps a history of "
             "them.",
    .options = options,
    .run = run,
};
