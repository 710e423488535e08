/* message.c - the request of a push: push.v1.PushRequest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/message.h"

#include <strings.h>

#include "kit/words/text.h"
#include "print/export/export_forms.h"
#include "view/sites/view.h"

/* Numbers of fields, as of push/v1/push.proto and types/v1/types.proto. */
enum {
	REQUEST_SERIES = 1,
	SERIES_LABEL = 1,
	SERIES_SAMPLE = 2,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE_PROFILE = 1,
	SAMPLE_ID = 2,
	UUID_TEXT = 37,
};

/* ---- labels of the user ---- */

/* As Prometheus has them; names that begin with __ are the server's. */
static bool is_name(const char *text, size_t len)
{
	if (len == 0 || len >= MESSAGE_LABEL_BYTES || (text[0] >= '0' && text[0] <= '9') ||
	    strncmp(text, "__", 2) == 0)
		return false;
	return strspn(text,
	           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	           "0123456789_") >= len;
}

static bool is_value(const char *text)
{
	if (!*text || strlen(text) >= MESSAGE_LABEL_BYTES)
		return false;
	while (*text) {
		size_t n = text_utf8(text);

		if (n == 0 || text_is_odd(text_decode(text, n)))
			return false;
		text += n;
	}
	return true;
}

static const struct message_label *find_label(
    const struct message_labels *l, const char *name, size_t len)
{
	for (size_t i = 0; i < l->count; i++)
		if (strlen(l->list[i].name) == len && memcmp(l->list[i].name, name, len) == 0)
			return &l->list[i];
	return NULL;
}

int message_add_label(struct message_labels *l, const char *text, struct fault *where)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;
	struct message_label new;
	char clean[128];

	(void)text_escape(clean, sizeof(clean), text);
	if (!equals || !is_name(text, len))
		return fault_set(where, -EINVAL,
		    "\"%s\" is no label: NAME=VALUE, and NAME of letters, "
		    "digits and _, not beginning with a digit or __",
		    clean);
	if (len == strlen("service_name") && strncmp(text, "service_name", len) == 0)
		return fault_set(
		    where, -EINVAL, "the label service_name is the service of each process");
	if (!is_value(equals + 1))
		return fault_set(where, -EINVAL,
		    "\"%s\" is no label: its value must have 1 to %d "
		    "printable bytes of UTF-8",
		    clean, MESSAGE_LABEL_BYTES - 1);
	if (find_label(l, text, len))
		return fault_set(where, -EINVAL, "the label %.*s is given twice", (int)len, text);
	if (l->count == MESSAGE_LABELS)
		return fault_set(where, -EINVAL, "there are more than %d", MESSAGE_LABELS);
	new.name = strndup(text, len);
	new.value = strdup(equals + 1);
	if (!new.name || !new.value) {
		free(new.name);
		free(new.value);
		return fault_set(where, -ENOMEM, "out of memory");
	}
	l->list[l->count++] = new;
	return 0;
}

void message_release_labels(struct message_labels *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->list[i].name);
		free(l->list[i].value);
	}
	*l = (struct message_labels){0};
}

/* ---- the request ---- */

static void put_text(struct proto *m, unsigned field, const char *text)
{
	pprof_proto_bytes(m, field, text, strlen(text));
}

static void put_label(struct proto *series, const char *name, const char *value)
{
	struct proto label = {0};

	put_text(&label, LABEL_NAME, name);
	put_text(&label, LABEL_VALUE, value);
	pprof_proto_message(series, SERIES_LABEL, &label);
	free(label.bytes);
}

/*
 * __delta__=false: alloc_* are differences already, and the server must not
 * make differences of them.
 */
static void put_labels(struct proto *series, const struct message *m)
{
	put_label(series, "__delta__", "false");
	put_label(series, "__name__", "memory");
	if (!find_label(m->labels, "instance", strlen("instance")))
		put_label(series, "instance", m->instance);
	put_label(series, "service_name", m->service);
	for (size_t i = 0; i < m->labels->count; i++)
		put_label(series, m->labels->list[i].name, m->labels->list[i].value);
}

