/* write_sarif.c - the verdict of a check as SARIF 2.1.0. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "view/stacks/fingerprint.h"
#include "print/check/write.h"
#include "kit/json/json_put.h"
#include "names/find/program.h"
#include "view/sites/verdict.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/* "uri": `scheme`, a path and what comes behind it. JSON needs no escapes in it. */
static void put_uri(struct json *out, const char *scheme, const char *path, const char *behind)
{
	json_format(out, "uri", "\"%s", scheme);
	for (; *path; path++) {
		unsigned char b = (unsigned char)*path;

		if (isascii(b) && (isalnum(b) || strchr("-._~/+@,=", b)))
			(void)putc(b, out->file);
		else
			(void)fprintf(out->file, "%%%02X", b);
	}
	(void)fprintf(out->file, "%s\"", behind);
}

/* An object with one text. */
static void put_text(struct json *out, const char *name, const char *key, const char *text)
{
	json_object(out, name);
	json_shown(out, key, text);
	json_end(out);
}

static void rules(struct json *out)
{
	json_rows(out, "rules");
	for (int i = 0; i < CHECK_RULES; i++) {
		const struct check_rule_text *r = &check_rules()[i];

		json_object(out, NULL);
		json_text(out, "id", r->id);
		put_text(out, "shortDescription", "text", r->title);
		put_text(out, "help", "text", r->help);
		put_text(out, "defaultConfiguration", "level", "error");
		json_end(out);
	}
	json_end(out);
}

/* If no source is known, the position is the program or library. */
static void artifact(
    struct json *out, const struct frame *x, const char *module, const struct write_options *o)
{
	const char *file = x ? write_relative(x->file, o->root) : NULL;
	const char *binary = write_relative(module, o->root);
	bool is_absolute = !file && x && x->file && x->file[0] == '/';

	json_object(out, "artifactLocation");
	if (is_absolute)
		put_uri(out, "file://", x->file, "");
	else
		put_uri(out, "",
		    file         ? file
		        : binary ? binary
		        : module ? text_base(module)
		                 : "unknown",
		    "");
	if (file || (binary && !is_absolute))
		json_text(out, "uriBaseId", "SRCROOT");
	json_end(out);
}

/* An item of a list, or the value of a key. */
static void location(
    struct json *out, const struct frame *x, const char *module, const struct write_options *o)
{
	json_object(out, NULL);
	json_object(out, "physicalLocation");
	artifact(out, x, module, o);
	if (x && x->file && x->line > 0)
		JSON_OBJECT(out, "region", {"startLine", x->line});
	json_end(out);
	if (x && x->function && !x->is_missing) {
		json_list(out, "logicalLocations");
		json_object(out, NULL);
		json_shown(out, "fullyQualifiedName", x->function);
		json_text(out, "kind", "function");
		json_ends(out, 2);
	}
	json_end(out);
}

static void stack(struct json *out, const struct check_site *x, const struct write_options *o)
{
	const struct frame *list = x->view->frames;

	json_list(out, "stacks");
	json_object(out, NULL);
	put_text(out, "message", "text", "where the memory was allocated");
	json_rows(out, "frames");
	for (uint32_t i = 0; i < x->site->frame_count; i++) {
		const struct frame *f = &list[x->site->frames[i]];

		if (f->is_missing)
			continue;
		json_object(out, NULL);
		json_key(out, "location");
		location(out, f, f->module, o);
		if (f->module)
			json_shown(out, "module", text_base(f->module));
		json_end(out);
	}
	json_ends(out, 3);
}

/* A result up to its location. Frees `says`. */
static void result_begin(struct json *out, enum check_rule rule, char *says, const struct frame *x,
    const char *module, const struct write_options *o)
{
	const char *title = check_rules()[rule].title;
	char *message = NULL;

	if (says && asprintf(&message, "%s: %s", title, says) < 0)
		message = NULL;
	free(says);
	json_object(out, NULL);
	json_text(out, "ruleId", check_rules()[rule].id);
	json_number(out, "ruleIndex", rule);
	json_text(out, "kind", "fail");
	json_text(out, "level", "error");
	put_text(out, "message", "text", message ? message : title);
	free(message);
	json_list(out, "locations");
	location(out, x, module, o);
	json_end(out);
}

