/* pprof.c - profile.proto, compressed: go tool pprof and other readers. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/callers.h"
#include "print/export/texts.h"
#include "print/export/export_forms.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"

/*
 * The profile is one message whose parts may come in any order, so stacks are
 * written as we go through the sites, and what they refer to afterwards.
 * Numbers of fields are those of profile.proto.
 */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	LABEL_UNIT = 4,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINED = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

enum { VALUES = 7, VALUES_USUAL = 6, VALUES_OF_GO = 4 };

/* The first four are those of Go's heap profiles, in their order. */
static const struct {
	const char *type, *unit;
} types[VALUES] = {
    {"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"},
    {"inuse_space", "bytes"}, {"peak_objects", "count"}, {"peak_space", "bytes"},
    {"held_space", "bytes"}, /* if somebody has looked */
};

/* The number of the function of stacks without frames. */
static const uint64_t no_frames = UINT64_C(1) << 32;

struct pprof {
	const struct view *view;
	const struct export_options *options;
	struct pprof_proto_stream *stream;
	struct proto field, part, inner; /* buffers, one inside the other */
	struct strings strings;
	struct functions *functions;
	struct modules modules;
	struct locations locations; /* id: number + 1 */
	bool has_no_frames;
	int values; /* of a sample */
	int err;
};

/* ---- pieces ---- */

/* Number of a text; proto3 requires UTF-8, and readers no control bytes. */
static uint32_t string(struct pprof *p, const char *text)
{
	uint32_t number = 0;
	char *clean = NULL;
	size_t len = 0;
	FILE *out;

	if (p->err < 0 || !text)
		return 0;
	for (len = 0; text[len] >= ' ' && text[len] < 0x7f;)
		len++;
	if (text[len] != '\0') {
		out = open_memstream(&clean, &len);
		if (!out) {
			p->err = -ENOMEM;
			return 0;
		}
		text_print(out, text);
		if (fclose(out) != 0) {
			free(clean);
			p->err = -ENOMEM;
			return 0;
		}
		text = clean;
	}
	p->err = strings_find(&p->strings, text, &number);
	free(clean);
	return number;
}

static void put_string(struct pprof *p, struct proto *m, unsigned field, const char *text)
{
	pprof_proto_uint(m, field, string(p, text));
}

/* The message in `part` as a field of the profile. */
static void put_part(struct pprof *p, unsigned field)
{
	pprof_proto_message(&p->field, field, &p->part);
	pprof_proto_stream_put(p->stream, &p->field);
}

static void put_number(struct pprof *p, unsigned field, uint64_t value)
{
	pprof_proto_uint(&p->field, field, value);
	pprof_proto_stream_put(p->stream, &p->field);
}

static void put_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	put_string(p, &p->part, TYPE_TYPE, type);
	put_string(p, &p->part, TYPE_UNIT, unit);
	put_part(p, field);
}

/* ---- stacks ---- */

static void put_stack(struct pprof *p, const struct view_site *s)
{
	uint32_t at = 0, number = 0;

	do {
		p->err = locations_next(&p->locations, p->view, s, &at, &number);
		pprof_proto_packed(&p->inner, (uint64_t)number + 1);
	} while (at < s->frame_count && p->err == 0);
	pprof_proto_message(&p->part, SAMPLE_LOCATION, &p->inner);
}

static void find_values(const struct view_site *s, int64_t ret[VALUES])
{
	const struct process_figures *now = &s->figures.all;
	const struct process_figures *then = &s->before.all;

	ret[0] = capped_change(now->allocations, then->allocations);
	ret[1] = capped_change(now->allocated_bytes, then->allocated_bytes);
	ret[2] = capped_change(now->live_blocks, then->live_blocks);
	ret[3] = capped_change(now->live_bytes, then->live_bytes);
	ret[4] = capped_change(now->peak_blocks, then->peak_blocks);
	ret[5] = capped_change(now->peak_bytes, then->peak_bytes);
	ret[6] = capped_change(s->figures.holds_bytes, s->before.holds_bytes);
}

static void put_label(struct pprof *p, const char *key, const char *text)
{
	put_string(p, &p->inner, LABEL_KEY, key);
	put_string(p, &p->inner, LABEL_STRING, text);
	pprof_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
}

static void put_labels(struct pprof *p, const struct view_site *s)
{
	const struct session *session = p->view->session;
	char pid[16];

	if (s->process != VIEW_MERGED) {
		const struct process *x = session->processes[s->process];

		(void)snprintf(pid, sizeof(pid), "%" PRIu32, x->header.pid);
		put_label(p, "pid", pid);
		if (session->count > 1)
			put_label(p, "process", program_name(&x->header));
	}
	put_label(p, "api", enum_words_api(s->api));
	if (s->size_min > 0 && s->size_min == s->size_max) {
		put_string(p, &p->inner, LABEL_KEY, "bytes");
		pprof_proto_uint(&p->inner, LABEL_NUMBER, s->size_min);
		put_string(p, &p->inner, LABEL_UNIT, "bytes");
		pprof_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
	}
}

