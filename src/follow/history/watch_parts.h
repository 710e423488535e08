/* watch_parts.h - what the files of watch.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WATCH_PARTS_H
#define SEEP_WATCH_PARTS_H

#include "follow/engine/engine.h"
#include "follow/recorder/leaks_look.h"
#include "follow/recorder/quota.h"
#include "kit/data/dict.h"
#include "follow/history/watch_rule.h"
#include "segments/find/gather.h"
#include "follow/history/service.h"
#include "follow/history/watch.h"

/* A process that runs and is followed; in the order of their numbers. */
struct watched {
	uint64_t number; /* of the engine */
	struct service *service;
	uint64_t view; /* see store.h */
	struct service_process line;
	uint64_t births_ns; /* when its births are read again; 0: not met */
	/* the last reading, if it is not written yet; NULL: none */
	struct watched_births {
		uint8_t *bytes; /* for free() */
		size_t len;
		uint8_t uuid[16];
	} births;
};

/* Whose service a process is, for its children. */
struct watch_kin {
	uint8_t uuid[16];
	uint32_t uid; /* of its file */
	struct service *service;
	bool runs;
};

/* A command that was seen to run in a service, for those that died unwatched. */
struct watch_command {
	uint64_t hash; /* of program and arguments */
	uint32_t uid;
	struct service *service; /* NULL: in several */
};

enum { WATCH_CHILDREN = 64 };

struct watch {
	const struct watch_plan *plan;
	struct store store;
	struct quota quota; /* memory to follow processes, by user */
	struct engine *live;
	struct gather *gather;
	struct alarm *alarm; /* NULL: no rules */
	struct service **services;
	size_t service_count, service_room;
	struct dict service_index;
	struct watched *watched;
	size_t watched_count, watched_room;
	struct watch_kin *kin;
	size_t kin_count, kin_room;
	struct dict kin_index;
	struct watch_command *commands;
	size_t command_count, command_room;
	/* (device, inode, slot) of those that run, of the last look */
	struct watch_seat {
		uint64_t device, inode;
		int64_t slot;
	} * seats;
	size_t seat_count, seat_room;
	struct dict seat_index;
	pid_t children[WATCH_CHILDREN]; /* that finish a chapter */
	size_t child_count;
	bool is_said_full; /* that nothing can be written */
	bool has_news;     /* somebody came or ended, and was not looked at */
	uint64_t next_news_ns;
	uint64_t rested_ns;     /* no round of gather.h before */
	uint64_t gathered_ns;   /* when the last one began */
	uint64_t gathered_dead; /* engine_came_dead() then */
	uint64_t gathered_room; /* gather_room() after it */
	uint64_t next_room_ns;
	uint64_t next_look_ns, next_gather_ns, next_thin_ns, next_retry_ns;
	uint64_t next_save_ns, next_sign_ns, next_parts_ns;
	uint64_t saved_written; /* counts at the last gather_save() */
	bool is_kin_new;        /* since the last watch_kin_save() */
	struct watch_births {
		struct leaks_look look; /* at one process */
		uint64_t number;        /* of that one, of the engine */
		uint8_t uuid[16];
		uint64_t rest_until_ns; /* no other look before this */
		size_t kept_bytes;      /* of all watched */
	} births;
};

void watch_say(const struct watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The next round of gather.h comes soon. */
void watch_hasten_gather(struct watch *w);

/* The time for store_thin(). 0: no chapter is old, because the clock is in doubt. */
uint64_t watch_age_now(const struct watch *w);

/* ---- watch_services.c ---- */

/* The service of a process that the engine lists. NULL: no memory. */
struct service *watch_service_of(struct watch *w, const struct engine_process *p);

/* The service of a process that was found dead. */
struct service *watch_service_of_dead(struct watch *w, const struct gather_row *row);
void watch_services_release(struct watch *w);

/* A forked child is in a chapter: the file of kin does without it. */
void watch_kin_ended(struct watch *w, const struct seg_header *h);

/*
 * Which services those that run belong to, and which commands units have, as a
 * file of the history: if watch and they are killed, the next one finds their
 * segments, but no process that would say so.
 */
int watch_kin_save(const struct watch *w);
int watch_kin_load(struct watch *w);

/* ---- watch_processes.c ---- */

/*
 * Brings our list in line with the engine's: who came gets a service, who ended
 * is written down. -ENOMEM.
 */
int watch_processes(struct watch *w);

/* A look at all whose time it is. -ENOMEM. */
int watch_look(struct watch *w);

/* Holds the rules against all that run. -ENOMEM. */
int watch_rules(struct watch *w);

/* Ends the chapter of a service and begins the next one, if somebody runs. */
void watch_turn(struct watch *w, struct service *s, bool is_last);
void watch_processes_release(struct watch *w);

/*
 * The one of the engine with this number; NULL: none. Both lists are in the
 * order of numbers, and *at is where the last call for a smaller one ended.
 */
struct engine_process *watch_process_of(const struct watch *w, uint64_t number, size_t *at);

/* ---- watch_births.c ---- */

/*
 * Reads ages and births of live blocks from the memory of processes that run,
 * one at a time, as `seep record` does (leaks.h), so that a process that is
 * killed has a score. They take at most a tenth of a chapter: beyond that the
 * last reading is kept until the process ends or the chapter is turned.
 */
void watch_births_step(struct watch *w);

/* Readable when a reading is complete; -1: none is under way. */
int watch_births_fd(const struct watch *w);

/* The process has ended: what is known of it is written. */
void watch_births_ended(struct watch *w, struct watched *x);

/* The chapter of s ends. */
void watch_births_turn(struct watch *w, const struct service *s);
void watch_births_release(struct watch *w);

/* The hooks of gather.h. */
struct gather_hooks watch_gather_hooks(struct watch *w);

#endif
