/* export_opts.c - the options of export, and which formats support them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/event_opts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/options/view_opts.h"
#include "command/shell/output.h"

static void check_older(const struct export_opts *o, const struct export_format *f)
{
	if (!(f->flags & EXPORT_AGES))
		die(CMD_USAGE,
		    "export: --older-than is for csv, html and json, not for "
		    "%s",
		    f->name);
	if (o->since || o->sites.metric != VIEW_LIVE || o->sites.pool.regexp)
		die(CMD_USAGE,
		    "export: --older-than works with live blocks of the heap "
		    "only, not with other figures or differences");
}

/* Options that select sites have no meaning if whole files are copied. */
static void check_packed(const struct export_opts *o)
{
	const struct view_opts *v = &o->sites;

	if (!o->path || strcmp(o->path, "-") == 0)
		die(CMD_USAGE, "export: --format seep needs -o FILE");
	if (v->include.regexp || v->exclude.regexp || v->module.regexp ||
	    v->exclude_module.regexp || v->pool.regexp || v->wrapper.regexp || v->min_size ||
	    v->max_size || v->suppress.count > 0 || v->no_suppress || v->merge ||
	    v->skip_wrappers || v->depth != UINT_MAX || o->full)
		die(CMD_USAGE,
		    "export: --format seep copies whole processes; of the "
		    "filters, it has --pid alone");
}

const struct export_format *export_opts_format(const struct export_opts *o)
{
	const struct export_format *f;

	if (!o->format)
		die(CMD_USAGE, "export: needs --format FORMAT (--list prints the formats)");
	f = export_find(o->format);
	if (!f)
		die(CMD_USAGE,
		    "export: there is no format \"%s\" (--list prints the "
		    "formats)",
		    o->format);
	if (o->since && !(f->flags & EXPORT_SINCE))
		die(CMD_USAGE, "export: --format %s has no differences (--since)", f->name);
	if (o->sites.metric != VIEW_LIVE && !(f->flags & EXPORT_METRIC))
		die(CMD_USAGE, "export: --format %s has %s", f->name,
		    f->flags & EXPORT_DEAD ? "all figures at once" : "only what is live");
	if (o->older_ns > 0)
		check_older(o, f);
	if (o->rss && !(f->flags & EXPORT_RESIDENT))
		die(CMD_USAGE,
		    "export: --rss is for csv, html, json and pprof, not for "
		    "%s",
		    f->name);
	if (o->top > 0 && o->full)
		die(CMD_USAGE, "export: --top and --full cannot be combined");
	if (o->top > 0 && !(f->flags & EXPORT_TOP))
		die(CMD_USAGE, "export: --format %s has no largest entries (--top)", f->name);
	if (f->flags & EXPORT_PACKED)
		check_packed(o);
	if (!strstr(f->extension, ".gz"))
		output_not_packed("export", o->path);
	return f;
}

#define AT(field) offsetof(struct export_opts, field)

static const struct opts_option output[] = {
    {"format", 0, OPTS_TEXT, AT(format), 0, "FORMAT", "one of the formats that --list prints"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete (-: to stdout, the default); %e in its "
        "name is the program, %p its pid (with several processes, one file for "
        "each), %n the first free number from 1 on"},
    {"force", 0, OPTS_FLAG, AT(force), 0, NULL, "replace FILE if it exists"},
    {"since", 0, OPTS_TEXT, AT(since), 0, "INPUT",
        "write differences from an earlier INPUT, if the format has them"},
    {"older-than", 0, OPTS_TIME, AT(older_ns), 0, "TIME",
        OLDER_OPTS_MEANING "; in csv, html and json"},
    {"rss", 0, OPTS_FLAG, AT(rss), 0, NULL,
        "read which pages of a running process are resident, as seep report "
        "--rss; in csv, html, json and pprof"},
    {"list", 0, OPTS_FLAG, AT(list), 0, NULL, "list the formats"},
    {"max-output", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
    {0},
};

static const struct opts_option shape[] = {
    {"depth", 0, OPTS_COUNT, AT(sites.depth), 0, "N",
        "write at most N frames of a stack, if the format has stacks"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N", "write only the N largest entries"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "keep small sites, which html, dot and massif otherwise merge"},
    {"full-names", 0, OPTS_FLAG, AT(full_names), 0, NULL,
        "print C++ and Rust functions with all their arguments (json, html and "
        "memlog have these in any case)"},
    {"skip-wrappers", 0, OPTS_FLAG, AT(sites.skip_wrappers), 0, NULL,
        "begin stacks at the caller of strdup, xmalloc and the like"},
    {"wrapper", 0, OPTS_REGEXP, AT(sites.wrapper), 0, "RE",
        "--skip-wrappers, and functions that match are wrappers too"},
    {0},
};

const struct opts_group export_opts_groups[] = {
    {"Output", output, 0},
    {"What to show", view_opts_metrics, AT(sites)},
    {"How much of it", shape, 0},
    {"Which sites", view_opts_filters, AT(sites)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};