static void put_samples(struct pprof *p)
{
	const struct view *v = p->view;

	for (size_t i = 0; i < v->site_count && p->err == 0; i++) {
		int64_t values[VALUES];
		bool zero = true;

		find_values(&v->sites[i], values);
		for (int k = 0; k < p->values; k++)
			zero = zero && values[k] == 0;
		if (zero)
			continue;
		put_stack(p, &v->sites[i]);
		for (int k = 0; k < p->values; k++)
			pprof_proto_packed(&p->inner, (uint64_t)values[k]);
		pprof_proto_message(&p->part, SAMPLE_VALUE, &p->inner);
		if (!p->options->moment)
			put_labels(p, &v->sites[i]);
		put_part(p, PROFILE_SAMPLE);
	}
}

/* ---- what stacks refer to ---- */

static void put_line(struct pprof *p, uint32_t number)
{
	const struct frame *f = &p->view->frames[number];
	uint32_t function;

	p->err = functions_find(p->functions, number, &function);
	if (p->err < 0)
		return;
	pprof_proto_uint(&p->inner, LINE_FUNCTION, (uint64_t)function + 1);
	pprof_proto_uint(&p->inner, LINE_LINE, f->line);
	pprof_proto_message(&p->part, LOCATION_LINE, &p->inner);
}

static void put_location_module(struct pprof *p, const struct location *l)
{
	const struct frame *outer = &p->view->frames[l->frames[l->count - 1]];
	struct modules_item *item;
	uint32_t number;

	if (outer->is_missing)
		return;
	pprof_proto_uint(&p->part, LOCATION_ADDRESS, modules_address(&p->modules, outer));
	if (!outer->module)
		return;
	p->err = modules_find(&p->modules, outer->module, &number);
	if (p->err < 0)
		return;
	pprof_proto_uint(&p->part, LOCATION_MAPPING, (uint64_t)number + 1);
	item = &p->modules.list[number];
	for (uint32_t i = 0; i < l->count; i++) {
		const struct frame *f = &p->view->frames[l->frames[i]];

		item->has_functions = item->has_functions || f->function;
		item->has_files = item->has_files || f->file;
		item->has_lines = item->has_lines || f->line > 0;
		item->has_inlined = item->has_inlined || f->inlined;
	}
}

static void put_locations(struct pprof *p)
{
	for (size_t i = 0; i < p->locations.count && p->err == 0; i++) {
		const struct location *l = &p->locations.list[i];

		pprof_proto_uint(&p->part, LOCATION_ID, i + 1);
		if (l->count > 0) {
			put_location_module(p, l);
		} else {
			p->has_no_frames = true;
			pprof_proto_uint(&p->inner, LINE_FUNCTION, no_frames);
			pprof_proto_message(&p->part, LOCATION_LINE, &p->inner);
		}
		for (uint32_t k = 0; k < l->count && p->err == 0; k++)
			put_line(p, l->frames[k]);
		put_part(p, PROFILE_LOCATION);
	}
}

/*
 * A frame without a name is a function of its own, "libfoo.so+0x1b7": for
 * locations without a function, readers make one node of a whole library.
 */
static void put_function(struct pprof *p, uint32_t number)
{
	const struct frame *f = functions_frame(p->functions, number);
	char *made = f->function ? NULL : texts_name_of(f);
	const char *name = f->brief ? f->brief : made;
	const char *full = f->symbol ? f->symbol : f->function;

	if (!name) {
		p->err = -ENOMEM;
		return;
	}
	pprof_proto_uint(&p->part, FUNCTION_ID, (uint64_t)number + 1);
	put_string(p, &p->part, FUNCTION_NAME, name);
	put_string(p, &p->part, FUNCTION_SYSTEM_NAME, full ? full : name);
	put_string(p, &p->part, FUNCTION_FILE, f->file);
	put_part(p, PROFILE_FUNCTION);
	free(made);
}

static void put_functions(struct pprof *p)
{
	size_t count = functions_count(p->functions);

	for (uint32_t i = 0; i < count && p->err == 0; i++)
		put_function(p, i);
	if (p->has_no_frames) {
		pprof_proto_uint(&p->part, FUNCTION_ID, no_frames);
		put_string(p, &p->part, FUNCTION_NAME, "(no frames)");
		put_part(p, PROFILE_FUNCTION);
	}
}

static void put_mapping(struct pprof *p, const struct modules_item *item, uint64_t id)
{
	const struct process_module *m = item->module;
	char hex[2 * sizeof(m->build_id) + 1] = "";

	pprof_proto_uint(&p->part, MAPPING_ID, id);
	if (m) {
		/* the whole module, from the beginning of its file on */
		pprof_proto_uint(&p->part, MAPPING_START, m->start);
		pprof_proto_uint(&p->part, MAPPING_LIMIT, m->end);
		for (size_t i = 0; i < m->build_id_bytes; i++)
			(void)snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
	}
	put_string(p, &p->part, MAPPING_FILE, item->path);
	put_string(p, &p->part, MAPPING_BUILD_ID, hex);
	pprof_proto_uint(&p->part, MAPPING_HAS_FUNCTIONS, item->has_functions);
	pprof_proto_uint(&p->part, MAPPING_HAS_FILES, item->has_files);
	pprof_proto_uint(&p->part, MAPPING_HAS_LINES, item->has_lines);
	pprof_proto_uint(&p->part, MAPPING_HAS_INLINED, item->has_inlined);
	put_part(p, PROFILE_MAPPING);
}

