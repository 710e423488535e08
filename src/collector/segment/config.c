/* config.c - SEEP_* variables, read once in the constructor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/config.h"

#include <stddef.h>

#include "base/fmt.h"
#include "format/seg_flight.h"
#include "format/format.h"
#include "format/seg_log.h"

enum { TEXT_MAX = 64, RT_FIRST = 34, RT_LAST = 64 };

struct config config = {.snapshots = CONFIG_SNAPSHOTS,
    .snapshot_bytes = CONFIG_SNAPSHOT_BYTES,
    .leaks_wait = CONFIG_LEAKS_WAIT,
    .log_pool = CONFIG_LOG_POOL};

/* The value if this entry is the variable `name`, otherwise NULL. */
static const char *value_of(const char *entry, const char *name)
{
	while (*name && *entry == *name)
		entry++, name++;
	return !*name && *entry == '=' ? entry + 1 : NULL;
}

/* The rest of s after `prefix`; NULL if s does not begin with it. */
static const char *after(const char *s, const char *prefix)
{
	while (*prefix && *s == *prefix)
		s++, prefix++;
	return *prefix ? NULL : s;
}

/* All of s is digits, and no more than max. */
static bool whole_number(const char *s, uint64_t max, uint64_t *ret)
{
	const char *end = s + fmt_length(s, TEXT_MAX);
	uint64_t v;

	if (s == end || fmt_scan_decimal(s, end, &v) != end || v > max)
		return false;
	*ret = v;
	return true;
}

/* USR2, SIGUSR2, 12, RTMIN+3, RTMAX-1. glibc's numbers; -1: none of these. */
static int32_t signal_number(const char *s)
{
	static const struct {
		const char *name;
		int32_t number;
	} names[] = {{"HUP", 1}, {"INT", 2}, {"QUIT", 3}, {"ILL", 4}, {"TRAP", 5}, {"ABRT", 6},
	    {"BUS", 7}, {"FPE", 8}, {"KILL", 9}, {"USR1", 10}, {"SEGV", 11}, {"USR2", 12},
	    {"PIPE", 13}, {"ALRM", 14}, {"TERM", 15}, {"STKFLT", 16}, {"CHLD", 17}, {"CONT", 18},
	    {"STOP", 19}, {"TSTP", 20}, {"TTIN", 21}, {"TTOU", 22}, {"URG", 23}, {"XCPU", 24},
	    {"XFSZ", 25}, {"VTALRM", 26}, {"PROF", 27}, {"WINCH", 28}, {"IO", 29}, {"PWR", 30},
	    {"SYS", 31}, {"RTMIN", RT_FIRST}, {"RTMAX", RT_LAST}};
	const char *rest;
	uint64_t v;
	size_t i;

	if (whole_number(s, RT_LAST, &v))
		return v ? (int32_t)v : -1;
	if ((rest = after(s, "SIG")))
		s = rest;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fmt_same(s, names[i].name))
			return names[i].number;
	}
	if ((rest = after(s, "RTMIN+")) && whole_number(rest, RT_LAST - RT_FIRST, &v))
		return RT_FIRST + (int32_t)v;
	if ((rest = after(s, "RTMAX-")) && whole_number(rest, RT_LAST - RT_FIRST, &v))
		return RT_LAST - (int32_t)v;
	return -1;
}

/*
 * Reads a number; its unit decides whether it is a time or a size. Where only
 * one of them can be meant, the other's pointer is NULL.
 */
static bool period_or_size(const char *s, const char *end, uint64_t *ret_ns, uint64_t *ret_bytes)
{
	static const struct {
		const char *unit;
		uint64_t factor;
		bool is_time;
	} units[] = {{"ms", 1000000, true}, {"s", 1000000000, true},
	    {"m", UINT64_C(60) * 1000000000, true}, {"min", UINT64_C(60) * 1000000000, true},
	    {"h", UINT64_C(3600) * 1000000000, true}, {"B", 1, false}, {"k", 1 << 10, false},
	    {"K", 1 << 10, false}, {"KiB", 1 << 10, false}, {"kB", 1000, false},
	    {"KB", 1000, false}, {"m", 1 << 20, false}, {"M", 1 << 20, false},
	    {"MiB", 1 << 20, false}, {"MB", 1000000, false}, {"g", 1 << 30, false},
	    {"G", 1 << 30, false}, {"GiB", 1 << 30, false}, {"GB", 1000000000, false}};
	char unit[8] = "";
	uint64_t v;
	const char *at = fmt_scan_decimal(s, end, &v);
	size_t i;

	if (at == s || (size_t)(end - at) >= sizeof(unit))
		return false;
	for (i = 0; at + i < end; i++)
		unit[i] = at[i];
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t *to = units[i].is_time ? ret_ns : ret_bytes;

		if (!to || !fmt_same(unit, units[i].unit))
			continue;
		if (__builtin_mul_overflow(v, units[i].factor, to))
			*to = UINT64_MAX / 2;
		return true;
	}
	return false;
}

