/* report_text.h - prints a session: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_TEXT_H
#define SEEP_REPORT_TEXT_H

#include "findings/rss_rules.h"
#include "print/text/body.h"
#include "print/text/layout.h"
#include "session/load/session.h"
#include "session/process/process.h"
#include "view/sites/view.h"

/*
 * Prints one process in full. For several: a list, then the largest ones, or
 * with options->view.merge all as one. -ENOMEM, -EIO if ferror(), -ESRCH: no
 * process has options->view.pid.
 */
int report_text_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

/* Says what could not be named, one line each. */
void report_text_notes(const struct layout *p, const struct names *names);

/* ---- summary: prints the first paragraph of a report ---- */

/*
 * Process, duration, how it ended, live blocks, peak and its time, losses; ends
 * with a newline.
 */
void summary_write(const struct layout *p, const struct process *process);

/* The same for all processes of a session together; pid 0: all. */
void summary_write_all(const struct layout *p, const struct session *s, uint32_t pid);

/* ---- site: prints everything that is known of one site ---- */

/*
 * The site with this id, in every process that has one: figures, sizes, ages,
 * time line, whole stack. -ENOMEM, -EIO; -ENOENT: there is none.
 */
int site_write(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id);

/* The same with the stack before the figures: for a screen that shows those. */
int site_write_stack_first(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id);

/* ---- mappings_text: prints who mapped the memory that a process has mapped ---- */

/*
 * The mappings of each process by caller, the largest first, with the part that
 * is resident if mapped_pages_read() has read it. -ENOMEM; -ESRCH: no such process;
 * -ENODATA: no process of the session has mappings by caller.
 */
int mappings_text_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

/* One line for a report of the heap; nothing if there are no mappings. */
void mappings_text_write_line(const struct layout *p, const struct process *x);

/* Does the process record mappings, or has it recorded some? */
bool mappings_text_has(const struct process *x);

/* Is the site of all mappings that the allocator has made? */
bool mappings_text_is_allocators(const struct process *x, const struct view_site *s);

/* What the site has now; NULL: not known. */
const struct mapped_site *mappings_text_resident(
    const struct process *x, const struct view_site *s);

/* ---- rss_text: the account of resident memory as text, and what to do about it ---- */

/* The site that keeps most beyond its own bytes; its name and figures. */
struct rss_holder {
	const struct rss_site *site; /* NULL: none */
	char *name;                  /* of its function, for free() */
};

/*
 * The account of process->rss_account: a line for each class, the sentence, the
 * advice, and the course if there are several readings. Nothing if there is no
 * reading. -ENOMEM.
 */
int rss_text_write(const struct layout *p, const struct session *s, const struct process *process,
    struct names *names, const struct view_options *options);

/* One line for a verdict: RSS = live + rounding + ... -ENOMEM. */
int rss_text_write_line(const struct layout *p, const struct session *s,
    const struct process *process, struct names *names);

/* ---- unseen: a sentence about memory that did not come from malloc ---- */

/* Prints how much it is, and what it may be. Nothing if it does not matter. */
void unseen_write(const struct layout *p, const struct process *process);

#endif