/* ---- the profile ---- */

/* Readers take the first for the program. */
static void find_program(struct pprof *p)
{
	const struct session *s = p->view->session;
	uint32_t number;

	for (size_t i = 0; i < s->count && p->modules.count == 0; i++) {
		const struct process *x = s->processes[i];

		if (!export_has(p->options, x))
			continue;
		for (size_t k = 1; k < x->module_count; k++)
			if (x->modules[k].is_main && x->modules[k].path)
				p->err = modules_find(&p->modules, x->modules[k].path, &number);
	}
}

/*
 * The time of a profile is that of its figures: of a process that runs, the
 * moment of reading. Servers that keep profiles refuse or misplace others. A
 * process that has ended is known by its start.
 */
static void put_times(struct pprof *p)
{
	const struct session *s = p->view->session;
	uint64_t first = UINT64_MAX, last = 0, period = 0;
	bool runs = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];
		uint64_t start = x->header.start_realtime_ns;

		if (!export_has(p->options, x))
			continue;
		if (start < first)
			first = start;
		if (start + x->duration_ns > last)
			last = start + x->duration_ns;
		if (x->header.sample_bytes > period)
			period = x->header.sample_bytes;
		runs |= x->running_pid > 0;
	}
	if (first < last) {
		put_number(p, PROFILE_TIME_NANOS, runs ? last : first);
		put_number(p, PROFILE_DURATION_NANOS,
		    p->options->since_ns ? p->options->since_ns : last - first);
	}
	put_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
	put_number(p, PROFILE_PERIOD, period > 0 ? period : 1);
}

static void put_moment(struct pprof *p, const struct export_moment *m)
{
	put_number(p, PROFILE_TIME_NANOS, m->now_ns);
	put_number(p, PROFILE_DURATION_NANOS, capped_difference(m->now_ns, m->since_ns));
	put_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
	put_number(p, PROFILE_PERIOD, m->period_bytes ? m->period_bytes : 1);
}

static void put_comments(struct pprof *p)
{
	char *remarks = remarks_of(p->view, p->options), *rest = remarks;
	char *line;

	if (!remarks) {
		p->err = -ENOMEM;
		return;
	}
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			put_number(p, PROFILE_COMMENT, string(p, line));
	free(remarks);
}

static const char *default_type(const struct export_options *o)
{
	switch (o->metric) {
	case VIEW_PEAK:
		return "peak_space";
	case VIEW_ALLOCS:
		return "alloc_space";
	default:
		return "inuse_space";
	}
}

static void put_profile(struct pprof *p)
{
	(void)string(p, ""); /* number 0 */
	for (int i = 0; i < p->values; i++)
		put_type(p, PROFILE_SAMPLE_TYPE, types[i].type, types[i].unit);
	find_program(p);
	put_samples(p);
	put_locations(p);
	put_functions(p);
	for (size_t i = 0; i < p->modules.count && p->err == 0; i++)
		put_mapping(p, &p->modules.list[i], i + 1);
	if (p->options->moment) {
		put_moment(p, p->options->moment);
	} else {
		put_times(p);
		put_comments(p);
	}
	put_number(p, PROFILE_DEFAULT_TYPE, string(p, default_type(p->options)));
	for (size_t i = 0; i < p->strings.count && p->err == 0; i++) {
		pprof_proto_bytes(
		    &p->field, PROFILE_STRING, p->strings.list[i], strlen(p->strings.list[i]));
		pprof_proto_stream_put(p->stream, &p->field);
	}
}

static int write_pprof(FILE *out, const struct view *v, const struct export_options *o)
{
	struct pprof p = {.view = v,
	    .options = o,
	    .values = o->moment          ? VALUES_OF_GO
	        : export_has_holds(v, o) ? VALUES
	                                 : VALUES_USUAL};

	p.err = pprof_proto_stream_new(out, &p.stream);
	if (p.err < 0)
		return p.err;
	p.err = functions_new(v, &p.functions);
	if (p.err == 0)
		p.err = modules_init(&p.modules, v->session);
	if (p.err == 0)
		put_profile(&p);
	p.err = pprof_proto_stream_end(p.stream, p.err);
	functions_free(p.functions);
	modules_release(&p.modules);
	strings_release(&p.strings);
	locations_release(&p.locations);
	free(p.field.bytes);
	free(p.part.bytes);
	free(p.inner.bytes);
	return p.err < 0 ? p.err : ferror(out) ? -EIO : 0;
}

const struct export_format export_pprof = {
    .name = "pprof",
    .extension = ".pb.gz",
    .what = "profile.proto, compressed: go tool pprof, Perfetto, Pyroscope",
    .flags =
        EXPORT_DEAD | EXPORT_SINCE | EXPORT_BINARY | EXPORT_DEPTH | EXPORT_METRIC | EXPORT_RESIDENT,
    .write = write_pprof,
};
