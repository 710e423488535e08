/* view_opts.c - the options of all commands that select and shape sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/view_opts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "view/sites/amount.h"
#include "view/sites/enum_words.h"

enum { TREE_FRAMES = 24, TABLE_FRAMES = 3, TOP = 20 };

const struct view_opts view_opts_default = {
    .depth = UINT_MAX, .order = -1, .top = TOP, .threshold = 1};

#define AT(field) offsetof(struct view_opts, field)

const struct opts_option view_opts_metrics[] = {
    {"live", 0, OPTS_CHOICE, AT(metric), VIEW_LIVE, NULL,
        "show blocks that are not freed (the default)"},
    {"peak", 0, OPTS_CHOICE, AT(metric), VIEW_PEAK, NULL, "show blocks that were live at the peak"},
    {"allocs", 0, OPTS_CHOICE, AT(metric), VIEW_ALLOCS, NULL, "show all allocations, freed or not"},
    {"temporary", 0, OPTS_CHOICE, AT(metric), VIEW_TEMPORARY, NULL,
        "show blocks that were freed within 0.2 seconds"},
    {0},
};

const struct opts_option view_opts_shapes[] = {
    {"tree", 0, OPTS_CHOICE, AT(shape), BODY_TREE, NULL,
        "print functions and their callers (the default)"},
    {"top-down", 0, OPTS_FLAG, AT(top_down), 0, NULL,
        "print the tree from main on, callees below callers"},
    {"lines", 0, OPTS_FLAG, AT(by_line), 0, NULL,
        "show each line of a function separately in the tree"},
    {"by-api", 0, OPTS_FLAG, AT(by_api), 0, NULL,
        "group stacks by the function that allocates: malloc, calloc, realloc, "
        "operator new, ..."},
    {"table", 0, OPTS_CHOICE, AT(shape), BODY_TABLE, NULL,
        "print a table: one line per site, with sizes and ages"},
    {"sort", 0, OPTS_WORD, AT(order), 0, "bytes|blocks|calls|holds|pins",
        "sort by bytes (the default), blocks, or calls of an allocation "
        "function, the largest first; or by resident pages that are kept "
        "(holds), or the part of them that is not its own (pins)"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N", "show the N largest (default 20, 0: all)"},
    {"threshold", 0, OPTS_PERCENT, AT(threshold), 0, "PCT",
        "leave out what is below PCT percent (default 1)"},
    {"depth", 0, OPTS_COUNT, AT(depth), 0, "N",
        "merge stacks whose N innermost frames are the same (0: no; default "
        "24 in a tree of callers)"},
    {"skip-wrappers", 0, OPTS_FLAG, AT(skip_wrappers), 0, NULL,
        "begin stacks at the caller of xmalloc, g_malloc, std::allocator and "
        "the like"},
    {"wrapper", 0, OPTS_REGEXP, AT(wrapper), 0, "RE",
        "--skip-wrappers, and functions that match are wrappers too"},
    {"full-names", 0, OPTS_FLAG, AT(full_names), 0, NULL,
        "print C++ and Rust functions with all their arguments"},
    {"all-frames", 0, OPTS_FLAG, AT(all_frames), 0, NULL,
        "show the frames of libc that call main or the function of a "
        "thread, and those of a runtime between functions of its language"},
    {"no-fold", 0, OPTS_FLAG, AT(no_fold), 0, NULL, "show recursion frame by frame"},
    {0},
};

const struct opts_option view_opts_filters[] = {
    {"include", 0, OPTS_REGEXP, AT(include), 0, "RE",
        "include only stacks in which a function matches"},
    {"exclude", 0, OPTS_REGEXP, AT(exclude), 0, "RE", "exclude stacks in which a function matches"},
    {"module", 0, OPTS_REGEXP, AT(module), 0, "RE",
        "include only stacks that pass through a matching program or "
        "library"},
    {"exclude-module", 0, OPTS_REGEXP, AT(exclude_module), 0, "RE",
        "exclude stacks that pass through a matching program or "
        "library"},
    {"min-size", 0, OPTS_SIZE, AT(min_size), 0, "BYTES",
        "include only sites that have blocks of BYTES or more"},
    {"max-size", 0, OPTS_SIZE, AT(max_size), 0, "BYTES",
        "include only sites that have blocks of BYTES or less"},
    {"pool", 0, OPTS_REGEXP, AT(pool), 0, "RE",
        "show allocations that the program reported with seep_alloc() "
        "under a matching name, instead of the heap"},
    {"pid", 0, OPTS_COUNT, AT(pid), 0, "N", "include only process N"},
    {"merge", 0, OPTS_FLAG, AT(merge), 0, NULL, "merge several processes into one"},
    {"suppress", 0, OPTS_LIST, AT(suppress), 0, "FILE",
        "leave out what matches an entry of FILE, which is written as for "
        "LeakSanitizer or valgrind"},
    {"no-suppress", 0, OPTS_FLAG, AT(no_suppress), 0, NULL,
        "do not leave out start-up remainders of the system's libraries"},
    {0},
};

static void load(const char *command, struct suppress *s, const char *path)
{
	struct fault where = {""};
	int err = suppress_load(s, path, &where);

	if (err == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", command);
	if (err == -EBADMSG)
		die(CMD_INPUT, "%s: --suppress: %s", command, where.text);
	if (err < 0)
		die(CMD_INPUT, "%s: --suppress: %s: cannot be read: %s", command, path,
		    strerror(-err));
}

/* The built-in list is for live blocks; a file is for everything. */
static struct suppress *suppressions(const char *command, const struct view_opts *v)
{
	struct suppress *s;
	bool builtin = !v->no_suppress && v->metric == VIEW_LIVE;

