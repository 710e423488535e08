/* fingerprint.c - identifies a stack across rebuilds of its program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/fingerprint.h"

#include "view/stacks/blame.h"
#include "kit/words/text.h"

struct item {
	char *text;     /* NULL: the frame is ignored */
	uint8_t weight; /* enum blame_weight */
	bool is_main;   /* the frames from here on are ignored */
};

struct fingerprints {
	struct item *items; /* by frame */
	size_t count;
};

/* ---- names ---- */

/* Past the bracket that closes the one at `at`. */
static const char *past(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (strchr("({[", *at))
			depth++;
		else if (strchr(")}]", *at) && --depth == 0)
			return at + 1;
	}
	return at;
}

/* Is the bracket at `at` part of a name, as in "operator()"? */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	return (size_t)(at - name) >= n && memcmp(at - n, word, n) == 0;
}

/* "{lambda(int)#2}" becomes "{lambda}"; returns what follows it. */
static const char *copy_braces(const char *at, char **to)
{
	const char *end = past(at);
	size_t n = 1 + strcspn(at + 1, "(#{}");

	memcpy(*to, at, n);
	*to += n;
	if (end[-1] == '}')
		*(*to)++ = '}';
	return end;
}

char *fingerprint_function(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *text = malloc(strlen(name) + 2), *to = text;
	const char *at = name;

	if (!text)
		return NULL;
	while (*at) {
		if (*at == '(' && is_operator(name, at) && at[1] == ')') {
			*to++ = *at++;
			*to++ = *at++;
		} else if (text_begins_with(at, anonymous)) {
			memcpy(to, anonymous, sizeof(anonymous) - 1);
			to += sizeof(anonymous) - 1;
			at += sizeof(anonymous) - 1;
		} else if (*at == '(') {
			at = past(at);
			if (text_begins_with(at, " const"))
				at += strlen(" const");
		} else if (*at == '{') {
			at = copy_braces(at, &to);
		} else if (text_begins_with(at, "[abi:") || text_begins_with(at, " [clone")) {
			at = past(at);
		} else if (*at == '$' && at[1] == '_') { /* clang's lambdas */
			*to++ = *at++;
			*to++ = *at++;
			at += strspn(at, "0123456789");
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return text;
}

/* ---- frames ---- */

/* "[libfoo.so]", without the version at the end of the file's name. */
static char *module_text(const char *module)
{
	const char *base = text_base(module), *so;
	char *text;
	int n;

	if (!base)
		return strdup("[?]");
	so = strstr(base, ".so");
	n = so ? (int)(so - base) + 3 : (int)strlen(base);
	return asprintf(&text, "[%.*s]", n, base) < 0 ? NULL : text;
}

static int fill(struct item *item, const struct frame *x)
{
	if (x->is_missing)
		return 0;
	item->text = x->function ? fingerprint_function(x->function) : module_text(x->module);
	if (!item->text)
		return -ENOMEM;
	item->weight = BLAME_OWN;
	if (blame_is_system(x->module))
		item->weight = BLAME_SYSTEM;
	else if (x->function && blame_is_library(x->function))
		item->weight = BLAME_LIBRARY;
	item->is_main = x->is_main && x->function && strcmp(x->function, "main") == 0;
	return 0;
}

int fingerprints_new(const struct view *v, struct fingerprints **ret)
{
	struct fingerprints *f = calloc(1, sizeof(*f));
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->items = calloc(v->frame_count + 1, sizeof(*f->items));
	if (!f->items) {
		free(f);
		return -ENOMEM;
	}
	f->count = v->frame_count;
	for (size_t i = 0; i < f->count && err == 0; i++)
		err = fill(&f->items[i], &v->frames[i]);
	if (err < 0)
		fingerprints_free(f);
	else
		*ret = f;
	return err;
}

void fingerprints_free(struct fingerprints *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		free(f->items[i].text);
	free(f->items);
	free(f);
}

/* ---- sites ---- */

/* FNV-1a */
static uint64_t hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (h ^ '\n') * UINT64_C(0x100000001b3);
}

static void add_text(struct fingerprint *ret, const char *text)
{
	size_t len = strlen(ret->text), room = sizeof(ret->text) - len;

	(void)snprintf(ret->text + len, room, "%s%s", len ? " < " : "", text);
}

/* Takes the frames of at least this weight; false: there is none. */
static bool take(const struct fingerprints *f, const struct view_site *site, uint8_t weight,
    struct fingerprint *ret)
{
	const char *last = NULL;
	unsigned taken = 0;

	*ret = (struct fingerprint){.hash = UINT64_C(0xcbf29ce484222325)};
	for (uint32_t i = 0; i < site->frame_count && taken < FINGERPRINT_FRAMES; i++) {
		const struct item *item = &f->items[site->frames[i]];

		if (!item->text || item->weight < weight)
			continue;
		if (!last || strcmp(last, item->text) != 0) {
			if (taken++ == 0)
				ret->place = i;
			ret->hash = hash_text(ret->hash, item->text);
			add_text(ret, item->text);
			last = item->text;
		}
		if (item->is_main)
			break;
	}
	return taken > 0;
}

void fingerprints_site(
    const struct fingerprints *f, const struct view_site *site, struct fingerprint *ret)
{
	uint8_t weight = BLAME_OWN;

	while (!take(f, site, weight, ret) && weight > BLAME_SYSTEM)
		weight--;
	if (ret->text[0] == '\0')
		add_text(ret, "(no frames)");
}
