/* frames.c - names and numbers the frames of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/frames.h"

#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "view/stacks/blame.h"
#include "kit/words/text.h"

enum { SENTENCES = 16 };

/* A code address that was looked up, and its frames. */
struct asked {
	uint64_t word;    /* offset and SEG_FRAME_EXACT */
	uint32_t module;  /* number in modules + 1, 0: in none */
	uint32_t process; /* the process, if it is in no module */
	bool is_guessed;
	uint32_t first, count; /* in numbers */
};

struct sentence {
	const char *words;
	uint32_t frame;
};

/* A build-id alone does not identify a module: see names_source(). */
struct module {
	const struct process_module *file;
	uint64_t source;
};

struct frames {
	struct names *names;
	const struct process *process;
	uint32_t process_number;
	uint32_t *module_of; /* by number in the process: as in struct asked */
	/* the same file in several processes is one module */
	struct module *modules;
	size_t module_count, module_room;
	struct dict module_index;
	struct asked *asked;
	size_t asked_count, asked_room;
	struct dict asked_index;
	uint32_t *numbers;
	size_t number_count, number_room;
	struct frame *list;
	size_t count, room;
	struct dict place_index, label_index;
	struct sentence sentences[SENTENCES];
	size_t sentence_count;
	bool joins_programs, shortens;
	char **briefs; /* short names that differ, ours to free */
	size_t brief_count, brief_room;
};

int frames_new(struct names *names, struct frames **ret)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->names = names;
	*ret = f;
	return 0;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	dict_release(&f->module_index);
	dict_release(&f->asked_index);
	dict_release(&f->place_index);
	dict_release(&f->label_index);
	free(f->module_of);
	free(f->modules);
	free(f->asked);
	free(f->numbers);
	free(f->list);
	for (size_t i = 0; i < f->brief_count; i++)
		free(f->briefs[i]);
	free(f->briefs);
	free(f);
}

/* ---- modules ---- */

static bool same_module(const void *items, uint32_t item, const void *key)
{
	const struct module *x = (const struct module *)items + item, *y = key;
	const struct process_module *a = x->file, *b = y->file;

	return x->source == y->source && a->build_id_bytes == b->build_id_bytes &&
	    memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 && text_same(a->path, b->path);
}

static int add_module(struct frames *f, const struct process_module *m, uint32_t *ret)
{
	const struct module fresh = {.file = m, .source = names_source(f->names, f->process, m)};
	uint64_t id;
	uint32_t at;
	int err;

	err = room_make(&f->modules, &f->module_room, f->module_count, sizeof(*f->modules));
	if (err < 0)
		return err;
	memcpy(&id, m->build_id, sizeof(id));
	err = dict_find(&f->module_index, dict_hash(dict_hash_text(m->path), id, m->build_id_bytes),
	    same_module, f->modules, &fresh, (uint32_t)f->module_count, &at);
	if (err < 0)
		return err;
	if (at == f->module_count)
		f->modules[f->module_count++] = fresh;
	*ret = at + 1;
	return 0;
}

void frames_join_programs(struct frames *f)
{
	f->joins_programs = true;
}

void frames_shorten(struct frames *f)
{
	f->shortens = true;
}

int frames_begin(struct frames *f, const struct process *p, uint32_t number)
{
	uint32_t *module_of = calloc(p->module_count + 1, sizeof(*module_of));
	int err = 0;

	if (!module_of)
		return -ENOMEM;
	free(f->module_of);
	f->module_of = module_of;
	f->process = p;
	f->process_number = number;
	for (size_t i = 1; i < p->module_count && err == 0; i++)
		if (p->modules[i].end != 0)
			err = add_module(f, &p->modules[i], &module_of[i]);
	return err;
}

/* ---- frames ---- */

/* The name of a module without its version; it has *ret_len bytes. */
static const char *family_of(const struct frame *x, size_t *ret_len)
{
	const char *base = text_base(x->module), *so;

	*ret_len = 0;
	if (!base || x->is_any)
		return "";
	so = strstr(base, ".so");
	*ret_len = so ? (size_t)(so - base) : strlen(base);
	return base;
}

static bool same_family(const struct frame *a, const struct frame *b)
{
	size_t n, k;
	const char *x = family_of(a, &n), *y = family_of(b, &k);

	return n == k && memcmp(x, y, n) == 0;
}

/*
 * A script has no module, and many functions without a name: its file and the
 * line where a function begins are a part of what it is.
 */
static bool same_source(const struct frame *a, const struct frame *b)
{
	if (!a->language && !b->language)
		return true;
	return a->language == b->language && a->line == b->line && text_same(a->file, b->file);
}

static bool same_label(const void *items, uint32_t item, const void *key)
{
	const struct frame *a = (const struct frame *)items + item;
	const struct frame *b = key;

	return a->is_missing == b->is_missing && text_same(a->function, b->function) &&
	    (a->function || a->offset == b->offset) && same_family(a, b) && same_source(a, b);
}

static bool same_place(const void *items, uint32_t item, const void *key)
{
	const struct frame *a = (const struct frame *)items + item;
	const struct frame *b = key;

	return a->line == b->line && same_label(items, item, key) && text_same(a->file, b->file) &&
	    text_same(a->module, b->module);
}

/* Makes the short name of a function that is new. -ENOMEM. */
static int find_brief(struct frames *f, struct frame *x)
{
	char *brief;

	x->brief = x->function;
	if (!f->shortens || !x->function || x->is_missing)
		return 0;
	if (room_make(&f->briefs, &f->brief_room, f->brief_count, sizeof(char *)) < 0)
		return -ENOMEM;
	brief = shorten_name(x->function);
	if (!brief)
		return -ENOMEM;
	if (strcmp(brief, x->function) == 0)
		free(brief);
	else
		x->brief = f->briefs[f->brief_count++] = brief;
	return 0;
}

