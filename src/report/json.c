/* json.c - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reader/index.h"
#include "reader/losses.h"
#include "reader/timeline.h"
#include "report/words.h"

enum {
	SERIES_EACH = 50, /* sites by live, by peak, by growth */
	SERIES_POINTS = 2000,
	SERIES_PROCESSES = 16, /* the heaviest: each reads the file again */
};

void
json_string(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (!text) {
		(void)fputs("null", out);
		return;
	}
	(void)putc('"', out);
	while (*p) {
		size_t n = words_utf8((const char *)p);

		if (*p == '"' || *p == '\\') {
			(void)putc('\\', out);
			(void)putc(*p, out);
		} else if (*p < 0x20 || *p == 0x7f) {
			(void)fprintf(out, "\\u%04x", *p);
		} else if (n == 0) {
			(void)fputs("\\ufffd", out);
		} else {
			(void)fwrite(p, 1, n, out);
		}
		p += n ? n : 1;
	}
	(void)putc('"', out);
}

static void
key(FILE *out, const char *name)
{
	(void)fprintf(out, ",\"%s\":", name);
}

static void
number(FILE *out, const char *name, uint64_t value)
{
	(void)fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void
text(FILE *out, const char *name, const char *value)
{
	key(out, name);
	json_string(out, value);
}

static void
boolean(FILE *out, const char *name, bool value)
{
	(void)fprintf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

static void
hex(FILE *out, const char *name, const uint8_t *bytes, size_t len)
{
	bool zero = true;

	for (size_t i = 0; i < len; i++)
		zero = zero && bytes[i] == 0;
	key(out, name);
	if (zero) {
		(void)fputs("null", out);
		return;
	}
	(void)putc('"', out);
	for (size_t i = 0; i < len; i++)
		(void)fprintf(out, "%02x", bytes[i]);
	(void)putc('"', out);
}

static void
time_text(FILE *out, const char *name, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char buffer[64];
	struct tm tm;

	key(out, name);
	if (realtime_ns == 0 || !gmtime_r(&seconds, &tm) ||
	    strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out, "\"%s.%03uZ\"", buffer,
	    (unsigned)(realtime_ns / 1000000 % 1000));
}

static void
figures(FILE *out, const struct process_figures *f)
{
	number(out, "allocations", f->allocations);
	number(out, "allocated_bytes", f->allocated_bytes);
	number(out, "frees", f->frees);
	number(out, "freed_bytes", f->freed_bytes);
	number(out, "live_blocks", f->live_blocks);
	number(out, "live_bytes", f->live_bytes);
	number(out, "peak_blocks", f->peak_blocks);
	number(out, "peak_bytes", f->peak_bytes);
}

static void
list(FILE *out, const char *name, const uint64_t *values, size_t count)
{
	key(out, name);
	for (size_t i = 0; i < count; i++)
		(void)fprintf(out, "%c%" PRIu64, i ? ',' : '[', values[i]);
	(void)fputs("]", out);
}

static void
command(FILE *out, const struct seg_header *h)
{
	const char *p = h->command, *end = p + sizeof(h->command);
	const char *comma = "";

	(void)fputs(",\"command\":[", out);
	/* an empty argument is told from the end by what follows it */
	while (p < end && (*p || (p + 1 < end && p[1]))) {
		(void)fputs(comma, out);
		json_string(out, p);
		p += strnlen(p, (size_t)(end - p)) + 1;
		comma = ",";
	}
	(void)fputs("]", out);
}

/*
 * Stacks share their frames, and a frame's text takes a while to make: each is
 * made once for a process and then copied.
 */
struct cached {
	uint64_t frame;
	char *text; /* NULL: out of memory, written directly */
	size_t len;
};

struct cache {
	struct cached *items;
	size_t count, room;
	struct index index;
};

static bool
same_frame(const void *items, uint32_t item, const void *key)
{
	return ((const struct cached *)items)[item].frame ==
	    *(const uint64_t *)key;
}

static void
cache_release(struct cache *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->items[i].text);
	free(c->items);
	index_release(&c->index);
}

/* A frame and what is inlined there, without the innermost `skip`. */
static void
write_frame(FILE *out, const struct process *p, uint64_t word,
    struct names *names, size_t skip)
{
	const struct process_module *m = process_module(p, word);
	const struct names_frame *chain;
	size_t n = names_chain(names, p, word, &chain);

	for (size_t i = skip; i < n; i++) {
		(void)fputs(
		    i > skip ? ",{\"function\":" : "{\"function\":", out);
		json_string(out, chain[i].function);
		text(out, "file", chain[i].file);
		if (chain[i].line > 0)
			number(out, "line", chain[i].line);
		else
			(void)fputs(",\"line\":null", out);
		text(out, "module", m ? m->path : NULL);
		number(out, "offset", SEG_FRAME_PC(word) - (m ? m->base : 0));
		boolean(out, "inlined", chain[i].inlined);
		(void)putc('}', out);
	}
}

static void
frame(FILE *out, const struct process *p, uint64_t word, struct names *names,
    struct cache *c)
{
	struct cached *item;
	FILE *memory;
	uint32_t at;

	if (c->count == c->room) {
		size_t room = c->room ? c->room * 2 : 1024;

		item = reallocarray(c->items, room, sizeof(*item));
		if (!item) {
			write_frame(out, p, word, names, 0);
			return;
		}
		c->items = item;
		c->room = room;
	}
	if (index_find(&c->index, index_hash(word, 10, 11), same_frame,
	        c->items, &word, (uint32_t)c->count, &at) < 0) {
		write_frame(out, p, word, names, 0);
		return;
	}
	item = &c->items[at];
	if (at == c->count) {
		c->count++;
		*item = (struct cached){.frame = word};
		memory = open_memstream(&item->text, &item->len);
		if (memory) {
			write_frame(memory, p, word, names, 0);
			if (fclose(memory) != 0) {
				free(item->text);
				item->text = NULL;
			}
		}
	}
	if (item->text)
		(void)fwrite_unlocked(item->text, 1, item->len, out);
	else
		write_frame(out, p, word, names, 0);
}

/* A sentence in the place of frames that are not there. */
static void
no_frame(FILE *out, const char *words)
{
	(void)fputs("{\"function\":", out);
	json_string(out, words);
	(void)fputs(",\"file\":null,\"line\":null,\"module\":null,"
	            "\"offset\":null,\"inlined\":false}",
	    out);
}

/* Of sampled figures: half the width of the 95 % interval. */
static void
errors(FILE *out, const struct process *p, double live, double allocated)
{
	if (p->header.sample_bytes == 0) {
		(void)fputs(",\"error\":null", out);
		return;
	}
	(void)fprintf(out,
	    ",\"error\":{\"live_bytes\":%" PRIu64
	    ",\"allocated_bytes\":%" PRIu64 "}",
	    process_error(live), process_error(allocated));
}

/* One array of the points' figures. */
static void
column(FILE *out, const char *name, const struct process_point *points,
    size_t count, size_t offset)
{
	(void)fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(
		    &value, (const char *)&points[i] + offset, sizeof(value));
		(void)fprintf(out, "%s%" PRIu64, i ? "," : "", value);
	}
	(void)putc(']', out);
}

