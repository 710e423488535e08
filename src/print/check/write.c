/* write.c - sentences and positions that all forms of a verdict share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/check/write.h"

#include "names/find/program.h"
#include "view/stacks/blame.h"
#include "view/sites/enum_words.h"
#include "analysis/score/score.h"
#include "kit/words/text.h"

void write_amount(FILE *out, uint64_t bytes, uint64_t blocks, double variance)
{
	uint64_t error = process_error(variance);

	(void)fprintf(out, "%s", WORDS_BYTES(bytes));
	if (error > 0)
		(void)fprintf(out, " (+-%s)", WORDS_BYTES(error));
	(void)fprintf(out, " in %s", WORDS_COUNTED(blocks, "block"));
}

void write_process(FILE *out, const struct process *p)
{
	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %u)", p->header.pid);
}

/* "Cache::put < handle < main": the functions of a fingerprint. */
static void tell_functions(FILE *out, const char *text, bool full)
{
	static const char between[] = " < ";
	const char *end;

	for (; *text; text = end) {
		char *name, *brief;

		end = strstr(text, between);
		end = end ? end : text + strlen(text);
		name = full ? NULL : strndup(text, (size_t)(end - text));
		brief = name ? shorten_name(name) : NULL;
		if (brief)
			(void)fputs(brief, out);
		else
			(void)fwrite(text, 1, (size_t)(end - text), out);
		free(name);
		free(brief);
		if (*end) {
			(void)fputs(between, out);
			end += sizeof(between) - 1;
		}
	}
}

/* ", +5.2 MiB an hour; a leak by 75 %" */
static void tell_growth(FILE *out, const struct score *s)
{
	if (s->has_rate && s->rate < 0x1p63)
		(void)fprintf(out, ", +%s an hour", WORDS_BYTES((uint64_t)(s->rate + 0.5)));
	if (s->class == SCORE_LEAK)
		(void)fputs(", while others of this place are freed", out);
	else
		(void)fprintf(out, ", never freed; a leak by %.0f %%", 100 * s->confidence);
}

static void tell_site(
    FILE *out, const struct check *c, const struct check_site *x, const struct write_options *o)
{
	write_amount(out, x->bytes, x->blocks, x->variance);
	if (x->by_verdict && x->rule != CHECK_GROWN)
		(void)fputs(x->rule == CHECK_POSSIBLE ? ", nothing certain points to them"
		                                      : ", nothing points to them",
		    out);
	if (x->rule == CHECK_GROWTH)
		tell_growth(out, x->site->score);
	if (x->rule == CHECK_NEW)
		(void)fputs(", not in the baseline", out);
	if (x->rule == CHECK_GROWN) {
		const struct baseline_item *now = baseline_find(&c->now, x->fingerprint);

		(void)fputs(", of ", out);
		write_amount(
		    out, now ? now->bytes : 0, now ? now->blocks : 0, now ? now->variance : 0);
		(void)fputs(" now; the baseline has ", out);
		write_amount(out, x->known_bytes, x->known_blocks, 0);
	}
	(void)fprintf(out, "; %s by ", enum_words_api(x->site->api));
	tell_functions(out, x->text, o->full_names);
}

static void tell_bound(FILE *out, const struct check_bound *b)
{
	static const char *const what[CHECK_RULES] = {
	    [CHECK_MAX_LIVE] = "live at the end",
	    [CHECK_MAX_LEAKED] = "not freed",
	    [CHECK_MAX_PEAK] = "live at the peak",
	};

	(void)fprintf(out, "%s", WORDS_BYTES(b->value));
	if (b->error > 0)
		(void)fprintf(out, " (+-%s)", WORDS_BYTES(b->error));
	(void)fprintf(out, " %s", what[b->rule]);
	if (b->process) {
		(void)fputs(" of ", out);
		write_process(out, b->process->process);
	}
	(void)fprintf(out, ", %s the limit of %s (--%s)%s", b->fails ? "above" : "within",
	    WORDS_BYTES(b->limit), check_rules()[b->rule].id,
	    b->is_close ? "; an estimate too close to the limit to be sure" : "");
}

char *write_site(const struct check *c, const struct check_site *x, const struct write_options *o)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	tell_site(out, c, x, o);
	(void)fclose(out);
	return text;
}

char *write_bound(const struct check_bound *b)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	tell_bound(out, b);
	(void)fclose(out);
	return text;
}

const char *write_relative(const char *file, const char *root)
{
	size_t n = root ? strlen(root) : 0;

	if (!file || !*file)
		return NULL;
	if (file[0] != '/') /* as given to the compiler, and next to its root */
		return strncmp(file, "../", 3) == 0 ? NULL : file;
	while (n > 0 && root[n - 1] == '/')
		n--;
	if (!root || strncmp(file, root, n) != 0 || file[n] != '/')
		return NULL;
	file += n;
	return file + strspn(file, "/");
}

void write_function(FILE *out, const struct frame *x, const struct write_options *o)
{
	char *brief = NULL;

	if (!x->function)
		return;
	if (!o->full_names && !x->is_missing)
		brief = shorten_name(x->function);
	text_print(out, brief ? brief : x->function);
	(void)putc(' ', out);
	free(brief);
}

void write_where(FILE *out, const struct frame *x, const struct write_options *o)
{
	const char *file = write_relative(x->file, o->root);
	const char *module = text_base(x->module);

	if (x->file) {
		text_print(out, file ? file : x->file);
		if (x->line > 0)
			(void)fprintf(out, ":%" PRIu32, x->line);
		(void)fputs(module ? " " : "", out);
	}
	if (module) {
		(void)putc('[', out);
		text_print(out, module);
		if (!x->function)
			(void)fprintf(out, "+0x%" PRIx64, x->offset);
		(void)putc(']', out);
	}
}

const struct frame *write_place(const struct check_site *x, const struct write_options *o)
{
	const struct frame *frames = x->view->frames;
	const uint32_t *stack = x->site->frames;
	uint32_t n = x->site->frame_count;

	for (uint32_t i = x->place; i < n; i++)
		if (write_relative(frames[stack[i]].file, o->root))
			return &frames[stack[i]];
	return x->place < n ? &frames[stack[x->place]] : NULL;
}

bool write_same_print(const void *items, uint32_t item, const void *key)
{
	return ((const struct check_site *)items)[item].fingerprint == *(const uint64_t *)key;
}
