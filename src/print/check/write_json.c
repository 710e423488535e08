/* write_json.c - the verdict of a check as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/check/write.h"
#include "print/json/processes.h"
#include "kit/json/json_put.h"
#include "view/suppress/suppress.h"
#include "view/sites/enum_words.h"

static void sum(struct json *out, const char *name, const struct check_sum *s)
{
	JSON_OBJECT(out, name, {"sites", s->sites}, {"bytes", s->bytes}, {"blocks", s->blocks},
	    {"error_bytes", process_error(s->variance)});
}

static void processes(struct json *out, const struct check *c)
{
	static const char *const standing[] = {[CHECK_JUDGED] = "judged",
	    [CHECK_REPLACED] = "peak_only",
	    [CHECK_UNTRACED] = "not_traced",
	    [CHECK_LEFT_OUT] = "left_out"};

	json_rows(out, "processes");
	for (size_t i = 0; i < c->process_count; i++) {
		const struct check_process *x = &c->processes[i];
		const struct process *p = x->process;

		json_object(out, NULL);
		json_number(out, "pid", p->header.pid);
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
		json_end(out);
	}
	json_end(out);
}

static void limits(struct json *out, const struct check *c)
{
	json_list(out, "limits");
	for (size_t i = 0; i < c->bound_count; i++) {
		const struct check_bound *b = &c->bounds[i];

		json_object(out, NULL);
		json_text(out, "rule", check_rules()[b->rule].id);
		json_boolean(out, "fails", b->fails);
		json_number(out, "bytes", b->value);
		json_number(out, "error_bytes", b->error);
		json_number(out, "limit", b->limit);
		json_boolean(out, "close", b->is_close);
		json_number_or_null(
		    out, "pid", b->process, b->process ? b->process->process->header.pid : 0);
		json_end(out);
	}
	json_end(out);
}

static void frames(struct json *out, const struct check_site *x, const struct write_options *o)
{
	const struct frame *list = x->view->frames;

	json_list(out, "frames");
	for (uint32_t i = 0; i < x->site->frame_count; i++) {
		const struct frame *f = &list[x->site->frames[i]];
		const char *file = write_relative(f->file, o->root);

		json_object(out, NULL);
		frames_table_put_source(out, f, file ? file : f->file);
		json_number(out, "offset", f->offset);
		json_boolean(out, "inlined", f->inlined);
		json_end(out);
	}
	json_end(out);
}

static void findings(struct json *out, const struct check *c, const struct write_options *o)
{
	json_rows(out, "findings");
	for (size_t i = 0; i < c->failed_count; i++) {
		const struct check_site *x = &c->sites[i];
		const struct view_figures *f = &x->site->figures;

		json_object(out, NULL);
		json_text(out, "rule", check_rules()[x->rule].id);
		json_format(out, "fingerprint", "\"%016" PRIx64 "\"", x->fingerprint);
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
		json_end(out);
	}
	json_end(out);
}

static void suppressed(struct json *out, const struct suppress *s)
{
	json_list(out, "suppressed");
	for (size_t i = 0; s && i < suppress_count(s); i++) {
		const struct suppress_entry *e = suppress_entry(s, i);

		if (e->sites == 0)
			continue;
		json_object(out, NULL);
		json_text(out, "name", e->name);
		json_text(out, "file", e->file);
		json_number(out, "line", e->line);
		json_number(out, "sites", e->sites);
		json_number(out, "bytes", e->bytes);
		json_number(out, "blocks", e->blocks);
		json_end(out);
	}
	json_end(out);
}

static void vanished(struct json *out, const struct baseline *b)
{
	json_list(out, "gone");
	for (size_t i = 0; b && i < b->count; i++) {
		const struct baseline_item *item = &b->items[i];

		if (item->is_met)
			continue;
		json_object(out, NULL);
		json_format(out, "fingerprint", "\"%016" PRIx64 "\"", item->hash);
		json_text(out, "where", item->text);
		json_number(out, "bytes", item->bytes);
		json_number(out, "blocks", item->blocks);
		json_end(out);
	}
	json_end(out);
}

int write_json(FILE *out, const struct check *c, const struct write_options *o)
{
	struct json to = json_begin(out, o->version);

	json_text(&to, "verdict", c->is_damaged ? "unknown" : c->fails ? "fail" : "pass");
	json_number(&to, "exit_status", (uint64_t)o->exit_status);
	json_number(&to, "sample_bytes", c->sample_bytes);
	JSON_OBJECT(&to, "live", {"bytes", c->live.bytes}, {"blocks", c->live.blocks},
	    {"error_bytes", process_error(c->live.variance)});
	json_text(&to, "judged_by", c->by_verdict_count > 0 ? "verdicts" : "live");
	json_number(&to, "unjudged", c->unjudged_count);
	sum(&to, "leaked", &c->leaked);
	sum(&to, "known", &c->known);
	limits(&to, c);
	processes(&to, c);
	findings(&to, c, o);
	suppressed(&to, c->input_count ? c->inputs[0].suppress : NULL);
	vanished(&to, c->options->baseline);
	json_list(&to, "notes");
	for (size_t i = 0; i < c->note_count; i++)
		json_text(&to, NULL, c->notes[i]);
	return json_finish(&to, 0);
}