static void
course(FILE *out, const char *name, const struct process_point *points,
    size_t count)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
	    {"times_us", offsetof(struct process_point, time_us)},
	    {"live_bytes", offsetof(struct process_point, live_bytes)},
	    {"live_blocks", offsetof(struct process_point, live_blocks)},
	    {"allocations", offsetof(struct process_point, allocations)},
	    {"allocated_bytes",
	        offsetof(struct process_point, allocated_bytes)},
	};

	key(out, name);
	if (count == 0) {
		(void)fputs("null", out);
		return;
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		(void)putc(i ? ',' : '{', out);
		column(out, columns[i].name, points, count, columns[i].offset);
	}
	(void)putc('}', out);
}

/* The courses of the sites worth one; none where there is no time line. */
struct courses {
	struct timeline_series *list; /* by site */
	size_t count, next;
};

/* Is it among the heaviest of those with a course? */
static bool
is_heavy(const struct session *s, const struct process *p)
{
	size_t heavier = 0;

	for (size_t i = 0; i < s->count; i++)
		heavier += s->processes[i]->point_count > 1 &&
		    s->processes[i]->totals.peak_bytes > p->totals.peak_bytes;
	return heavier < SERIES_PROCESSES;
}

static void
courses_init(
    struct courses *c, const struct session *s, const struct process *p)
{
	size_t *sites;
	size_t n;

