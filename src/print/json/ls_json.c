/* ls_json.c - the list of seep ls as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/ls_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "print/json/figures.h"
#include "print/json/processes.h"
#include "segments/read/losses.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/os/clock.h"
#include "kit/json/json_put.h"

enum { SCHEMA = 1 };

static size_t listed;

void ls_json_begin(void)
{
	(void)printf("{\"schema\":%d", SCHEMA);
	json_text(stdout, "seep", SEEP_VERSION);
	json_text(stdout, "kind", "ls");
	(void)fputs(",\"processes\":[", stdout);
	listed = 0;
}

static void put_path(const struct ls_row *r)
{
	char *path;

	if (asprintf(&path, "%s%s%s", r->folder, r->folder[0] ? "/" : "", r->name) < 0)
		path = NULL;
	json_text(stdout, "path", path);
	free(path);
}

void ls_json_process(const struct ls_row *r)
{
	const struct process *p = r->process;
	const struct seg_header *h = &p->header;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	(void)printf("%s\n{\"pid\":%u,\"inner_pid\":%u,\"ppid\":%u", listed++ ? "," : "",
	    ls_row_pid(p), h->pid, h->ppid);
	json_boolean(stdout, "pid_is_ours", p->running_pid > 0);
	json_number(stdout, "uid", r->owner);
	json_text(stdout, "program", program_started_as(h));
	json_text(stdout, "exe", h->exe);
	json_processes_command(stdout, h);
	json_text(stdout, "state", ls_row_state(p));
	json_text(stdout, "end", enum_words_end(p->end));
	if (p->is_out_of_memory)
		json_boolean(stdout, "out_of_memory", true);
	json_text(stdout, "mode", enum_words_mode(h->mode));
	json_text(stdout, "inert_reason",
	    h->state == SEG_INERT || h->inert_reason != SEG_INERT_NONE
	        ? losses_inert(h->inert_reason)
	        : NULL);
	json_processes_place(stdout, h);
	json_number(stdout, "sample_bytes", h->sample_bytes);
	json_boolean(stdout, "snapshot", p->is_snapshot);
	json_time(stdout, "start", h->start_realtime_ns);
	json_number(stdout, "age_ms",
	    now_ns > h->start_realtime_ns ? (now_ns - h->start_realtime_ns) / 1000000 : 0);
	json_number(stdout, "allocations", p->totals.allocations);
	json_number(stdout, "allocated_bytes", p->totals.allocated_bytes);
	json_number(stdout, "frees", p->totals.frees);
	json_number(stdout, "freed_bytes", p->totals.freed_bytes);
	json_number(stdout, "live_blocks", p->totals.live_blocks);
	json_number(stdout, "live_bytes", p->totals.live_bytes);
	json_number(stdout, "peak_bytes", p->totals.peak_bytes);
	json_number(stdout, "children_untraced", h->counts[SEG_CHILDREN_UNTRACED]);
	json_text(stdout, "session", h->session[0] ? h->session : NULL);
	json_hex(stdout, "uuid", h->uuid, sizeof(h->uuid));
	put_path(r);
	json_number(stdout, "stored_bytes", r->stored_bytes);
	(void)putchar('}');
}

void ls_json_end(const struct ls_json_end *e)
{
	(void)fputs("]", stdout);
	json_boolean(stdout, "complete", e->unread_files == 0 && e->unread_children == 0);
	json_number(stdout, "unread_files", e->unread_files);
	json_number(stdout, "unread_children", e->unread_children);
	if (e->pruned) {
		json_number(stdout, "removed_files", e->removed);
		json_number(stdout, "freed_slots", e->freed);
	}
	(void)fputs("}\n", stdout);
}