/* Version 4 of RFC 4122. */
static void write_uuid(const uint8_t id[16], char to[UUID_TEXT])
{
	uint8_t x[16];

	memcpy(x, id, sizeof(x));
	x[6] = (uint8_t)((x[6] & 0x0f) | 0x40);
	x[8] = (uint8_t)((x[8] & 0x3f) | 0x80);
	for (size_t i = 0, n = 0; i < sizeof(x); i++)
		n += (size_t)snprintf(to + n, UUID_TEXT - n, "%s%02x",
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", x[i]);
}

int message_write(const struct message *m, uint8_t **ret, size_t *ret_len)
{
	struct proto request = {0}, series = {0}, sample = {0};
	char uuid[UUID_TEXT];

	write_uuid(m->id, uuid);
	put_labels(&series, m);
	pprof_proto_bytes(&sample, SAMPLE_PROFILE, m->profile, m->profile_bytes);
	put_text(&sample, SAMPLE_ID, uuid);
	pprof_proto_message(&series, SERIES_SAMPLE, &sample);
	pprof_proto_message(&request, REQUEST_SERIES, &series);
	free(series.bytes);
	free(sample.bytes);
	if (request.failed) {
		free(request.bytes);
		return -ENOMEM;
	}
	*ret = request.bytes;
	*ret_len = request.len;
	return 0;
}

/* ---- push_answer: what a server says to a push ---- */

#define SECOND_NS UINT64_C(1000000000)

enum {
	RETRY_MAX_S = 3600, /* a longer Retry-After is taken for this */
	SHOWN = 300,        /* bytes of the server's words, escaped */
};

/* ---- Retry-After ---- */

/* Digits, of which the first few count. */
static bool read_seconds(const char *text, uint64_t *ret)
{
	uint64_t n = 0;
	size_t i = 0;

	for (; text[i] >= '0' && text[i] <= '9'; i++)
		n = n > RETRY_MAX_S ? n : n * 10 + (uint64_t)(text[i] - '0');
	if (i == 0 || text[i + strspn(text + i, " \t")] != '\0')
		return false;
	*ret = n;
	return true;
}

static bool read_number(const char *text, int digits, int low, int high, int *ret)
{
	int n = 0;

	for (int i = 0; i < digits; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (text[i] - '0');
	}
	*ret = n;
	return n >= low && n <= high;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT"; other forms are obsolete. */
static bool read_date(const char *text, time_t *ret)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	static const char shape[] = "???, 00 ??? 0000 00:00:00 GMT";
	struct tm tm = {0};

	if (strlen(text) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] != '?' && shape[i] != '0' && text[i] != shape[i])
			return false;
	while (tm.tm_mon < 12 && strncmp(months + 3 * (size_t)tm.tm_mon, text + 8, 3) != 0)
		tm.tm_mon++;
	if (tm.tm_mon == 12 || !read_number(text + 5, 2, 1, 31, &tm.tm_mday) ||
	    !read_number(text + 12, 4, 1970, 9999, &tm.tm_year) ||
	    !read_number(text + 17, 2, 0, 23, &tm.tm_hour) ||
	    !read_number(text + 20, 2, 0, 59, &tm.tm_min) ||
	    !read_number(text + 23, 2, 0, 60, &tm.tm_sec))
		return false;
	tm.tm_year -= 1900;
	*ret = timegm(&tm);
	return true;
}

static uint64_t retry_after(const char *text, uint64_t now_s)
{
	uint64_t seconds = 0;
	time_t then;

	text += strspn(text, " \t");
	if (!read_seconds(text, &seconds) && read_date(text, &then))
		seconds = then > 0 && (uint64_t)then > now_s ? (uint64_t)then - now_s : 0;
	if (seconds > RETRY_MAX_S)
		seconds = RETRY_MAX_S;
	return seconds * SECOND_NS;
}

/* ---- words ---- */

/* A part of the body; never read beyond `end`. */
struct cursor {
	const char *at, *end;
};