	*c = (struct courses){0};
	if (!s->line || p->point_count < 2 || !is_heavy(s, p) ||
	    timeline_top(s->line, p, s->until_us / 3, SERIES_EACH, &sites, &n) <
	        0)
		return;
	c->list = calloc(n + 1, sizeof(*c->list));
	for (size_t i = 0; c->list && i < n; i++)
		c->list[i].site = sites[i];
	if (c->list &&
	    timeline_series(s->line, p, c->list, n, SERIES_POINTS) == 0)
		c->count = n;
	free(sites);
}

static void
courses_release(struct courses *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].points);
	free(c->list);
}

static void
series(FILE *out, struct courses *c, size_t site)
{
	if (c->next == c->count || c->list[c->next].site != site) {
		(void)fputs(",\"series\":null", out);
		return;
	}
	course(out, "series", c->list[c->next].points, c->list[c->next].count);
	c->next++;
}

static void
site(FILE *out, const struct process *p, const struct process_site *s,
    struct names *names, struct cache *cache, struct courses *courses)
{
	static uint64_t frames[STACKS_MAX_FRAMES];
	uint64_t deaths[PROCESS_AGES];
	uint8_t api = s->api;
	uint32_t flags;
	size_t n, skip, entries;

	n = stacks_frames(
	    p->stacks, s->stack, frames, STACKS_MAX_FRAMES, &flags);
	skip = names_skip_operators(names, p, frames, n, &api, &entries);
	(void)fprintf(out, "{\"id\":%u", s->id);
	text(out, "kind", words_kind(s->kind));
	text(out, "api", words_api(api));
	figures(out, &s->figures);
	number(out, "samples", s->samples);
	errors(out, p, s->variance_live, s->variance_allocated);
	number(out, "size_min", s->size_min);
	number(out, "size_max", s->size_max);
	time_text(out, "first_time", process_time_ns(p, s->first_tick));
	time_text(out, "last_time", process_time_ns(p, s->last_tick));
	process_deaths(s, deaths);
	list(out, "ages", deaths, PROCESS_AGES);
	if (s->ages && s->ages->living_known)
		list(out, "live_ages", s->ages->living, PROCESS_AGES);
	else
		(void)fputs(",\"live_ages\":null", out);
	(void)fputs(",\"verdict\":null", out);
	series(out, courses, (size_t)(s - p->sites));
	text(out, "stack", words_stack(flags));
	(void)fputs(",\"frames\":[", out);
	for (size_t i = skip; i < n; i++) {
		if (i > skip)
			(void)putc(',', out);
		if (i == skip && entries > 0)
			write_frame(out, p, frames[i], names, entries);
		else
			frame(out, p, frames[i], names, cache);
	}
	if (words_no_frame(flags)) {
		if (n > skip)
			(void)putc(',', out);
		no_frame(out, words_no_frame(flags));
	}
	(void)fputs("]}", out);
}

static void
lost(FILE *out, const struct seg_header *h)
{
	const struct losses_name *names;
	const char *comma = "";
	size_t n;

	names = losses_names(&n);
	(void)fputs(",\"lost\":{", out);
	for (size_t i = 0; i < n; i++) {
		if (names[i].class != LOSSES_LOSS)
			continue;
		(void)fprintf(out, "%s\"%s\":%" PRIu64, comma, names[i].key,
		    h->counts[names[i].count]);
		comma = ",";
	}
	(void)fputs("}", out);
	comma = "";
	(void)fputs(",\"counts\":{", out);
	for (size_t i = 0; i < n; i++) {
		if (names[i].class != LOSSES_FACT)
			continue;
		(void)fprintf(out, "%s\"%s\":%" PRIu64, comma, names[i].key,
		    h->counts[names[i].count]);
		comma = ",";
	}
	(void)fputs("}", out);
}

