/* board.h - the rows that top shows, made of the looks of the engine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BOARD_H
#define SEEP_BOARD_H

#include "base/std.h"
#include "follow/engine/engine.h"

/* ---- brief: figures in a few columns, for tables that are read at a glance ---- */

enum { BRIEF_MAX = 16 };

/*
 * "0", "999", "1.21K", "12.1M", "121G": three digits and a unit of 1,024 each,
 * so 5 columns at most.
 */
const char *brief_bytes(char buffer[BRIEF_MAX], uint64_t n);

/* The same with a sign: "+12.1M", "-3", "0". */
const char *brief_change(char buffer[BRIEF_MAX], int64_t n);

/* The same in units of 1,000, for what is counted: "12.1k". */
const char *brief_count(char buffer[BRIEF_MAX], uint64_t n);

/* A rate of 10 or more as brief_count(), below "0.3"; 0 is "0". */
const char *brief_rate(char buffer[BRIEF_MAX], double n);

/* "12s", "3m04", "5h12", "12d": 5 columns at most. */
const char *brief_age(char buffer[BRIEF_MAX], uint64_t ns);

/* "0.0%", "12.3%", "100%", ">999%": part of whole; "-" if that is 0. */
const char *brief_share(char buffer[BRIEF_MAX], uint64_t part, uint64_t whole);

/* ---- trend: how a figure went in the last looks, as one short line ---- */

enum {
	TREND_LOOKS = 60,
	TREND_LEVELS = 8,
	TREND_MAX = TREND_LOOKS * 3 + 1, /* bytes of its text */
};

/* A level for each look, the newest last; 0 is the lowest. */
struct trend {
	uint8_t level[TREND_LOOKS];
	uint8_t count; /* the looks that there were, TREND_LOOKS at most */
};

/*
 * From `count` values, the oldest first, of which the newest are taken. Levels
 * go from the lowest to the highest value, but a difference of less than 2 % of
 * the highest is not blown up to the whole height.
 */
void trend_of(struct trend *t, const uint64_t *values, size_t count);

/* A figure that has not changed in any of `count` looks. */
void trend_flat(struct trend *t, size_t count);

/*
 * The trend in `columns` columns, the newest at the right end, filled up with
 * spaces at the left. If there are fewer columns than looks, each column shows
 * the highest of its looks. Without UTF-8 digits 0 to 7 stand for the blocks.
 */
const char *trend_text(char buffer[TREND_MAX], const struct trend *t, size_t columns, bool utf8);

/* ---- board: the rows that top shows, made of the looks of the engine ---- */

/*
 * Rows are copies: a screen that is frozen keeps them while looks go on. Names
 * in them are untrusted text.
 */

enum {
	BOARD_RATE_LOOKS = 5, /* rates are of the last so many intervals */
	BOARD_CAUSE = 32,
	BOARD_SENTENCE = 64,
};

struct board_process {
	uint64_t number; /* of engine_process */
	enum engine_state state;
	enum engine_cause cause;
	int cause_number;
	bool is_silent, has_unit, has_container;
	pid_t pid, inner_pid;
	uid_t uid;
	uint32_t mode, run_state, inert_reason; /* as in the header */
	uint64_t sample_bytes;
	uint8_t uuid[16];
	char program[LIVE_NAME], service[LIVE_NAME];
	struct engine_totals now;
	int64_t since_bytes;                         /* live bytes, since the base */
	bool has_rates;                              /* there were two looks */
	double growth, allocations_rate, frees_rate; /* a second */
	uint64_t limit, used;
	size_t sites;
	uint64_t age_ns;
	struct trend trend;
};

/* boot_ns: CLOCK_BOOTTIME. */
void board_process_of(const struct engine_process *p, uint64_t boot_ns, struct board_process *ret);

/*
 * Why it ended, or what holds while it runs, in a few letters: "on", "sampled",
 * "off", "exit 3", "SIGKILL", "oom", "exec", "ended", "unseen", "silent".
 */
const char *board_mode(char buffer[BOARD_CAUSE], const struct board_process *p);

/* The same as a sentence for the end of a process; "" while it runs. */
const char *board_cause(char buffer[BOARD_SENTENCE], const struct board_process *p);

/*
 * What it is called: its unit; in a container, unless that is our own one,
 * PROGRAM@CONTAINER, because a container has many programs; else its program.
 */
enum { BOARD_NAME = 2 * LIVE_NAME };
const char *board_name(char buffer[BOARD_NAME], const struct board_process *p);

struct board_list {
	struct board_process *rows;
	size_t count, room;
	/* of all that run */
	uint64_t live_bytes;
	double growth;
	size_t running;
	/* the container that we are in ourselves; "": none */
	char own[LIVE_NAME];
	bool is_own_known;
};

/* Takes all processes of the engine. -ENOMEM. */
int board_list_fill(struct board_list *b, const struct engine *l);
void board_list_release(struct board_list *b);

#endif