/* "64MiB", "500k", "1000000". */
static bool read_bytes(const char *s, uint64_t *ret)
{
	const char *end = s + fmt_length(s, TEXT_MAX);

	return whole_number(s, UINT64_MAX, ret) || period_or_size(s, end, NULL, ret);
}

/* ---- how a value is read ------------------------------------------------- */

/* A variable: `read` stores its value at `to`, or counts that it was not understood. */
struct setting {
	const char *name;
	void (*read)(const struct setting *s, const char *value);
	void *to;
	const char *on, *off; /* of a switch: its values; `off` and "" are the default */
	uint64_t most;        /* of a number; of a text: its room in bytes */
	bool is_size;         /* a number with a unit */
	bool may_lack;        /* a number that is 0 without a value, or with a wrong one */
};

static void read_switch(const struct setting *s, const char *value)
{
	bool is_on = fmt_same(value, s->on);

	*(bool *)s->to = is_on;
	config.ignored += *value && !is_on && !fmt_same(value, s->off);
}

static void read_number(const struct setting *s, const char *value)
{
	uint64_t n;

	if (s->may_lack)
		*(uint64_t *)s->to = 0;
	if ((s->is_size ? read_bytes(value, &n) : whole_number(value, s->most, &n)) && n <= s->most)
		*(uint64_t *)s->to = n;
	else
		config.ignored += *value || !s->may_lack;
}

/* What fits. */
static void read_text(const struct setting *s, const char *value)
{
	fmt_copy(s->to, s->most, value);
}

/* Whole or not at all. */
static bool read_whole(const struct setting *s, const char *value)
{
	bool fits = fmt_copy(s->to, s->most, value);

	if (!fits)
		*(char *)s->to = 0;
	return fits;
}

static void read_dir(const struct setting *s, const char *value)
{
	config.dir_replaced |= !read_whole(s, value);
}

static void read_snapshot_dir(const struct setting *s, const char *value)
{
	config.ignored += !read_whole(s, value);
}

/* Every '%' has one of the letters behind it that snapfile.c knows. */
static bool is_pattern(const char *s)
{
	for (; *s; s++) {
		if (*s == '%' && *++s != 'h' && *s != 'e' && *s != 'p' && *s != '%')
			return false;
	}
	return true;
}

static void read_snapshot_name(const struct setting *s, const char *value)
{
	bool is_fit = read_whole(s, value) && is_pattern(value);

	if (!is_fit)
		*(char *)s->to = 0;
	config.ignored += !is_fit;
}

static void read_only(const struct setting *s, const char *value)
{
	*(const char **)s->to = *value ? value : NULL;
}

static void read_child_files(const struct setting *s, const char *value)
{
	read_switch(s, value);
	config.no_child_files = fmt_same(value, s->off);
}

static void read_signal(const struct setting *s, const char *value)
{
	*(int32_t *)s->to = *value ? signal_number(value) : 0;
}

/* "60s", "64MiB" or both, separated by a comma. */
static bool read_periods(const char *s)
{
	while (*s) {
		const char *end = s;
		uint64_t ns = UINT64_MAX, bytes = UINT64_MAX;

		while (*end && *end != ',')
			end++;
		if (!period_or_size(s, end, &ns, &bytes) || !ns || !bytes)
			return false;
		if (ns != UINT64_MAX)
			config.every_ns = ns;
		if (bytes != UINT64_MAX)
			config.every_bytes = bytes;
		s = *end ? end + 1 : end;
	}
	return true;
}

static void read_every(const struct setting *s, const char *value)
{
	(void)s;
	config.every_ns = config.every_bytes = 0;
	if (!read_periods(value)) {
		config.every_ns = config.every_bytes = 0;
		config.ignored++;
	}
}

/* last, last:N, last,frees or last:N,frees. False: none of these. */
static bool read_last(const char *v)
{
	const char *rest = after(v, "last"), *end;
	uint64_t n = FLIGHT_EVENTS;

	if (!rest)
		return false;
	if (*rest == ':') {
		end = rest + fmt_length(rest, TEXT_MAX);
		v = rest + 1;
		rest = fmt_scan_decimal(v, end, &n);
		if (rest == v || n < FLIGHT_EVENTS_MIN || n > FLIGHT_EVENTS_MAX)
			return false;
	}
	if (*rest && !fmt_same(rest, ",frees"))
		return false;
	config.log = *rest ? FLIGHT_MODE_FREES : FLIGHT_MODE_LAST;
	config.log_last = (uint32_t)n;
	return true;
}