static void
totals(FILE *out, const struct process *p)
{
	const struct losses_name *names;
	size_t n;

	(void)fputs(",\"totals\":{\"sites\":", out);
	(void)fprintf(out, "%zu", p->site_count);
	figures(out, &p->totals);
	errors(out, p, process_variance_live(p), process_variance_allocated(p));
	boolean(out, "peak_exact", p->peak_exact);
	names = losses_names(&n);
	for (size_t i = 0; i < n; i++)
		if (names[i].class == LOSSES_TOTAL)
			number(out, names[i].key,
			    p->header.counts[names[i].count]);
	(void)fputs("}", out);
}

static void
modules(FILE *out, const struct process *p)
{
	const char *comma = "";

	(void)fputs(",\"modules\":[", out);
	for (size_t i = 1; i < p->module_count; i++) {
		const struct process_module *m = &p->modules[i];

		if (m->end == 0)
			continue;
		(void)fprintf(out, "%s{\"number\":%zu", comma, i);
		text(out, "path", m->path);
		hex(out, "build_id", m->build_id, m->build_id_bytes);
		number(out, "base", m->base);
		number(out, "start", m->start);
		number(out, "end", m->end);
		number(out, "generation", m->generation);
		boolean(out, "main", m->is_main);
		(void)putc('}', out);
		comma = ",";
	}
	(void)fputs("]", out);
}

static void
inherited(FILE *out, const struct process *p)
{
	(void)fputs(",\"inherited\":[", out);
	for (size_t i = 0; i < p->inherited_count; i++)
		(void)fprintf(out,
		    "%s{\"id\":%u,\"frees\":%" PRIu64
		    ",\"freed_bytes\":%" PRIu64 "}",
		    i ? "," : "", p->inherited[i].id, p->inherited[i].frees,
		    p->inherited[i].freed_bytes);
	(void)fputs("]", out);
}