static void skip_space(struct cursor *c)
{
	while (c->at < c->end && strchr(" \t\r\n", *c->at) && *c->at)
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_space(c);
	if (c->at >= c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

/*
 * A string of JSON into `to`, which may be NULL; escapes of control and other
 * characters than ASCII stay as they are, because text_escape() has the last
 * word on what is shown.
 */
static bool take_string(struct cursor *c, char *to, size_t room)
{
	size_t n = 0;

	if (!take(c, '"'))
		return false;
	while (c->at < c->end && *c->at != '"') {
		char x = *c->at++;

		if (x == '\\') {
			if (c->at >= c->end)
				return false;
			x = *c->at++;
			if (x == 'n' || x == 't' || x == 'r')
				x = ' ';
			else if (x == 'u')
				x = '?';
		}
		if (to && n + 1 < room && x != '\0')
			to[n++] = x;
	}
	if (to && room > 0)
		to[n] = '\0';
	return c->at < c->end && *c->at++ == '"';
}

/* Any value; brackets are counted, not matched. */
static bool skip_value(struct cursor *c)
{
	size_t depth = 0;

	do {
		skip_space(c);
		if (c->at >= c->end)
			return false;
		if (*c->at == '"') {
			if (!take_string(c, NULL, 0))
				return false;
		} else if (*c->at == '{' || *c->at == '[') {
			depth++;
			c->at++;
		} else if (*c->at == '}' || *c->at == ']') {
			if (depth == 0)
				return false;
			depth--;
			c->at++;
		} else if (depth == 0 && *c->at == ',') {
			return false;
		} else {
			c->at++;
			while (depth == 0 && c->at < c->end && !strchr(",}] \t\r\n", *c->at))
				c->at++;
		}
	} while (depth > 0);
	return true;
}

/* "message" of the error that Connect sends: {"code": ..., "message": ...} */
static bool find_message(const char *body, size_t len, char *to, size_t room)
{
	struct cursor c = {body, body + len};
	char name[16];

	if (!take(&c, '{'))
		return false;
	do {
		if (!take_string(&c, name, sizeof(name)) || !take(&c, ':'))
			return false;
		skip_space(&c);
		if (strcmp(name, "message") == 0)
			return take_string(&c, to, room) && to[0];
		if (!skip_value(&c))
			return false;
	} while (take(&c, ','));
	return false;
}

static void say_status(const struct answer_raw *raw, struct answer *a)
{
	char said[ANSWER_BODY + 1], clean[SHOWN + 1];
	size_t n = raw->body_len < ANSWER_BODY ? raw->body_len : ANSWER_BODY;

	if (!find_message(raw->body, n, said, sizeof(said))) {
		memcpy(said, raw->body, n);
		said[n] = '\0';
		for (size_t i = 0; i < n; i++)
			if (said[i] == '\n' || said[i] == '\t' || !said[i])
				said[i] = ' ';
		for (n = strlen(said); n > 0 && strchr(" \r", said[n - 1]); n--)
			said[n - 1] = '\0';
	}
	(void)text_escape(clean, sizeof(clean), said);
	(void)snprintf(a->words, sizeof(a->words), "it answers %d%s%s", raw->status,
	    clean[0] ? ": " : "", clean);
}

void push_answer_read(const struct answer_raw *raw, uint64_t now_s, struct answer *ret)
{
	static const char type[] = "application/proto";
	struct answer a = {.status = raw->status, .kind = ANSWER_REFUSED};
	size_t n = sizeof(type) - 1;
	char clean[SHOWN + 1];

	if (raw->status == 200) {
		/* some pages of a portal or proxy are 200, too */
		if (strncasecmp(raw->type, type, n) == 0 &&
		    (!raw->type[n] || strchr("; \t", raw->type[n]))) {
			a.kind = ANSWER_ACCEPTED;
		} else {
			(void)text_escape(clean, sizeof(clean), raw->type);
			(void)snprintf(a.words, sizeof(a.words),
			    "it answers 200, but with Content-Type \"%s\": "
			    "this is not Pyroscope",
			    clean);
		}
	} else if (raw->status >= 300 && raw->status < 400) {
		(void)text_escape(clean, sizeof(clean), raw->location);
		(void)snprintf(a.words, sizeof(a.words),
		    "it answers %d and redirects to \"%s\", which is not "
		    "followed",
		    raw->status, clean);
	} else {
		say_status(raw, &a);
		if (raw->status == 408 || raw->status == 425 || raw->status == 429 ||
		    (raw->status >= 500 && raw->status != 501 && raw->status != 505 &&
		        raw->status < 600)) {
			a.kind = ANSWER_LATER;
			a.retry_after_ns = retry_after(raw->retry_after, now_s);
		}
	}
	*ret = a;
}

/* ---- profile: the sums of a service as a profile that a server takes ---- */

enum { GZIP_END = 4 }; /* bytes of the length, at the end */

static bool has_amount(const struct stack_sums_stack *s)
{
	return (s->live.blocks | s->live.bytes | s->sending.blocks | s->sending.bytes) != 0;
}

static bool has_figures(const struct view_site *s)
{
	const struct process_figures *f = &s->figures.all;

	return (f->allocations | f->allocated_bytes | f->live_blocks | f->live_bytes) != 0;
}

static void fill(struct view_site *to, const struct stack_sums_stack *s)
{
	*to = (struct view_site){
	    .process = VIEW_MERGED, .count = 1, .frames = s->frames, .frame_count = s->frame_count};
	to->figures.all = (struct process_figures){.allocations = s->sending.blocks,
	    .allocated_bytes = s->sending.bytes,
	    .live_blocks = s->live.blocks,
	    .live_bytes = s->live.bytes};
}

/* All frames are those of the sums, and the sites are their largest stacks. */
static void choose(const struct stack_sums *b, const uint32_t *order, size_t most, struct view *v,
    size_t *ret_merged)
{
	size_t merged = 0;

	v->site_count = 1;
	fill(&v->sites[0], &b->stacks[STACK_SUMS_OTHER]);
	for (size_t i = 0; i + 1 < b->stack_count; i++) {
		const struct stack_sums_stack *s = &b->stacks[order[i]];
		struct view_site site;

		if (!has_amount(s))
			continue;
		fill(&site, s);
		if (v->site_count < most) {
			v->sites[v->site_count++] = site;
		} else {
			process_add(&v->sites[0].figures.all, &site.figures.all);
			merged++;
		}
	}
	*ret_merged = merged;
}

static int write_view(const struct view *v, const struct export_moment *moment, struct profile *p)
{
	const struct export_options options = {.metric = VIEW_LIVE, .moment = moment};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, &p->len);
	int err;

	if (!out)
		return -ENOMEM;
	err = export_pprof.write(out, v, &options);
	if (fclose(out) != 0 && err == 0)
		err = -ENOMEM;
	if (err == 0 && p->len < GZIP_END)
		err = -EIO;
	if (err < 0) {
		free(bytes);
		return err;
	}
	p->bytes = (uint8_t *)bytes;
	p->unpacked = 0;
	for (int i = 0; i < GZIP_END; i++)
		p->unpacked |= (size_t)p->bytes[p->len - GZIP_END + i] << 8 * i;
	/* "(other)" is not there if it has nothing */
	p->samples = v->site_count - !has_figures(&v->sites[0]);
	return 0;
}

int profile_make(
    const struct stack_sums *b, const struct export_moment *moment, struct profile *ret)
{
	struct process source = {.modules = b->modules, .module_count = b->module_count};
	struct process *sources[] = {&source};
	struct session session = {.processes = sources, .count = 1};
	struct view v = {.session = &session, .frames = b->frames, .frame_count = b->frame_count};
	uint32_t *order = stack_sums_by_size(b);
	size_t most = PROFILE_SAMPLES;
	struct profile p = {0};
	int err = -ENOMEM;

	v.sites = calloc(most, sizeof(*v.sites));
	if (!order || !v.sites)
		goto out;
	for (;;) {
		choose(b, order, most, &v, &p.merged);
		err = write_view(&v, moment, &p);
		if (err < 0 || p.unpacked <= PROFILE_UNPACKED)
			break;
		free(p.bytes);
		p.bytes = NULL;
		err = -EFBIG;
		if (most == 1)
			break;
		/* names have most of the bytes, so a share is a guess */
		most /= 2;
	}
	if (err == 0)
		*ret = p;
out:
	free(order);
	free(v.sites);
	return err;
}