static void read_log(const struct setting *s, const char *value)
{
	(void)s;
	config.log = config.log_last = config.log_lack = 0;
	if (fmt_same(value, "1")) {
		config.log = LOG_MODE_EVENTS;
	} else if (fmt_same(value, "addresses")) {
		config.log = LOG_MODE_ADDRESSES;
	} else if (!read_last(value) && *value && !fmt_same(value, "0")) {
		config.ignored++;
		config.log_lack = SEG_LOG_LACK_SETTING;
	}
}

/* ---- all of them --------------------------------------------------------- */

#define TEXT(field)     .to = config.field, .most = sizeof(config.field)
#define SWITCH(yes, no) .on = (yes), .off = (no)
#define SIZE(limit)     .most = (limit), .is_size = true

static const struct setting settings[] = {
    {"SEEP_BASE", read_dir, TEXT(base)},
    {"SEEP_BUDGET", read_number, &config.budget, SIZE(INT64_MAX), .may_lack = true},
    {"SEEP_CHILD_FILES", read_child_files, &config.child_files, SWITCH("1", "0")},
    {"SEEP_DEEPBIND", read_switch, &config.no_deepbind, SWITCH("clear", "keep")},
    {"SEEP_DEPTH", read_number, &config.depth, .most = UINT32_MAX, .may_lack = true},
    {"SEEP_DIR", read_dir, TEXT(dir)},
    {"SEEP_EVERY", read_every, .to = &config.every_ns},
    {"SEEP_GUESS", read_switch, &config.no_guess, SWITCH("0", "1")},
    {"SEEP_LEAKS", read_switch, &config.leaks, SWITCH("1", "0")},
    {"SEEP_LEAKS_WAIT", read_number, &config.leaks_wait, .most = CONFIG_LEAKS_WAIT_MAX},
    {"SEEP_LOG", read_log, .to = &config.log},
    {"SEEP_LOG_POOL", read_number, &config.log_pool, SIZE(UINT64_MAX)},
    {"SEEP_MAPPINGS", read_switch, &config.mappings, SWITCH("1", "0")},
    {"SEEP_MODE", read_switch, &config.dormant, SWITCH("dormant", "on")},
    {"SEEP_ONLY", read_only, .to = &config.only},
    {"SEEP_PRIVATE", read_switch, &config.is_private, SWITCH("1", "0")},
    {"SEEP_SAMPLE", read_number, &config.sample, SIZE(INT64_MAX), .may_lack = true},
    {"SEEP_SESSION", read_text, TEXT(session)},
    {"SEEP_SIGNAL", read_signal, .to = &config.signal},
    {"SEEP_SNAPSHOTS", read_number, &config.snapshots, .most = UINT32_MAX},
    {"SEEP_SNAPSHOT_BYTES", read_number, &config.snapshot_bytes, SIZE(UINT64_MAX)},
    {"SEEP_SNAPSHOT_DIR", read_snapshot_dir, TEXT(snapshot_dir)},
    {"SEEP_SNAPSHOT_NAME", read_snapshot_name, TEXT(snapshot_name)},
};

static void read_entry(const char *entry)
{
	const char *value;
	size_t i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if ((value = value_of(entry, settings[i].name)))
			settings[i].read(&settings[i], value);
}

void config_read(char **envp)
{
	for (; envp && *envp; envp++)
		if ((*envp)[0] == 'S' && (*envp)[1] == 'E')
			read_entry(*envp);
	if (config.log_last && config.log_pool == CONFIG_LOG_POOL) {
		uint64_t least = FLIGHT_RINGS *
		    flight_ring_bytes(
		        flight_entries(config.log_last, config.log == (uint32_t)FLIGHT_MODE_FREES));

		if (config.log_pool < least)
			config.log_pool = least;
	}
	/* the log has every event, in shared memory */
	if (config.log && (config.sample || config.is_private)) {
		config.log = config.log_last = 0;
		config.log_lack = config.sample ? SEG_LOG_LACK_SAMPLE : SEG_LOG_LACK_PRIVATE;
		config.ignored++;
	}
}

/* ---- SEEP_ONLY ------------------------------------------------------------ */

/* The part of the path that the name from `name` to `end` is compared with. */
static const char *part_of(const char *path, const char *name, const char *end)
{
	const char *base = path;

	for (; name < end; name++)
		if (*name == '/')
			return path;
	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

static bool is_name_of(const char *path, const char *name, const char *end)
{
	if (!path)
		return false;
	path = part_of(path, name, end);
	while (name < end && *path && *name == *path)
		name++, path++;
	return name == end && !*path;
}

bool config_leaves_out(
    const char *list, const char *executable, const char *started_as, bool *ret_ignored)
{
	bool has_name = false;

	*ret_ignored = false;
	while (*list) {
		const char *end = list;

		while (*end && *end != ':')
			end++;
		if (end > list) {
			has_name = true;
			if (is_name_of(executable, list, end) || is_name_of(started_as, list, end))
				return false;
		}
		list = *end ? end + 1 : end;
	}
	*ret_ignored = !has_name;
	return has_name;
}