static void site_result(struct json *out, const struct check *c, const struct check_site *x,
    const struct write_options *o)
{
	const struct process *p = c->processes[x->process].process;
	const struct process_figures *f = &x->site->figures.all;
	const struct frame *place = write_place(x, o);
	char key[sizeof("seepStack/v") + 10];

	result_begin(out, x->rule, write_site(c, x, o), place,
	    place && place->module ? place->module : p->header.exe, o);
	stack(out, x, o);
	(void)snprintf(key, sizeof(key), "seepStack/v%d", FINGERPRINT_VERSION);
	json_object(out, "partialFingerprints");
	json_format(out, key, "\"%016" PRIx64 "\"", x->fingerprint);
	json_end(out);
	json_object(out, "properties");
	json_number(out, "liveBytes", f->live_bytes);
	json_number(out, "liveBlocks", f->live_blocks);
	json_number(out, "leakedBytes", x->bytes);
	json_number(out, "leakedBlocks", x->blocks);
	json_shown(out, "program", text_base(p->header.exe));
	json_ends(out, 2);
}

static void bound_result(struct json *out, const struct check *c, const struct check_bound *b,
    const struct write_options *o)
{
	const struct check_process *x = b->process ? b->process : c->processes;
	const char *exe = x->process->header.exe;

	result_begin(out, b->rule, write_bound(b), NULL, exe, o);
	put_text(out, "partialFingerprints", "seepLimit/v1", check_rules()[b->rule].id);
	json_end(out);
}

/* A process that nobody could look at, if that counts as a failure. */
static void unjudged_result(
    struct json *out, const struct check_process *x, const struct write_options *o)
{
	const struct process *p = x->process;
	char *says;

	if (asprintf(&says, "%s (pid %u): %s", program_name(&p->header), p->header.pid,
	        verdict_why_not_words(p)) < 0)
		says = NULL;
	result_begin(out, CHECK_UNJUDGED, says, NULL, p->header.exe, o);
	put_text(out, "partialFingerprints", "seepUnjudged/v1", program_name(&p->header));
	json_end(out);
}

static void results(struct json *out, const struct check *c, const struct write_options *o)
{
	for (size_t i = 0; i < c->bound_count; i++) {
		if (!c->bounds[i].fails || c->process_count == 0)
			continue;
		bound_result(out, c, &c->bounds[i], o);
	}
	for (size_t i = 0; c->options->fail_on_unjudged && i < c->process_count; i++) {
		if (!check_is_unjudged(&c->processes[i]))
			continue;
		unjudged_result(out, &c->processes[i], o);
	}
	for (size_t i = 0; c->lists_sites && i < c->failed_count; i++)
		site_result(out, c, &c->sites[i], o);
}

static void invocation(struct json *out, const struct check *c, const struct write_options *o)
{
	json_object(out, NULL);
	json_boolean(out, "executionSuccessful", !c->is_damaged);
	json_signed(out, "exitCode", o->exit_status);
	json_list(out, "toolExecutionNotifications");
	for (size_t i = 0; i < c->note_count; i++) {
		json_object(out, NULL);
		json_text(out, "level", c->is_damaged ? "error" : "note");
		put_text(out, "message", "text", c->notes[i]);
		json_end(out);
	}
	json_ends(out, 2);
}

int write_sarif(FILE *file, const struct check *c, const struct write_options *o)
{
	const char *root = o->root ? o->root : "/";
	struct json json = {.file = file}, *out = &json;

	json_object(out, NULL);
	json_text(out, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_text(out, "version", "2.1.0");
	json_list(out, "runs");
	json_object(out, NULL);
	json_object(out, "tool");
	json_object(out, "driver");
	json_text(out, "name", "seep");
	json_text(out, "version", o->version);
	rules(out);
	json_ends(out, 2);
	json_line(out);
	json_list(out, "invocations");
	invocation(out, c, o);
	json_end(out);
	json_line(out);
	json_object(out, "originalUriBaseIds");
	json_object(out, "SRCROOT");
	put_uri(out, "file://", root, root[strlen(root) - 1] == '/' ? "" : "/");
	json_ends(out, 2);
	json_line(out);
	json_rows(out, "results");
	results(out, c, o);
	return json_finish(out, 0);
}