static void
marks(FILE *out, const struct process *p)
{
	(void)fputs(",\"marks\":[", out);
	for (size_t i = 0; i < p->mark_count; i++) {
		const struct seg_mark *m = &p->marks[i];

		(void)fprintf(
		    out, "%s{\"sequence\":%" PRIu64, i ? "," : "", m->sequence);
		number(out, "kind", m->kind);
		text(out, "label", m->label);
		time_text(
		    out, "time", process_time_ns(p, m->tick) + m->after_ns);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

static void
number_or_null(FILE *out, const char *name, bool known, int value)
{
	key(out, name);
	if (known)
		(void)fprintf(out, "%d", value);
	else
		(void)fputs("null", out);
}

/* Of a snapshot: which one, when, why. */
static void
snapshot_info(FILE *out, const struct process *p)
{
	static const char *const reasons[] = {
	    [SEG_SNAPSHOT_COMMAND] = "command",
	    [SEG_SNAPSHOT_PROGRAM] = "program",
	    [SEG_SNAPSHOT_SIGNAL] = "signal",
	    [SEG_SNAPSHOT_PERIOD] = "period",
	    [SEG_SNAPSHOT_GROWTH] = "growth",
	};
	const struct seg_header *h = &p->header;
	uint32_t reason = h->snapshot_reason;

	key(out, "snapshot_info");
	if (reason == SEG_SNAPSHOT_NONE) {
		(void)fputs("null", out);
		return;
	}
	(void)fputs("{\"label\":", out);
	json_string(out, h->snapshot_label);
	text(out, "reason",
	    reason < sizeof(reasons) / sizeof(reasons[0]) ? reasons[reason]
	                                                  : "other");
	number(out, "number", h->snapshot_number);
	time_text(out, "time", h->snapshot_realtime_ns);
	number(out, "time_ns", h->snapshot_realtime_ns);
	(void)putc('}', out);
}

static void
identity(FILE *out, const struct process *p)
{
	const struct seg_header *h = &p->header;

	(void)fprintf(out, "{\"pid\":%u,\"ppid\":%u", h->pid, h->ppid);
	hex(out, "uuid", h->uuid, sizeof(h->uuid));
	hex(out, "parent", h->parent_uuid, sizeof(h->parent_uuid));
	text(out, "exe", h->exe);
	command(out, h);
	boolean(out, "command_truncated", h->command_truncated != 0);
	time_text(out, "start", h->start_realtime_ns);
	number(out, "start_ns", h->start_realtime_ns);
	number(out, "duration_ms", p->duration_ns / 1000000);
	text(out, "end", words_end(p->end));
	number_or_null(out, "exit_status", p->exit_status >= 0, p->exit_status);
	number_or_null(out, "signal", p->signal > 0, p->signal);
	text(out, "mode", words_mode(h->mode));
	text(out, "state", words_state(h->state));
	text(out, "inert_reason",
	    h->state == SEG_INERT ? losses_inert(h->inert_reason) : NULL);
	number(out, "sample_bytes", h->sample_bytes);
	text(out, "medium", words_medium(h->medium));
	number(out, "first_id", h->first_id);
	text(out, "session", h->session);
	number(out, "sequence", h->sequence);
	number(out, "threads", h->threads);
	number(out, "max_frames", h->max_frames);
	boolean(out, "snapshot", p->is_snapshot);
	snapshot_info(out, p);
	boolean(out, "end_state", !p->is_unfinished);
	key(out, "as_of_us");
	if (p->is_unfinished)
		(void)fprintf(out, "%" PRIu64, p->as_of_us);
	else
		(void)fputs("null", out);
	time_text(out, "peak_time", process_time_ns(p, h->peak_tick));
	(void)fprintf(out,
	    ",\"tables\":{\"total_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
	    ",\"own_bytes\":%" PRIu64 "}",
	    h->total_bytes, h->used_bytes, h->own_bytes);
}

static void
process(FILE *out, const struct session *s, const struct process *p,
    struct names *names)
{
	struct courses courses;
	struct cache cache = {0};

	identity(out, p);
	lost(out, &p->header);
	totals(out, p);
	modules(out, p);
	inherited(out, p);
	marks(out, p);
	course(out, "timeline", p->points, p->point_count);
	courses_init(&courses, s, p);
	(void)fputs(",\"sites\":[", out);
	for (size_t i = 0; i < p->site_count && !ferror(out); i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		site(out, p, &p->sites[i], names, &cache, &courses);
	}
	courses_release(&courses);
	cache_release(&cache);
	(void)fputs("]}", out);
}

/* What is known of the run as a whole; null where it is no recording. */
static void
recording(FILE *out, const struct session *s)
{
	key(out, "recording");
	if (!s->line) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out,
	    "{\"start_ns\":%" PRIu64 ",\"until_us\":%" PRIu64 ",\"marks\":[",
	    s->start_ns, s->until_us);
	for (size_t i = 0; i < s->mark_count; i++) {
		const struct session_mark *m = &s->marks[i];

		(void)fprintf(out, "%s{\"time_us\":%" PRIu64 ",\"pid\":%u",
		    i ? "," : "", m->time_us, m->pid);
		text(out, "kind", words_mark(m->kind));
		text(out, "label", m->label);
		(void)putc('}', out);
	}
	(void)fputs("]}", out);
}

int
json_write(FILE *out, const struct session *s, struct names *names,
    const char *version)
{
	char *const *notes;
	size_t n;

	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	text(out, "seep", version);
	boolean(out, "complete", !s->is_truncated);
	recording(out, s);
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < s->count && !ferror(out); i++) {
		if (i)
			(void)putc(',', out);
		process(out, s, s->processes[i], names);
	}
	(void)fputs("],\"notes\":[", out);
	for (size_t i = 0; i < s->note_count; i++) {
		if (i)
			(void)putc(',', out);
		json_string(out, s->notes[i]);
	}
	n = names_notes(names, &notes);
	for (size_t i = 0; i < n; i++) {
		if (i || s->note_count)
			(void)putc(',', out);
		json_string(out, notes[i]);
	}
	(void)fputs("]}\n", out);
	return ferror(out) ? -EIO : 0;
}
