/* watch_rule.c - rules of seep watch: when a process has too much, for how long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/watch_rule.h"

#include "kit/data/room.h"
#include "kit/words/words.h"

#define S UINT64_C(1000000000)

/* A year: sums of times do not wrap. */
#define TIME_MAX_NS (UINT64_C(366) * 86400 * S)

/* ---- reading ---- */

struct parser {
	const char *text, *at;
	struct rule_fault fault; /* words NULL: none so far */
};

static bool fail(struct parser *p, const char *at, const char *words)
{
	if (!p->fault.words)
		p->fault =
		    (struct rule_fault){.column = (size_t)(at - p->text) + 1, .words = words};
	return false;
}

static void skip_space(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

/* Letters, then no letter. */
static bool take_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);
	char next;

	skip_space(p);
	if (strncmp(p->at, word, len) != 0)
		return false;
	next = p->at[len];
	if ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z'))
		return false;
	p->at += len;
	return true;
}

/* Up to a space, or one of the stops. */
static const char *take_token(struct parser *p, const char *stops, size_t *ret_len)
{
	const char *start;

	skip_space(p);
	start = p->at;
	while (*p->at && *p->at != ' ' && *p->at != '\t' && !strchr(stops, *p->at))
		p->at++;
	*ret_len = (size_t)(p->at - start);
	return start;
}

static bool take_time(struct parser *p, uint64_t *ret_ns)
{
	size_t len;
	const char *start = take_token(p, "", &len);

	if (!units_time(start, len, ret_ns))
		return fail(p, start, "a time has a unit, as 30s, 10m or 2h");
	if (*ret_ns > TIME_MAX_NS)
		return fail(p, start, "more than a year");
	return true;
}

static bool take_size(struct parser *p, const char *stops, uint64_t *ret)
{
	size_t len;
	const char *start = take_token(p, stops, &len);

	return units_size(start, len, ret) ||
	    fail(p, start, "a size is expected, as 64MiB or 2GiB");
}

static bool take_sign(struct parser *p, char sign, const char *words)
{
	skip_space(p);
	if (*p->at != sign)
		return fail(p, p->at, words);
	p->at++;
	return true;
}

static bool take_growth(struct parser *p, struct rule *r)
{
	const char *start;

	if (!take_sign(p, '>', "growth is compared with \">\"") || !take_size(p, "/", &r->bytes) ||
	    !take_sign(p, '/', "a growth is a size in a time, as 64MiB/10m: \"/\" is missing"))
		return false;
	skip_space(p);
	start = p->at;
	if (!take_time(p, &r->window_ns))
		return false;
	return r->window_ns >= S || fail(p, start, "the time of a growth is a second at least");
}

/* "10%", or a size. */
static bool take_room(struct parser *p, struct rule *r)
{
	const char *start, *end;
	char *after;
	size_t len;

	if (!take_sign(p, '<', "room is compared with \"<\""))
		return false;
	skip_space(p);
	start = p->at;
	end = start + strspn(start, "0123456789.");
	if (end == start || *end != '%')
		return take_size(p, "", &r->bytes);
	(void)take_token(p, "", &len);
	r->has_percent = true;
	r->percent = strtod(start, &after);
	if (after != end || start[0] == '.' || p->at != end + 1)
		return fail(p, start, "a share is expected, as 10%");
	return r->percent <= 100 || fail(p, start, "more than 100 %");
}

static bool take_pattern(struct parser *p, struct rule *r)
{
	size_t len;
	const char *start = take_token(p, "", &len);

	if (len == 0)
		return fail(p, start, "the name of a service is missing");
	if (len >= sizeof(r->pattern))
		return fail(p, start, "this name is too long");
	memcpy(r->pattern, start, len);
	r->pattern[len] = '\0';
	return true;
}

static bool take_metric(struct parser *p, struct rule *r)
{
	if (take_word(p, "live")) {
		r->metric = RULE_LIVE;
		return take_sign(p, '>', "live is compared with \">\"") &&
		    take_size(p, "", &r->bytes);
	}
	if (take_word(p, "growth")) {
		r->metric = RULE_GROWTH;
		return take_growth(p, r);
	}
	if (take_word(p, "room")) {
		r->metric = RULE_ROOM;
		return take_room(p, r);
	}
	return fail(p, p->at, "a rule begins with live, growth or room");
}

bool watch_rule_parse(const char *text, struct rule *ret, struct rule_fault *ret_fault)
{
	struct parser p = {.text = text, .at = text};
	struct rule r = {.metric = RULE_LIVE};
	bool has_for = false, ok = take_metric(&p, &r);

	while (ok) {
		const char *start;

		skip_space(&p);
		start = p.at;
		if (*p.at == '\0')
			break;
		if (take_word(&p, "for"))
			ok = has_for ? fail(&p, start, "a second \"for\"")
			             : take_time(&p, &r.for_ns);
		else if (take_word(&p, "in"))
			ok = r.pattern[0] ? fail(&p, start, "a second \"in\"")
			                  : take_pattern(&p, &r);
		else
			ok = fail(&p, start, "only \"for TIME\" and \"in SERVICE\" may follow");
		has_for |= start[0] == 'f';
	}
	if (ok)
		*ret = r;
	else
		*ret_fault = p.fault;
	return ok;
}

