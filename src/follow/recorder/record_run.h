/* record_run.h - one run of seep record, from checks to summary. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_RUN_H
#define SEEP_RECORD_RUN_H

#include "base/std.h"
#include "recording/file/chapter.h"
#include "recording/file/meta.h"
#include "follow/recorder/collect.h"
#include "names/find/names.h"
#include "follow/recorder/follow.h"
#include "attach/program/inspect.h"
#include "attach/program/launch.h"
#include "follow/recorder/leaks.h"
#include "follow/recorder/quota.h"
#include "segments/find/segment_dir.h"
#include "recording/file/recording.h"

enum { RECORD_FAILED = 125 }; /* exit code: seep itself failed */

/* The command line of seep record (command/options/record_opts.h). */
struct record_options {
	const char *output; /* NULL: seep.data, and an old one is renamed */
	bool force;
	bool require;
	bool quiet;
	bool no_follow;
	bool wait;
	bool no_deepbind;
	bool mappings;
	bool no_guess, runtime_names;
	uint64_t leaks_ns;      /* between looks for lost blocks; 0: none */
	bool retained, types;   /* what each look also keeps */
	uint64_t log_bytes;     /* of the event log; 0: none */
	bool last;              /* keep the last events of each thread */
	uint64_t rss_ns;        /* between readings of pages; 0: none */
	bool no_symbols;        /* do not store names of functions */
	const char *debug_dirs; /* where else to look for them */
	const char *export;     /* a format to write at the end; NULL: none */
	unsigned depth;
	uint64_t interval_ns;           /* 0: gets longer with time */
	uint64_t sample_bytes;          /* 0: exact */
	uint64_t max_bytes;             /* of the recording */
	struct chapter_limits chapters; /* all 0: no chapters */
	char **command;
	bool is_value; /* its name is a time or a size: maybe meant for an option */
};

struct record_run {
	struct record_options options;
	fault_say *say;      /* a line for the user */
	char file[PATH_MAX]; /* the recording, or the folder of chapters */
	struct inspect inspect;
	struct recording_writer *writer;
	struct chapter *chapter; /* whose writer it is; NULL: of none */
	int folder_fd;           /* of chapters, locked; -1: none */
	bool made_folder;
	pid_t finisher; /* our child that ends the chapter before; 0: none */
	struct segment_dir segment_dir;
	struct claim claim; /* of the name of the recording, in it */
	struct launch launch;
	struct collect collect;
	struct quota quota;
	struct embed *embed;   /* names; NULL: none are wanted */
	struct follow *follow; /* NULL: nothing is followed any more */
	struct leaks *leaks;   /* NULL: do not look for lost blocks */
	struct names_options look_naming;
	struct leaks_look_more look_more; /* beside these, at each look */
	struct rss *rss;                  /* NULL: do not read resident pages */
	struct leaks_found found;
	struct runtime_maps *maps; /* --runtime-names; NULL: not wanted */
	int line_error;            /* why not */
	uint64_t since_jiffies;    /* the tree cannot be older than this process */
	uint64_t start_ns;         /* since 1970; of the chapter */
	uint64_t oom_kills;        /* kills in our cgroup, before the start */
	uint64_t start_monotonic_ns;
	uint64_t run_monotonic_ns; /* of the first chapter; 0: this is it */
	bool said_why;             /* that the command is not traced, and why */
};

/* Is the output a folder of chapters? */
bool record_rotates(const struct record_options *o);

/*
 * Does the name of the output contain %p, which is known only when the command
 * runs? %p is the pid of the command, %h the host, %e the name of the command,
 * %t seconds since 1970, %% a percent sign.
 */
bool record_needs_pid(const struct record_options *o);

/* ---- record_start.c; 0, or an exit code after a message ---- */

/* Can the command be executed and traced? */
int record_check_command(struct record_run *r);

/* Makes the recording, as -o says. */
int record_check_output(struct record_run *r);

/*
 * With -o: refuses a name for which another recorder is at work. Needs the
 * recording and the directory of segments.
 */
int record_claim_output(struct record_run *r);

/* Empties the recording and starts the command. */
int record_start(struct record_run *r);

/* ---- record_chapters.c: --rotate; 0, or an exit code after a message ---- */

/* Makes the folder, or takes one that has chapters; begins the first. */
int record_open_chapters(struct record_run *r);
int record_begin_chapter(struct record_run *r);

/*
 * Ends the chapter, with `write_names`, in a child of ours: finding names may
 * take seconds, in which somebody has to look at the processes. One chapter at
 * a time. Negative errno of this one, or of the one before.
 */
int record_end_chapter(struct record_run *r, void (*write_names)(struct record_run *r));

/* Waits for that child. Negative errno: the chapter is not complete. */
int record_await_chapter(struct record_run *r);

/* With --force: removes the chapters that are there. Negative errno. */
int record_clear_chapters(const struct record_run *r);

/* A folder that we have made and that has nothing in it goes. */
void record_close_chapters(struct record_run *r);

/* ---- record_start.c: says once why the command is not traced ---- */

/* Called after a second, so that the user learns it before the end. */
void record_check_arrival(struct record_run *r);

/* No collector has made a segment for the command. */
void record_say_not_arrived(struct record_run *r);

/* The collector declined, for a reason of enum seg_inert. */
void record_say_declined(struct record_run *r, uint32_t reason, uint32_t place_owner, bool whole);

/* ---- record_summary.c ---- */

/* Programs that were not traced because there was no room for a segment. */
void record_warn_refused(struct record_run *r);

/* Prints what was not recorded because of the limits (follow/recorder/quota.h). */
void record_warn_cut(struct record_run *r);

/* Prints what was recorded, in a few lines. */
void record_summarise(const struct record_run *r);

#endif
