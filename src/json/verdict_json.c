/* verdict_json.c - verdicts as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "json/verdict_json.h"

#include <errno.h>
#include <inttypes.h>

#include "json/frames_table.h"
#include "report/program.h"
#include "report/verdict_text.h"
#include "report/words.h"
#include "util/json_put.h"

enum { SCHEMA = 1 };

static void
put_rate(FILE *out, const char *name, bool is_known, double rate)
{
	if (is_known)
		json_number(out, name, (uint64_t)rate);
	else
		(void)fprintf(out, ",\"%s\":null", name);
}

static void
put_freers(FILE *out, const struct verdict_entry *e)
{
	(void)fputs(",\"freed_by\":[", out);
	for (size_t i = 0; i < e->freer_count; i++) {
		const struct verdict_freer *f = &e->freers[i];

		(void)fprintf(out, "%s{\"share\":%.3f", i ? "," : "", f->share);
		json_text(out, "function", f->function);
		json_text(out, "module", f->module);
		json_text(out, "file", f->file);
		if (f->line)
			json_number(out, "line", f->line);
		else
			(void)fputs(",\"line\":null", out);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

void
verdict_json_site(
    FILE *out, const struct verdicts *v, const struct verdict_entry *e)
{
	const struct verdict_site *x = &e->sum;
	const struct verdict_rate *rate = &e->rate;
	const char *note;

	(void)fprintf(out, "{\"class\":\"%s\"",
	    x->class == VERDICT_LEAK ? "leak" : "possible");
	json_text(out, "basis", "unreachable");
	/* what nothing points to is proven; all else says why it is not */
	if (x->class == VERDICT_LEAK)
		(void)fputs(",\"confidence\":1", out);
	else
		(void)fputs(",\"confidence\":null", out);
	json_number(out, "blocks", x->blocks);
	json_number(out, "bytes", x->bytes);
	json_number(out, "direct_blocks", x->direct_blocks);
	json_number(out, "direct_bytes", x->direct_bytes);
	json_number(out, "indirect_blocks", x->indirect_blocks);
	json_number(out, "indirect_bytes", x->indirect_bytes);
	json_number(out, "cycle_blocks", x->cycle_blocks);
	json_number(out, "cycle_bytes", x->cycle_bytes);
	put_rate(out, "rate", rate->is_known, rate->bytes);
	put_rate(out, "rate_low", rate->is_known, rate->low);
	put_rate(out, "rate_high", rate->is_known, rate->high);
	json_number(out, "looks", v->looks);
	json_number(out, "first_birth_tick", x->first_birth);
	json_number(out, "last_birth_tick", x->last_birth);
	json_number(out, "held_again", x->held_again);
	json_number(out, "freed_late", x->freed_late);
	put_freers(out, e);
	(void)fputs(",\"held_by\":null", out);
	json_text(out, "type", x->type);
	(void)fputs(",\"notes\":[", out);
	for (size_t i = 0; (note = verdict_text_note(x->notes, i)); i++)
		(void)fprintf(out, "%s\"%s\"", i ? "," : "", note);
	(void)fputs("]}", out);
}

void
verdict_json_process(FILE *out, const struct verdicts *v)
{
	(void)fprintf(out, "{\"looks\":%u", v->looks);
	json_text(
	    out, "reason", v->reason ? verdict_text_reason(v->reason) : NULL);
	json_boolean(out, "at_exit", v->at_exit);
	json_boolean(out, "stopped", v->stopped);
	json_boolean(out, "heads_only", v->heads_only);
	json_number(out, "begin_ns", v->begin_ns);
	json_number(out, "end_ns", v->end_ns);
	json_number(out, "blocks", v->blocks);
	json_number(out, "bytes", v->bytes);
	json_number(out, "refused_blocks", v->refused_blocks);
	json_number(out, "ignored_blocks", v->ignored_blocks);
	json_number(out, "ignored_bytes", v->ignored_bytes);
	json_number(out, "swapped_bytes", v->swapped_bytes);
	json_number(out, "unreadable_bytes", v->unreadable_bytes);
	json_number(out, "device_bytes", v->device_bytes);
	json_number(out, "ring_bytes", v->ring_bytes);
	(void)putc('}', out);
}

static void
put_sum(FILE *out, const char *name, const struct verdict_sum *s)
{
	(void)fprintf(out,
	    ",\"%s\":{\"sites\":%" PRIu64 ",\"blocks\":%" PRIu64
	    ",\"bytes\":%" PRIu64 "}",
	    name, s->sites, s->blocks, s->bytes);
}

static int
put_entries(FILE *out, const struct verdict_list *l)
{
	struct frames_table *frames;
	int err = frames_table_new(l->view, NULL, &frames);

	(void)fputs(",\"sites\":[", out);
	for (size_t i = 0; i < l->count && err == 0; i++) {
		const struct verdict_entry *e = &l->at[i];

		(void)fprintf(
		    out, "%s\n{\"id\":%" PRIu32, i ? "," : "", e->sum.site);
		json_number(out, "sites", e->sites);
		json_boolean(out, "inherited", e->is_inherited);
		json_text(out, "api", e->site ? words_api(e->site->api) : NULL);
		json_key(out, "verdict");
		verdict_json_site(out, l->verdicts, e);
		if (e->site)
			err = frames_table_put(out, frames, e->site);
		else
			(void)fputs(",\"frames\":[]", out);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
	frames_table_free(frames);
	return err;
}

int
verdict_json_write(FILE *out, const struct verdict_list *l,
    const struct verdict_json_options *o)
{
	const struct seg_header *h = &l->process->header;
	int err;

	(void)fprintf(out, "{\"schema\":%d", SCHEMA);
	json_text(out, "seep", o->version);
	json_number(out, "exit_status", (uint64_t)o->exit_status);
	json_number(out, "pid", h->pid);
	json_text(out, "program", program_name(h));
	json_text(out, "exe", h->exe);
	json_number(out, "pause_ns", o->pause_ns);
	json_key(out, "verdict");
	verdict_json_process(out, l->verdicts);
	put_sum(out, "leaks", &l->leaks);
	put_sum(out, "possible", &l->possible);
	put_sum(out, "left_out", &l->left_out);
	err = put_entries(out, l);
	(void)fputs("}\n", out);
	if (err == 0 && ferror(out))
		err = -EIO;
	return err;
}
