/* write_sarif.c - the verdict of a check as SARIF 2.1.0. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/stacks/fingerprint.h"
#include "print/check/write.h"
#include "kit/json/json_put.h"
#include "names/find/program.h"
#include "view/sites/verdict.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/* A path as part of a URI. JSON needs no escapes in it. */
static void uri(FILE *out, const char *path)
{
	for (; *path; path++) {
		unsigned char b = (unsigned char)*path;

		if (isascii(b) && (isalnum(b) || strchr("-._~/+@,=", b)))
			(void)putc(b, out);
		else
			(void)fprintf(out, "%%%02X", b);
	}
}

static void rules(FILE *out)
{
	for (int i = 0; i < CHECK_RULES; i++) {
		const struct check_rule_text *r = &check_rules()[i];

		(void)fprintf(out, "%s\n{\"id\":\"%s\"", i ? "," : "", r->id);
		(void)fprintf(out,
		    ",\"shortDescription\":{\"text\":\"%s\"}"
		    ",\"help\":{\"text\":\"%s\"}"
		    ",\"defaultConfiguration\":{\"level\":\"error\"}}",
		    r->title, r->help);
	}
}

/* If no source is known, the position is the program or library. */
static void artifact(
    FILE *out, const struct frame *x, const char *module, const struct write_options *o)
{
	const char *file = x ? write_relative(x->file, o->root) : NULL;
	const char *binary = write_relative(module, o->root);

	if (file) {
		(void)fputs("{\"uri\":\"", out);
		uri(out, file);
		(void)fputs("\",\"uriBaseId\":\"SRCROOT\"}", out);
	} else if (x && x->file && x->file[0] == '/') {
		(void)fputs("{\"uri\":\"file://", out);
		uri(out, x->file);
		(void)fputs("\"}", out);
	} else {
		(void)fputs("{\"uri\":\"", out);
		uri(out, binary ? binary : module ? text_base(module) : "unknown");
		(void)fputs("\"", out);
		(void)fputs(binary ? ",\"uriBaseId\":\"SRCROOT\"}" : "}", out);
	}
}

static void location(
    FILE *out, const struct frame *x, const char *module, const struct write_options *o)
{
	(void)fputs("{\"physicalLocation\":{\"artifactLocation\":", out);
	artifact(out, x, module, o);
	if (x && x->file && x->line > 0)
		(void)fprintf(out, ",\"region\":{\"startLine\":%" PRIu32 "}", x->line);
	(void)putc('}', out);
	if (x && x->function && !x->is_missing) {
		(void)fputs(",\"logicalLocations\":[{\"fullyQualifiedName\":", out);
		json_shown(out, x->function);
		(void)fputs(",\"kind\":\"function\"}]", out);
	}
	(void)putc('}', out);
}

static void stack(FILE *out, const struct check_site *x, const struct write_options *o)
{
	const struct frame *list = x->view->frames;
	const char *comma = "";

	(void)fputs(",\"stacks\":[{\"message\":{\"text\":\"where the memory was "
	            "allocated\"},\"frames\":[",
	    out);
	for (uint32_t i = 0; i < x->site->frame_count; i++) {
		const struct frame *f = &list[x->site->frames[i]];

		if (f->is_missing)
			continue;
		(void)fprintf(out, "%s\n{\"location\":", comma);
		location(out, f, f->module, o);
		if (f->module) {
			(void)fputs(",\"module\":", out);
			json_shown(out, text_base(f->module));
		}
		(void)putc('}', out);
		comma = ",";
	}
	(void)fputs("]}]", out);
}

/* Frees `says`. */
static void result_begin(FILE *out, enum check_rule rule, char *says, const char *comma)
{
	const char *title = check_rules()[rule].title;
	char *message = NULL;

	if (says && asprintf(&message, "%s: %s", title, says) < 0)
		message = NULL;
	free(says);
	(void)fprintf(out,
	    "%s\n{\"ruleId\":\"%s\",\"ruleIndex\":%d,\"kind\":\"fail\","
	    "\"level\":\"error\",\"message\":{\"text\":",
	    comma, check_rules()[rule].id, (int)rule);
	json_shown(out, message ? message : title);
	free(message);
	(void)fputs("},\"locations\":[", out);
}