	if (!builtin && v->suppress.count == 0)
		return NULL;
	if (suppress_new(&s) < 0 || (builtin && suppress_builtin(s) < 0))
		die(CMD_INPUT, "%s: out of memory", command);
	for (size_t i = 0; i < v->suppress.count; i++)
		load(command, s, v->suppress.items[i]);
	return s;
}

void view_opts_finish_exact(
    const char *command, const struct view_opts *v, struct view_options *ret)
{
	if (v->max_size > 0 && v->min_size > v->max_size)
		die(CMD_USAGE, "%s: --min-size is above --max-size", command);
	*ret = (struct view_options){
	    .metric = v->metric,
	    .pid = v->pid,
	    .include = v->include.regexp,
	    .exclude = v->exclude.regexp,
	    .module = v->module.regexp,
	    .exclude_module = v->exclude_module.regexp,
	    .pool = v->pool.regexp,
	    .min_size = v->min_size,
	    .max_size = v->max_size,
	    .skip_wrappers = v->skip_wrappers || v->wrapper.regexp,
	    .wrapper = v->wrapper.regexp,
	    .all_frames = v->all_frames,
	    .depth = v->depth == UINT_MAX ? 0 : v->depth,
	    .merge = v->merge,
	    .suppress = suppressions(command, v),
	};
}

const char *view_opts_for_text(const struct view_opts *v)
{
	if (v->shape == BODY_TABLE)
		return "--table";
	if (v->top_down)
		return "--top-down";
	if (v->by_line)
		return "--lines";
	if (v->order >= 0 && !amount_is_resident(v->order))
		return "--sort";
	if (v->top != view_opts_default.top && v->top != 0)
		return "--top";
	if (v->threshold != view_opts_default.threshold && v->threshold > 0)
		return "--threshold";
	return NULL;
}

void view_opts_warn_text(const char *command, const struct view_opts *v, const char *format)
{
	const char *idle = view_opts_for_text(v);

	if (idle)
		die_warn("%s: %s is for text, and has no effect: %s has all "
		         "sites",
		    command, idle, format);
}

void view_opts_finish(const char *command, const struct view_opts *v, struct body_options *ret)
{
	struct body_options o = {
	    .builtin_only = v->suppress.count == 0,
	    .shape = v->shape,
	    .order = v->order,
	    .top_down = v->top_down,
	    .by_line = v->by_line,
	    .top = v->top,
	    .frames = v->depth == UINT_MAX ? TABLE_FRAMES : 0,
	    .threshold = v->threshold,
	};

	if (v->shape == BODY_TABLE && v->top_down)
		die_warn("%s: --table is no tree; --top-down has no effect", command);
	view_opts_finish_exact(command, v, &o.view);
	o.rss = amount_is_resident(v->order);
	o.view.with_holds = o.rss;
	o.view.group = true;
	o.view.fold = !v->no_fold;
	o.view.trim = !v->all_frames;
	/* stacks that begin with main, and rows of a table, end with it anyway */
	o.view.by_api = v->by_api && v->shape == BODY_TREE && !v->top_down;
	if (v->depth == UINT_MAX && v->shape == BODY_TREE && !v->top_down) {
		o.view.depth = TREE_FRAMES;
		o.view.depth_from_own = true;
	}
	if (v->order < 0)
		o.order = v->metric == VIEW_TEMPORARY ? AMOUNT_BLOCKS : AMOUNT_BYTES;
	*ret = o;
}

