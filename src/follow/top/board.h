/* board.h - the rows that top shows, made of the looks of the engine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BOARD_H
#define SEEP_BOARD_H

#include <stdbool.h>

#include "follow/engine/engine.h"
#include "follow/top/trend.h"

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
	uint64_t number; /* of live_process */
	enum live_state state;
	enum live_cause cause;
	int cause_number;
	bool is_silent, has_unit, has_container;
	pid_t pid, inner_pid;
	uid_t uid;
	uint32_t mode, run_state, inert_reason; /* as in the header */
	uint64_t sample_bytes;
	uint8_t uuid[16];
	char program[LIVE_NAME], service[LIVE_NAME];
	struct live_totals now;
	int64_t since_bytes;                         /* live bytes, since the base */
	bool has_rates;                              /* there were two looks */
	double growth, allocations_rate, frees_rate; /* a second */
	uint64_t limit, used;
	size_t sites;
	uint64_t age_ns;
	struct trend trend;
};

/* boot_ns: CLOCK_BOOTTIME. */
void board_process_of(const struct live_process *p, uint64_t boot_ns, struct board_process *ret);

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
int board_list_fill(struct board_list *b, const struct live *l);
void board_list_release(struct board_list *b);

#endif