static void site_result(FILE *out, const struct check *c, const struct check_site *x,
    const struct write_options *o, const char *comma)
{
	const struct process *p = c->processes[x->process].process;
	const struct process_figures *f = &x->site->figures.all;
	const struct frame *place = write_place(x, o);

	result_begin(out, x->rule, write_site(c, x, o), comma);
	location(out, place, place && place->module ? place->module : p->header.exe, o);
	(void)putc(']', out);
	stack(out, x, o);
	(void)fprintf(out,
	    ",\"partialFingerprints\":{\"seepStack/v%d\":\"%016" PRIx64 "\"}"
	    ",\"properties\":{\"liveBytes\":%" PRIu64 ",\"liveBlocks\":%" PRIu64
	    ",\"leakedBytes\":%" PRIu64 ",\"leakedBlocks\":%" PRIu64 ",\"program\":",
	    FINGERPRINT_VERSION, x->fingerprint, f->live_bytes, f->live_blocks, x->bytes,
	    x->blocks);
	json_shown(out, text_base(p->header.exe));
	(void)fputs("}}", out);
}

static void bound_result(FILE *out, const struct check *c, const struct check_bound *b,
    const struct write_options *o, const char *comma)
{
	const struct check_process *x = b->process ? b->process : c->processes;
	const char *exe = x->process->header.exe;

	result_begin(out, b->rule, write_bound(b), comma);
	location(out, NULL, exe, o);
	(void)fprintf(
	    out, "],\"partialFingerprints\":{\"seepLimit/v1\":\"%s\"}}", check_rules()[b->rule].id);
}

/* A process that nobody could look at, if that counts as a failure. */
static void unjudged_result(
    FILE *out, const struct check_process *x, const struct write_options *o, const char *comma)
{
	const struct process *p = x->process;
	char *says;

	if (asprintf(&says, "%s (pid %u): %s", program_name(&p->header), p->header.pid,
	        verdict_why_not_words(p)) < 0)
		says = NULL;
	result_begin(out, CHECK_UNJUDGED, says, comma);
	location(out, NULL, p->header.exe, o);
	(void)fputs("],\"partialFingerprints\":{\"seepUnjudged/v1\":", out);
	json_shown(out, program_name(&p->header));
	(void)fputs("}}", out);
}

static void results(FILE *out, const struct check *c, const struct write_options *o)
{
	const char *comma = "";

	for (size_t i = 0; i < c->bound_count; i++) {
		if (!c->bounds[i].fails || c->process_count == 0)
			continue;
		bound_result(out, c, &c->bounds[i], o, comma);
		comma = ",";
	}
	for (size_t i = 0; c->options->fail_on_unjudged && i < c->process_count; i++) {
		if (!check_is_unjudged(&c->processes[i]))
			continue;
		unjudged_result(out, &c->processes[i], o, comma);
		comma = ",";
	}
	for (size_t i = 0; c->lists_sites && i < c->failed_count; i++) {
		site_result(out, c, &c->sites[i], o, comma);
		comma = ",";
	}
}

static void invocation(FILE *out, const struct check *c, const struct write_options *o)
{
	(void)fprintf(out,
	    "{\"executionSuccessful\":%s,\"exitCode\":%d"
	    ",\"toolExecutionNotifications\":[",
	    c->is_damaged ? "false" : "true", o->exit_status);
	for (size_t i = 0; i < c->note_count; i++) {
		(void)fprintf(out, "%s{\"level\":\"%s\",\"message\":{\"text\":", i ? "," : "",
		    c->is_damaged ? "error" : "note");
		json_shown(out, c->notes[i]);
		(void)fputs("}}", out);
	}
	(void)fputs("]}", out);
}

int write_sarif(FILE *out, const struct check *c, const struct write_options *o)
{
	const char *root = o->root ? o->root : "/";

	(void)fputs("{\"$schema\":\"https://json.schemastore.org/"
	            "sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
	            "\"tool\":{\"driver\":{\"name\":\"seep\",\"version\":",
	    out);
	json_string(out, o->version);
	(void)fputs(",\"rules\":[", out);
	rules(out);
	(void)fputs("]}},\n\"invocations\":[", out);
	invocation(out, c, o);
	(void)fputs("],\n\"originalUriBaseIds\":{\"SRCROOT\":{\"uri\":\"file://", out);
	uri(out, root);
	(void)fputs(root[strlen(root) - 1] == '/' ? "" : "/", out);
	(void)fputs("\"}},\n\"results\":[", out);
	results(out, c, o);
	(void)fputs("]}]}\n", out);
	return ferror(out) ? -EIO : 0;
}