/* ---- whose rule it is ---- */

/* In time of both lengths multiplied, whatever the pattern. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool watch_rule_is_for(const struct rule *r, const char *service)
{
	return r->pattern[0] == '\0' || matches(r->pattern, service);
}

/* ---- looking ---- */

/* One sample in each 64th of the window: so one is about as old as that. */
static void take_sample(const struct rule *r, struct rule_watch *w, const struct rule_look *look)
{
	const struct rule_sample *last = &w->samples[(w->sample_count - 1) % RULE_SAMPLES];

	if (w->sample_count > 0 && look->at_ns - last->at_ns < r->window_ns / 64)
		return;
	w->samples[w->sample_count++ % RULE_SAMPLES] =
	    (struct rule_sample){.at_ns = look->at_ns, .live_bytes = look->live_bytes};
}

/* Since the youngest sample that is as old as the window. */
static bool find_growth(const struct rule *r, struct rule_watch *w, const struct rule_look *look)
{
	size_t n = w->sample_count;
	size_t first = n > RULE_SAMPLES ? n - RULE_SAMPLES : 0;

	while (n-- > first) {
		const struct rule_sample *x = &w->samples[n % RULE_SAMPLES];

		if (look->at_ns - x->at_ns < r->window_ns)
			continue;
		w->value = (double)look->live_bytes - (double)x->live_bytes;
		return w->value > (double)r->bytes;
	}
	w->value = 0;
	return false;
}

static bool is_passed(const struct rule *r, struct rule_watch *w, const struct rule_look *look)
{
	uint64_t room;
	bool passed;

	switch (r->metric) {
	case RULE_LIVE:
		w->value = (double)look->live_bytes;
		return look->live_bytes > r->bytes;
	case RULE_GROWTH:
		passed = find_growth(r, w, look);
		take_sample(r, w, look);
		return passed;
	case RULE_ROOM:
		break;
	}
	w->value = 0;
	if (look->limit_bytes == 0)
		return false; /* nothing limits it */
	room = look->limit_bytes > look->used_bytes ? look->limit_bytes - look->used_bytes : 0;
	w->value = r->has_percent ? (double)room / (double)look->limit_bytes * 100 : (double)room;
	return r->has_percent ? w->value < r->percent : room < r->bytes;
}

bool watch_rule_look(const struct rule *r, struct rule_watch *w, const struct rule_look *look)
{
	bool was = w->is_passed;

	w->is_passed = is_passed(r, w, look);
	if (w->is_passed && !was)
		w->since_ns = look->at_ns;
	return w->is_passed && look->at_ns - w->since_ns >= r->for_ns;
}

const char *watch_rule_value(
    const struct rule *r, const struct rule_watch *w, char text[RULE_VALUE_BYTES])
{
	double size = w->value < 0 ? -w->value : w->value;

	if (r->has_percent)
		(void)snprintf(text, RULE_VALUE_BYTES, "%.1f%%", w->value);
	else
		(void)snprintf(text, RULE_VALUE_BYTES, "%s%s", w->value < 0 ? "-" : "",
		    WORDS_BYTES(size < 0x1p63 ? (uint64_t)size : INT64_MAX));
	return text;
}

/* ---- once an hour ---- */

enum { TOLD_MAX = 100000 };

struct rule_told {
	size_t rule;
	uint64_t at_ns;
	char service[RULE_PATTERN_BYTES];
};

/* Entries that are too old to keep anybody from being told. */
static void forget(struct rule_limiter *l, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++)
		if (now_ns - l->told[i].at_ns < RULE_PAUSE_NS)
			l->told[kept++] = l->told[i];
	l->count = kept;
}

int watch_rule_limiter_take(
    struct rule_limiter *l, size_t rule, const char *service, uint64_t now_ns)
{
	struct rule_told *to;

	forget(l, now_ns);
	for (size_t i = 0; i < l->count; i++)
		if (l->told[i].rule == rule &&
		    strncmp(l->told[i].service, service, sizeof(l->told[i].service) - 1) == 0)
			return 0;
	if (l->count >= TOLD_MAX || room_make(&l->told, &l->room, l->count, sizeof(*l->told)) < 0)
		return -ENOMEM;
	to = &l->told[l->count++];
	*to = (struct rule_told){.rule = rule, .at_ns = now_ns};
	(void)snprintf(to->service, sizeof(to->service), "%s", service);
	return 1;
}

void watch_rule_limiter_release(struct rule_limiter *l)
{
	free(l->told);
	*l = (struct rule_limiter){0};
}