/* ---- older_opts: --older-than TIME: blocks by age ---- */

struct older *older_opts_find(const char *command, const struct session *s, uint64_t age_ns)
{
	struct older *o;
	int err;

	if (age_ns == 0)
		return NULL;
	err = older_new(s, age_ns, &o);
	if (err == -ERANGE)
		die(CMD_USAGE,
		    "%s: --older-than: below %s the ages of blocks are known "
		    "only while a process runs",
		    command, WORDS_TIME(OLDER_MIN_NS));
	if (err < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	return o;
}

void older_opts_warn(const char *command, const struct older *o)
{
	char *text = NULL, *rest, *line;
	struct older_about about;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	older_about(o, NULL, &about);
	if (out)
		older_remarks(out, &about);
	if (!out || fclose(out) != 0)
		die(CMD_INPUT, "%s: out of memory", command);
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			die_warn("%s: --older-than: %s", command, line);
	free(text);
}

/* ---- name_opts: the options of all commands that print names of functions ---- */

#define NAME_OPTS_AT(field) offsetof(struct names_options, field)

enum { PATIENCE = 60, PATIENCE_WITH_SERVERS = 600 }; /* seconds */

const struct opts_option name_opts_rows[] = {
    {"debug-dir", 0, OPTS_PATHS, NAME_OPTS_AT(debug_dirs), 0, "DIR",
        "search DIR for debug information and modules"},
    {"sysroot", 0, OPTS_TEXT, NAME_OPTS_AT(sysroot), 0, "DIR",
        "look below DIR for the programs and libraries that ran"},
    {"debuginfod", 0, OPTS_FLAG, NAME_OPTS_AT(debuginfod), 0, NULL,
        "ask the servers in DEBUGINFOD_URLS for debug information"},
    {"no-cache", 0, OPTS_FLAG, NAME_OPTS_AT(no_cache), 0, NULL, "do not use the cache of names"},
    {"no-symbols", 0, OPTS_FLAG, NAME_OPTS_AT(no_symbols), 0, NULL,
        "print modules and offsets instead of names"},
    {"patience", 0, OPTS_COUNT, NAME_OPTS_AT(seconds), 0, "SECONDS",
        "stop looking for names after SECONDS (default 60; with --debuginfod "
        "600)"},
    {0},
};

static void check_directory(const char *command, const char *option, const char *path, size_t len)
{
	char copy[4096];
	struct stat st;

	(void)snprintf(copy, sizeof(copy), "%.*s", (int)len, path);
	if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode))
		die(CMD_USAGE, "%s: %s: no such directory: \"%s\"", command, option, copy);
}

static void tell(void *context, const char *path)
{
	(void)context;
	progress_begin("reading debug information of", path);
}

void name_opts_check(const char *command, const char *debug_dirs)
{
	for (const char *p = debug_dirs; p && *p;) {
		size_t len = strcspn(p, ":");

		check_directory(command, "--debug-dir", p, len);
		p += len + (p[len] == ':');
	}
}

struct names *name_opts_open(const char *command, const struct names_options *o)
{
	struct names_options options = *o;
	struct names *names;

	name_opts_check(command, o->debug_dirs);
	if (o->sysroot)
		check_directory(command, "--sysroot", o->sysroot, strlen(o->sysroot));
	options.progress = tell;
	if (options.seconds == 0)
		options.seconds = o->debuginfod ? PATIENCE_WITH_SERVERS : PATIENCE;
	if (names_new(&options, &names) < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	return names;
}

void name_opts_gather(struct names *names, const struct session *s)
{
	/* frames without memory for this are looked up later, one by one */
	for (size_t i = 0; i < s->count; i++)
		(void)names_gather(names, s->processes[i]);
}
