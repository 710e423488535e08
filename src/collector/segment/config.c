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

/* "60s", "64MiB" or both, separated by a comma. */
static bool read_every(const char *s)
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

/* "64MiB", "500k", "1000000". */
static bool read_bytes(const char *s, uint64_t *ret)
{
	const char *end = s + fmt_length(s, TEXT_MAX);

	return whole_number(s, UINT64_MAX, ret) || period_or_size(s, end, NULL, ret);
}

/* The same into a setting that is 0 without a value, or with a wrong one. */
static uint64_t bytes_or_none(const char *s)
{
	uint64_t n = 0;

	if (*s && (!read_bytes(s, &n) || n > INT64_MAX)) {
		config.ignored++;
		return 0;
	}
	return n;
}

/* A number of frames; 0: the default. */
static uint32_t frames(const char *s)
{
	uint64_t n = 0;

	config.ignored += *s && !whole_number(s, UINT32_MAX, &n);
	return (uint32_t)n;
}

/* "1", or "0" and "", which are the default. */
static bool is_on(const char *s)
{
	config.ignored += *s && !fmt_same(s, "1") && !fmt_same(s, "0");
	return fmt_same(s, "1");
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

static void read_name(const char *v)
{
	if (is_pattern(v) && fmt_copy(config.snapshot_name, sizeof(config.snapshot_name), v))
		return;
	config.snapshot_name[0] = 0;
	config.ignored++;
}

/* Reads a setting about snapshots. False: this entry is another one. */
static bool read_snapshots(const char *entry)
{
	const char *v;
	uint64_t n;

	if ((v = value_of(entry, "SEEP_SNAPSHOT_DIR"))) {
		if (!fmt_copy(config.snapshot_dir, sizeof(config.snapshot_dir), v)) {
			config.snapshot_dir[0] = 0;
			config.ignored++;
		}
	} else if ((v = value_of(entry, "SEEP_SNAPSHOT_NAME"))) {
		read_name(v);
	} else if ((v = value_of(entry, "SEEP_SNAPSHOT_BYTES"))) {
		config.ignored += !read_bytes(v, &config.snapshot_bytes);
	} else if ((v = value_of(entry, "SEEP_SNAPSHOTS"))) {
		if (whole_number(v, UINT32_MAX, &n))
			config.snapshots = (uint32_t)n;
		else
			config.ignored++;
	} else if ((v = value_of(entry, "SEEP_SIGNAL"))) {
		config.signal = *v ? signal_number(v) : 0;
	} else if ((v = value_of(entry, "SEEP_EVERY"))) {
		config.every_ns = config.every_bytes = 0;
		if (!read_every(v)) {
			config.every_ns = config.every_bytes = 0;
			config.ignored++;
		}
	} else {
		return false;
	}
	return true;
}

/* Reads a setting about leaks. False: this entry is another one. */
static bool read_leaks(const char *entry)
{
	const char *v;

	if ((v = value_of(entry, "SEEP_LEAKS"))) {
		config.leaks = is_on(v);
	} else if ((v = value_of(entry, "SEEP_LEAKS_WAIT"))) {
		config.ignored += !whole_number(v, CONFIG_LEAKS_WAIT_MAX, &config.leaks_wait);
	} else {
		return false;
	}
	return true;
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

/* Reads a setting of the event log. False: this entry is another one. */
static bool read_log(const char *entry)
{
	const char *v;

	if ((v = value_of(entry, "SEEP_LOG"))) {
		config.log = config.log_last = config.log_lack = 0;
		if (fmt_same(v, "1"))
			config.log = LOG_MODE_EVENTS;
		else if (fmt_same(v, "addresses"))
			config.log = LOG_MODE_ADDRESSES;
		else if (!read_last(v) && *v && !fmt_same(v, "0")) {
			config.ignored++;
			config.log_lack = SEG_LOG_LACK_SETTING;
		}
	} else if ((v = value_of(entry, "SEEP_LOG_POOL"))) {
		config.ignored += !read_bytes(v, &config.log_pool);
	} else {
		return false;
	}
	return true;
}

void config_read(char **envp)
{
	for (; envp && *envp; envp++) {
		const char *v;

		if ((*envp)[0] != 'S' || (*envp)[1] != 'E' || read_snapshots(*envp) ||
		    read_leaks(*envp) || read_log(*envp))
			continue;
		if ((v = value_of(*envp, "SEEP_DIR"))) {
			if (!fmt_copy(config.dir, sizeof(config.dir), v)) {
				config.dir[0] = 0;
				config.dir_replaced = true;
			}
		} else if ((v = value_of(*envp, "SEEP_BASE"))) {
			if (!fmt_copy(config.base, sizeof(config.base), v)) {
				config.base[0] = 0;
				config.dir_replaced = true;
			}
		} else if ((v = value_of(*envp, "SEEP_ONLY"))) {
			config.only = *v ? v : NULL;
		} else if ((v = value_of(*envp, "SEEP_SESSION"))) {
			fmt_copy(config.session, sizeof(config.session), v);
		} else if ((v = value_of(*envp, "SEEP_MODE"))) {
			config.dormant = fmt_same(v, "dormant");
			config.ignored += *v && !config.dormant && !fmt_same(v, "on");
		} else if ((v = value_of(*envp, "SEEP_CHILD_FILES"))) {
			config.child_files = is_on(v);
			config.no_child_files = fmt_same(v, "0");
		} else if ((v = value_of(*envp, "SEEP_PRIVATE"))) {
			config.is_private = is_on(v);
		} else if ((v = value_of(*envp, "SEEP_MAPPINGS"))) {
			config.mappings = is_on(v);
		} else if ((v = value_of(*envp, "SEEP_DEEPBIND"))) {
			config.no_deepbind = fmt_same(v, "clear");
			config.ignored += *v && !config.no_deepbind && !fmt_same(v, "keep");
		} else if ((v = value_of(*envp, "SEEP_GUESS"))) {
			config.no_guess = fmt_same(v, "0");
			config.ignored += *v && !config.no_guess && !fmt_same(v, "1");
		} else if ((v = value_of(*envp, "SEEP_SAMPLE"))) {
			config.sample = bytes_or_none(v);
		} else if ((v = value_of(*envp, "SEEP_DEPTH"))) {
			config.depth = frames(v);
		} else if ((v = value_of(*envp, "SEEP_BUDGET"))) {
			config.budget = bytes_or_none(v);
		}
	}
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
