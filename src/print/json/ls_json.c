/* ls_json.c - the list of seep ls as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "print/json/processes.h"
#include "segments/read/losses.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/os/clock.h"
#include "kit/json/json_put.h"

static struct json to;

void ls_json_begin(void)
{
	to = json_begin(stdout, SEEP_VERSION);
	json_text(&to, "kind", "ls");
	json_rows(&to, "processes");
}

static void put_path(const struct ls_row *r)
{
	char *path;

	if (asprintf(&path, "%s%s%s", r->folder, r->folder[0] ? "/" : "", r->name) < 0)
		path = NULL;
	json_text(&to, "path", path);
	free(path);
}

void ls_json_process(const struct ls_row *r)
{
	const struct process *p = r->process;
	const struct seg_header *h = &p->header;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	json_object(&to, NULL);
	json_number(&to, "pid", ls_row_pid(p));
	json_number(&to, "inner_pid", h->pid);
	json_number(&to, "ppid", h->ppid);
	json_boolean(&to, "pid_is_ours", p->running_pid > 0);
	json_number(&to, "uid", r->owner);
	json_text(&to, "program", program_started_as(h));
	json_text(&to, "exe", h->exe);
	json_processes_command(&to, h);
	json_text(&to, "state", ls_row_state(p));
	json_text(&to, "end", enum_words_end(p->end));
	if (p->is_out_of_memory)
		json_boolean(&to, "out_of_memory", true);
	json_text(&to, "mode", enum_words_mode(h->mode));
	json_text(&to, "inert_reason",
	    h->state == SEG_INERT || h->inert_reason != SEG_INERT_NONE
	        ? losses_inert(h->inert_reason)
	        : NULL);
	json_processes_place(&to, h);
	json_number(&to, "sample_bytes", h->sample_bytes);
	json_boolean(&to, "snapshot", p->is_snapshot);
	json_time(&to, "start", h->start_realtime_ns);
	json_number(&to, "age_ms",
	    now_ns > h->start_realtime_ns ? (now_ns - h->start_realtime_ns) / 1000000 : 0);
	json_number(&to, "allocations", p->totals.allocations);
	json_number(&to, "allocated_bytes", p->totals.allocated_bytes);
	json_number(&to, "frees", p->totals.frees);
	json_number(&to, "freed_bytes", p->totals.freed_bytes);
	json_number(&to, "live_blocks", p->totals.live_blocks);
	json_number(&to, "live_bytes", p->totals.live_bytes);
	json_number(&to, "peak_bytes", p->totals.peak_bytes);
	json_number(&to, "children_untraced", h->counts[SEG_CHILDREN_UNTRACED]);
	json_text(&to, "session", h->session[0] ? h->session : NULL);
	json_hex(&to, "uuid", h->uuid, sizeof(h->uuid));
	put_path(r);
	json_number(&to, "stored_bytes", r->stored_bytes);
	json_end(&to);
}

void ls_json_end(const struct ls_json_end *e)
{
	json_end(&to);
	json_boolean(&to, "complete", e->unread_files == 0 && e->unread_children == 0);
	json_number(&to, "unread_files", e->unread_files);
	json_number(&to, "unread_children", e->unread_children);
	if (e->pruned) {
		json_number(&to, "removed_files", e->removed);
		json_number(&to, "freed_slots", e->freed);
	}
	(void)json_finish(&to, 0);
}
