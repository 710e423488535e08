/* sender.h - what is to be sent of all services, in which order, and when. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SENDER_H
#define SEEP_SENDER_H

#include "base/std.h"
#include "follow/push/message.h"
#include "follow/push/push.h"
#include "follow/push/post.h"
#include "follow/push/stack_sums.h"
#include "kit/os/fault.h"
#include "names/find/names.h"
#include "segments/read/segfile.h"

/*
 * A table of sums for each service. One request is on its way at a time, for one
 * service.
 * Whatever a server does, no sum is lost: what it has not accepted stays in the
 * table and is part of the next profile, which has later figures and a later
 * time. So nothing grows old while it waits.
 *
 * If no answer comes, nobody knows whether the profile was taken. Then the very
 * same bytes are sent again, which a server can recognise by time and id, until
 * they are SENDER_STALE_NS old; after that their sums are part of a new one.
 *
 * There is no clock and no network in it: the caller passes the time (of
 * CLOCK_REALTIME, in ns) and the answers.
 */
enum {
	SENDER_BYTES = 16 << 20, /* of all that waits, at most */
	SENDER_SERVICES = 1024,
};
#define SENDER_STALE_NS (UINT64_C(55) * 60 * 1000000000)

struct sender_plan {
	const char *instance;
	const struct message_labels *labels;
	struct push_state *state; /* kept up to date */
	/* a line for the user, safe to print */
	void (*say)(void *context, const char *text);
	void *context;
	const char *server; /* for these lines */
	uint64_t every_ns;  /* 0: once */
	uint64_t host, random;
	uint64_t now_ns;
};

struct sender;

/* -ENOMEM. */
int sender_new(const struct sender_plan *plan, struct sender **ret);
void sender_free(struct sender *s); /* NULL is fine */

/*
 * The sums of a service, which are made if they are missing. If there are too many
 * services, those of "other%20services". NULL: no memory. Valid until
 * sender_read().
 */
struct stack_sums *sender_sums(struct sender *s, const char *service);

/* When all processes are to be read next; never, while a request is open. */
uint64_t sender_next_ns(const struct sender *s);

/* The clock may have been set back. */
void sender_check_clock(struct sender *s, uint64_t now_ns);

/* The next reading is the last one. */
void sender_expect_end(struct sender *s);

/* A reading begins: nothing is live anywhere. */
void sender_begin_reading(struct sender *s);

/* All processes have been read, at now_ns: there may be requests. -ENOMEM. */
int sender_read(struct sender *s, uint64_t now_ns);

/*
 * The next request; valid until its answer. false: there is none until the next
 * reading. *ret_err: -ENOMEM.
 */
struct sender_request {
	const uint8_t *bytes;
	size_t len;
};
bool sender_request(struct sender *s, uint64_t now_ns, struct sender_request *ret, int *ret_err);

/* The answer to it. */
void sender_answer(struct sender *s, const struct answer *a, uint64_t now_ns);

/* What happened to the requests of the last reading. */
struct sender_result {
	size_t accepted, failed;
	struct answer last; /* that was not accepted */
};
struct sender_result sender_result(const struct sender *s);

/* All that no server has accepted. */
struct stack_sums_pair sender_waiting(const struct sender *s);

/* ---- reading: reads the counters of a process into the sums of its service ---- */

/* What a process had allocated at the last reading, by site. Zeros: nothing. */
struct reading_past {
	struct reading_site {
		uint32_t id;
		struct stack_sums_pair allocated;
	} * sites; /* by id */
	size_t count;
};

void reading_release(struct reading_past *past);

/*
 * From now on only what the process allocates later is new. Errors as of
 * session_load_slot().
 */
int reading_begin(struct reading_past *past, const struct segfile *f, int slot, pid_t pid);

/*
 * Adds the live blocks of a process, unless it `has_ended`, and what it has
 * allocated since the last reading. `pid`: as of session_load_slot(). Names of
 * new stacks are looked for, which takes seconds at most.
 * Errors as of session_load_slot(): nothing was added, nothing has changed.
 */
struct reading_plan {
	const struct segfile *file;
	int slot;
	pid_t pid;
	bool has_ended;
	const uint8_t *uuid; /* it must be this process */
	const struct names_options *naming;
};
int reading_take(struct stack_sums *b, struct reading_past *past, const struct reading_plan *plan,
    size_t *ret_merged);

#endif