static int add_frame(struct frames *f, const struct frame *fresh, uint32_t *ret)
{
	uint32_t n = (uint32_t)f->count;
	const char *family;
	struct frame *x;
	size_t len;
	uint64_t h;

	if (room_make(&f->list, &f->room, f->count, sizeof(*f->list)) < 0)
		return -ENOMEM;
	x = &f->list[n];
	*x = *fresh;
	x->is_any = x->is_main && x->function && f->joins_programs;
	family = family_of(x, &len);
	h = dict_hash(
	    dict_hash_text(x->function), dict_hash_bytes(family, len), x->function ? 0 : x->offset);
	if (x->language) /* see same_source() */
		h = dict_hash(h, dict_hash_text(x->file), x->line);
	if (dict_find(&f->label_index, h, same_label, f->list, x, n, &x->label) < 0)
		return -ENOMEM;
	x->weight = x->label == n ? blame_weigh(x) : f->list[x->label].weight;
	x->machinery = x->label == n ? (uint8_t)machinery_of(x) : f->list[x->label].machinery;
	if (x->label != n)
		x->brief = f->list[x->label].brief;
	else if (find_brief(f, x) < 0)
		return -ENOMEM;
	/* it is in the index from here on, so it must stay */
	f->count++;
	x->place = n;
	*ret = n;
	return dict_find(&f->place_index, dict_hash(h, dict_hash_text(x->file), x->line),
	    same_place, f->list, x, n, &x->place);
}

static int add_number(struct frames *f, uint32_t number)
{
	if (room_make(&f->numbers, &f->number_room, f->number_count, sizeof(*f->numbers)) < 0)
		return -ENOMEM;
	f->numbers[f->number_count++] = number;
	return 0;
}

static bool same_asked(const void *items, uint32_t item, const void *key)
{
	const struct asked *a = (const struct asked *)items + item;
	const struct asked *b = key;

	return a->word == b->word && a->module == b->module && a->process == b->process &&
	    a->is_guessed == b->is_guessed;
}

/* Names it; a frame without a name is a frame all the same. */
static int add_chain(struct frames *f, uint64_t word, struct asked *a)
{
	const struct process_module *m = process_module(f->process, word);
	const struct names_frame *chain;
	size_t n = names_chain(f->names, f->process, word, &chain);
	int err = 0;

	a->first = (uint32_t)f->number_count;
	for (size_t i = 0; i < n && err == 0; i++) {
		struct frame x = {.function = chain[i].function,
		    .symbol = chain[i].symbol,
		    .file = chain[i].file,
		    .line = chain[i].line,
		    .api = chain[i].api,
		    .inlined = chain[i].inlined,
		    .folded = chain[i].folded,
		    .language = (uint8_t)(m ? MAPNAME_NATIVE : mapname_language(chain[i].symbol)),
		    .is_guessed = a->is_guessed,
		    .module = m ? m->path : NULL,
		    .is_main = m && m->is_main,
		    .offset = SEG_FRAME_PC(word) - (m ? m->base : 0)};
		uint32_t number;

		err = add_frame(f, &x, &number);
		if (err == 0)
			err = add_number(f, number);
	}
	a->count = (uint32_t)f->number_count - a->first;
	return err;
}

int frames_find(struct frames *f, uint64_t word, bool is_guessed, struct frames_span *ret)
{
	const struct process_module *m = process_module(f->process, word);
	struct asked key;
	uint32_t at;
	int err;

	err = room_make(&f->asked, &f->asked_room, f->asked_count, sizeof(*f->asked));
	if (err < 0)
		return err;
	key = (struct asked){.module = m ? f->module_of[SEG_FRAME_MODULE(word)] : 0,
	    .process = m ? 0 : f->process_number,
	    .is_guessed = is_guessed,
	    .word = (SEG_FRAME_PC(word) - (m ? m->base : 0)) ^ (word & SEG_FRAME_EXACT)};
	err = dict_find(&f->asked_index, dict_hash(key.word, key.module, key.process), same_asked,
	    f->asked, &key, (uint32_t)f->asked_count, &at);
	if (err < 0)
		return err;
	if (at == f->asked_count) {
		err = add_chain(f, word, &key);
		f->asked[f->asked_count++] = key;
		if (err < 0)
			return err;
	}
	*ret = (struct frames_span){
	    .numbers = f->numbers + f->asked[at].first, .count = f->asked[at].count};
	return 0;
}

int frames_missing(struct frames *f, const char *words, uint32_t *ret)
{
	struct frame x = {.function = words, .is_missing = true};
	size_t i;
	int err;

	for (i = 0; i < f->sentence_count; i++) {
		if (strcmp(f->sentences[i].words, words) == 0) {
			*ret = f->sentences[i].frame;
			return 0;
		}
	}
	err = add_frame(f, &x, ret);
	if (err == 0 && i < SENTENCES)
		f->sentences[f->sentence_count++] =
		    (struct sentence){.words = words, .frame = *ret};
	return err;
}

int frames_plain(struct frames *f, uint32_t *number)
{
	struct frame x = f->list[*number];
	uint32_t fresh;
	int err;

	if (x.line == 0 || x.is_missing || x.language)
		return 0;
	x.line = 0;
	err = add_frame(f, &x, &fresh);
	if (err < 0)
		return err;
	*number = f->list[fresh].place;
	if (*number != fresh)
		f->count--; /* it is in no index, because it existed already */
	return 0;
}

const struct frame *frames_list(const struct frames *f, size_t *ret_count)
{
	*ret_count = f->count;
	return f->list;
}
