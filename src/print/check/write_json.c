/* write_json.c - the verdict of a check as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "print/check/write.h"
#include "print/json/frames_table.h"
#include "print/json/verdict_json.h"
#include "kit/json/json_put.h"
#include "view/suppress/suppress.h"
#include "view/sites/enum_words.h"

enum { SCHEMA = 1 };

static void sum(FILE *out, const char *name, const struct check_sum *s)
{
	(void)fprintf(out,
	    ",\"%s\":{\"sites\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64
	    ",\"error_bytes\":%" PRIu64 "}",
	    name, s->sites, s->bytes, s->blocks, process_error(s->variance));
}

static void processes(FILE *out, const struct check *c)
{
	static const char *const standing[] = {[CHECK_JUDGED] = "judged",
	    [CHECK_REPLACED] = "peak_only",
	    [CHECK_UNTRACED] = "not_traced",
	    [CHECK_LEFT_OUT] = "left_out"};

	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < c->process_count; i++) {
		const struct check_process *x = &c->processes[i];
		const struct process *p = x->process;

		(void)fprintf(out, "%s\n{\"pid\":%u", i ? "," : "", p->header.pid);
		json_text(out, "input", x->input->name);
		json_text(out, "exe", p->header.exe);
		json_text(out, "end", enum_words_end(p->end));
		if (p->is_out_of_memory)
			json_boolean(out, "out_of_memory", true);
		json_text(out, "standing", standing[x->standing]);
		json_number(out, "leaked_bytes", x->leaked_bytes);
		json_number(out, "leaked_blocks", x->leaked_blocks);
		json_number(out, "live_bytes", p->totals.live_bytes);
		json_number(out, "live_blocks", p->totals.live_blocks);
		json_number(out, "peak_bytes", p->totals.peak_bytes);
		json_boolean(out, "by_verdict", x->by_verdict);
		verdict_json_process(out, x->input->session, p);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

static void limits(FILE *out, const struct check *c)
{
	(void)fputs(",\"limits\":[", out);
	for (size_t i = 0; i < c->bound_count; i++) {
		const struct check_bound *b = &c->bounds[i];

		(void)fprintf(out, "%s{\"rule\":\"%s\"", i ? "," : "", check_rules()[b->rule].id);
		json_boolean(out, "fails", b->fails);
		json_number(out, "bytes", b->value);
		json_number(out, "error_bytes", b->error);
		json_number(out, "limit", b->limit);
		json_boolean(out, "close", b->is_close);
		if (b->process)
			json_number(out, "pid", b->process->process->header.pid);
		else
			(void)fputs(",\"pid\":null", out);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

static void frames(FILE *out, const struct check_site *x, const struct write_options *o)
{
	const struct frame *list = x->view->frames;

	(void)fputs(",\"frames\":[", out);
	for (uint32_t i = 0; i < x->site->frame_count; i++) {
		const struct frame *f = &list[x->site->frames[i]];
		const char *file = write_relative(f->file, o->root);

		(void)fputs(i ? ",{" : "{", out);
		frames_table_put_source(out, f, file ? file : f->file);
		json_number(out, "offset", f->offset);
		json_boolean(out, "inlined", f->inlined);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

static void findings(FILE *out, const struct check *c, const struct write_options *o)
{
	(void)fputs(",\"findings\":[", out);
	for (size_t i = 0; i < c->failed_count; i++) {
		const struct check_site *x = &c->sites[i];
		const struct view_figures *f = &x->site->figures;

		(void)fprintf(out, "%s\n{\"rule\":\"%s\",\"fingerprint\":\"%016" PRIx64 "\"",
		    i ? "," : "", check_rules()[x->rule].id, x->fingerprint);
		json_text(out, "where", x->text);
		json_text(out, "api", enum_words_api(x->site->api));
		json_number(out, "pid", c->processes[x->process].process->header.pid);
		json_number(out, "site", x->site->id);
		json_number(out, "live_bytes", f->all.live_bytes);
		json_number(out, "live_blocks", f->all.live_blocks);
		json_number(out, "error_bytes", process_error(f->variance_live));
		json_number(out, "leaked_bytes", x->bytes);
		json_number(out, "leaked_blocks", x->blocks);
		json_key(out, "verdict");
		verdict_json_site(out, x->view, x->site);
		json_number(out, "baseline_bytes", x->known_bytes);
		json_number(out, "baseline_blocks", x->known_blocks);
		frames(out, x, o);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

static void suppressed(FILE *out, const struct suppress *s)
{
	const char *comma = "";

	(void)fputs(",\"suppressed\":[", out);
	for (size_t i = 0; s && i < suppress_count(s); i++) {
		const struct suppress_entry *e = suppress_entry(s, i);

		if (e->sites == 0)
			continue;
		(void)fprintf(out, "%s{\"name\":", comma);
		json_string(out, e->name);
		json_text(out, "file", e->file);
		json_number(out, "line", e->line);
		json_number(out, "sites", e->sites);
		json_number(out, "bytes", e->bytes);
		json_number(out, "blocks", e->blocks);
		(void)putc('}', out);
		comma = ",";
	}
	(void)fputs("]", out);
}

static void vanished(FILE *out, const struct baseline *b)
{
	const char *comma = "";

	(void)fputs(",\"gone\":[", out);
	for (size_t i = 0; b && i < b->count; i++) {
		const struct baseline_item *item = &b->items[i];

		if (item->is_met)
			continue;
		(void)fprintf(out, "%s{\"fingerprint\":\"%016" PRIx64 "\"", comma, item->hash);
		json_text(out, "where", item->text);
		json_number(out, "bytes", item->bytes);
		json_number(out, "blocks", item->blocks);
		(void)putc('}', out);
		comma = ",";
	}
	(void)fputs("]", out);
}

int write_json(FILE *out, const struct check *c, const struct write_options *o)
{
	(void)fprintf(out, "{\"schema\":%d", SCHEMA);
	json_text(out, "seep", o->version);
	json_text(out, "verdict", c->is_damaged ? "unknown" : c->fails ? "fail" : "pass");
	json_number(out, "exit_status", (uint64_t)o->exit_status);
	json_number(out, "sample_bytes", c->sample_bytes);
	(void)fprintf(out,
	    ",\"live\":{\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"error_bytes\":%" PRIu64 "}",
	    c->live.bytes, c->live.blocks, process_error(c->live.variance));
	json_text(out, "judged_by", c->by_verdict_count > 0 ? "verdicts" : "live");
	json_number(out, "unjudged", c->unjudged_count);
	sum(out, "leaked", &c->leaked);
	sum(out, "known", &c->known);
	limits(out, c);
	processes(out, c);
	findings(out, c, o);
	suppressed(out, c->input_count ? c->inputs[0].suppress : NULL);
	vanished(out, c->options->baseline);
	(void)fputs(",\"notes\":[", out);
	for (size_t i = 0; i < c->note_count; i++) {
		(void)fputs(i ? "," : "", out);
		json_string(out, c->notes[i]);
	}
	(void)fputs("]}\n", out);
	return ferror(out) ? -EIO : 0;
}
