/* sender.c - what is to be sent of all services, in which order, and when. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/sender.h"

#include "follow/push/message.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

#define NEVER  UINT64_MAX
#define OTHERS "other%20services"

enum {
	NAME_BYTES = 192,
	KEEP_STACKS = STACK_SUMS_MOST / 4 * 3, /* of a full table */
};

struct parcel {
	uint8_t *bytes; /* NULL: none */
	size_t len;
	uint64_t made_ns;
	bool is_uncertain; /* a server may have taken it */
};

struct unit {
	char name[NAME_BYTES];
	struct stack_sums sums;
	uint64_t since_ns;    /* of the last profile that was accepted */
	struct parcel parcel; /* that was sent, and has no answer */
	bool is_due;
	int told_status; /* that the user knows of; 0: none */
};

struct sender {
	struct sender_plan plan;
	struct schedule schedule;
	struct unit **units;
	size_t count, room;
	struct dict index;
	uint64_t read_ns;  /* of the figures in the sums */
	struct unit *open; /* whose request waits for an answer */
	bool is_last;      /* there will be no other reading */
	bool is_late;      /* the server wants to be left alone */
	bool is_told;      /* that it cannot be reached */
	struct sender_result result;
};

static void say(const struct sender *s, const char *text)
{
	if (s->plan.say)
		s->plan.say(s->plan.context, text);
}

/* ---- services ---- */

static bool same_unit(const void *items, uint32_t item, const void *key)
{
	struct unit *const *all = items;

	return strcmp(all[item]->name, key) == 0;
}

static struct unit *new_unit(struct sender *s, const char *name)
{
	struct unit *u = calloc(1, sizeof(*u));
	uint32_t at;

	if (!u || stack_sums_init(&u->sums) < 0) {
		free(u);
		return NULL;
	}
	(void)snprintf(u->name, sizeof(u->name), "%s", name);
	u->since_ns = s->read_ns ? s->read_ns : s->plan.now_ns;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
	if (room_make(&s->units, &s->room, s->count, sizeof(*s->units)) < 0 ||
	    dict_find(&s->index, dict_hash_text(u->name), same_unit, s->units, u->name,
	        (uint32_t)s->count, &at) < 0) {
		stack_sums_release(&u->sums);
		free(u);
		return NULL;
	}
	s->units[s->count++] = u;
	return u;
}

/* NULL: not there. */
static struct unit *find_unit(const struct sender *s, const char *name)
{
	uint32_t at;

	return dict_seek(&s->index, dict_hash_text(name), same_unit, s->units, name, &at)
	    ? s->units[at]
	    : NULL;
}

struct stack_sums *sender_sums(struct sender *s, const char *service)
{
	char name[NAME_BYTES];
	struct unit *u;

	(void)snprintf(name, sizeof(name), "%s", service);
	u = find_unit(s, name);
	if (!u && s->count >= SENDER_SERVICES) {
		(void)snprintf(name, sizeof(name), "%s", OTHERS);
		u = find_unit(s, name);
	}
	if (!u)
		u = new_unit(s, name);
	return u ? &u->sums : NULL;
}

static void free_unit(struct unit *u)
{
	stack_sums_release(&u->sums);
	free(u->parcel.bytes);
	free(u);
}

static bool is_nothing(const struct stack_sums_pair *a)
{
	return a->blocks == 0 && a->bytes == 0;
}

/* Services that have ended, and whose sums have arrived. */
static int forget(struct sender *s)
{
	size_t kept = 0;
	int err = 0;
	uint32_t at;

	for (size_t i = 0; i < s->count; i++) {
		struct unit *u = s->units[i];
		struct stack_sums_total sums = stack_sums_total(&u->sums);

		if (is_nothing(&sums.live) && is_nothing(&sums.waiting) &&
		    is_nothing(&sums.sending) && !u->parcel.bytes)
			free_unit(u);
		else
			s->units[kept++] = u;
	}
	if (kept == s->count)
		return 0;
	s->count = 0;
	dict_release(&s->index);
	s->index = (struct dict){0};
	while (s->count < kept && err == 0) {
		const char *name = s->units[s->count]->name;

		err = dict_find(&s->index, dict_hash_text(name), same_unit, s->units, name,
		    (uint32_t)s->count, &at);
		s->count++;
	}
	s->count = kept;
	return err;
}

int sender_new(const struct sender_plan *plan, struct sender **ret)
{
	struct sender *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->plan = *plan;
	s->schedule.random = plan->random;
	if (plan->every_ns)
		schedule_init(&s->schedule, plan->every_ns, plan->host, plan->random, plan->now_ns);
	else
		s->schedule.next_ns = plan->now_ns;
	*ret = s;
	return 0;
}

void sender_free(struct sender *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free_unit(s->units[i]);
	free(s->units);
	dict_release(&s->index);
	free(s);
}

/* ---- memory ---- */

static size_t bytes_of(const struct unit *u)
{
	return u->sums.bytes + u->parcel.len;
}

static size_t all_bytes(const struct sender *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += bytes_of(s->units[i]);
	return n;
}

/* The sums of a parcel that will not be sent again wait for a new one. */
static void unpack(struct sender *s, struct unit *u)
{
	free(u->parcel.bytes);
	u->parcel = (struct parcel){0};
	stack_sums_refused(&u->sums);
	PUSH_STATE_ADD(s->plan.state, uncertain, 1);
}

static int thin(struct sender *s, struct unit *u, size_t keep)
{
	size_t merged = 0;
	int err = stack_sums_thin(&u->sums, keep, &merged);

	PUSH_STATE_ADD(s->plan.state, merged_stacks, merged);
	return err;
}

/* Until all fits: the largest gives its parcel, then half of its stacks. */
static int make_room(struct sender *s)
{
	int err = 0;

	while (err == 0 && all_bytes(s) > SENDER_BYTES) {
		struct unit *u = NULL;

		for (size_t i = 0; i < s->count; i++)
			if (!u || bytes_of(s->units[i]) > bytes_of(u))
				u = s->units[i];
		if (!u)
			break;
		if (u->parcel.len > SENDER_BYTES / 8 && u != s->open)
			unpack(s, u);
		else if (u->sums.stack_count > 1)
			err = thin(s, u, (u->sums.stack_count - 1) / 2);
		else
			break; /* many services of nothing but sums */
	}
	return err;
}

/* ---- readings ---- */

uint64_t sender_next_ns(const struct sender *s)
{
	return s->open ? NEVER : s->schedule.next_ns;
}

void sender_check_clock(struct sender *s, uint64_t now_ns)
{
	if (s->plan.every_ns)
		schedule_check(&s->schedule, now_ns);
}

void sender_expect_end(struct sender *s)
{
	s->is_last = true;
}

void sender_begin_reading(struct sender *s)
{
	for (size_t i = 0; i < s->count; i++)
		stack_sums_clear_live(&s->units[i]->sums);
}

int sender_read(struct sender *s, uint64_t now_ns)
{
	int err = forget(s);

	s->read_ns = now_ns;
	s->is_late = false;
	s->result = (struct sender_result){0};
	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct unit *u = s->units[i];

		u->is_due = true;
		if (u->sums.stack_count >= STACK_SUMS_MOST)
			err = thin(s, u, KEEP_STACKS);
	}
	if (err == 0)
		err = make_room(s);
	PUSH_STATE_SET(s->plan.state, waiting_bytes, all_bytes(s));
	PUSH_STATE_SET(s->plan.state, services, (uint32_t)s->count);
	/* if nobody runs, there is nothing to be sent */
	if (s->count == 0 && s->plan.every_ns)
		schedule_success(&s->schedule, now_ns);
	else if (s->count == 0)
		s->schedule.next_ns = NEVER;
	return err;
}

/* ---- requests ---- */

static int pack(struct sender *s, struct unit *u)
{
	const struct export_moment moment = {.now_ns = s->read_ns,
	    /* once: since the start of each process */
	    .since_ns = s->plan.every_ns ? u->since_ns : s->read_ns,
	    .period_bytes = u->sums.period_bytes};
	struct profile p = {0};
	uint8_t id[16];
	int err;

	stack_sums_send(&u->sums);
	err = profile_make(&u->sums, &moment, &p);
	if (err == 0) {
		struct message m = {.service = u->name,
		    .instance = s->plan.instance,
		    .labels = s->plan.labels,
		    .profile = p.bytes,
		    .profile_bytes = p.len,
		    .id = id};

		for (size_t i = 0; i < sizeof(id); i++)
			id[i] = (uint8_t)schedule_random(&s->schedule, 256);
		err = message_write(&m, &u->parcel.bytes, &u->parcel.len);
		u->parcel.made_ns = s->read_ns;
		PUSH_STATE_ADD(s->plan.state, merged_stacks, p.merged);
	}
	free(p.bytes);
	if (err < 0)
		stack_sums_refused(&u->sums);
	return err;
}

static struct unit *next_due(const struct sender *s)
{
	for (size_t i = 0; i < s->count && !s->is_late; i++)
		if (s->units[i]->is_due)
			return s->units[i];
	return NULL;
}

bool sender_request(struct sender *s, uint64_t now_ns, struct sender_request *ret, int *ret_err)
{
	struct unit *u = s->open ? NULL : next_due(s);

	*ret_err = 0;
	if (!u)
		return false;
	if (u->parcel.bytes &&
	    (now_ns < u->parcel.made_ns || now_ns - u->parcel.made_ns > SENDER_STALE_NS))
		unpack(s, u);
	if (!u->parcel.bytes)
		*ret_err = pack(s, u);
	if (*ret_err < 0)
		return false;
	s->open = u;
	PUSH_STATE_SET(s->plan.state, last_attempt_ns, now_ns);
	*ret = (struct sender_request){u->parcel.bytes, u->parcel.len};
	return true;
}

/* ---- answers ---- */

static void take_accepted(struct sender *s, struct unit *u, uint64_t now_ns)
{
	struct stack_sums_total sums;

	PUSH_STATE_ADD(s->plan.state, pushes, 1);
	PUSH_STATE_ADD(s->plan.state, sent_bytes, u->parcel.len);
	PUSH_STATE_SET(s->plan.state, last_success_ns, now_ns);
	u->since_ns = u->parcel.made_ns;
	/*
	 * One of an earlier reading is followed by that of this one, but all
	 * hosts whose answers were lost would do that now. So it waits, unless
	 * there will be no other time.
	 */
	u->is_due = u->parcel.made_ns != s->read_ns && s->is_last;
	free(u->parcel.bytes);
	u->parcel = (struct parcel){0};
	stack_sums_accepted(&u->sums);
	sums = stack_sums_total(&u->sums);
	u->is_due = u->is_due && !(is_nothing(&sums.live) && is_nothing(&sums.waiting));
	u->told_status = 0;
	s->result.accepted++;
}

static void take_failure(struct sender *s, struct unit *u, const struct answer *a)
{
	PUSH_STATE_ADD(s->plan.state, failures, 1);
	s->result.failed++;
	s->result.last = *a;
	u->is_due = false;
	u->parcel.is_uncertain |= a->kind == ANSWER_UNCERTAIN;
	/* the same again, even if it is refused now: it may have been taken */
	if (u->parcel.is_uncertain)
		return;
	free(u->parcel.bytes);
	u->parcel = (struct parcel){0};
	stack_sums_refused(&u->sums);
}

/* Once, until something is accepted. */
static void tell(struct sender *s, struct unit *u, const struct answer *a)
{
	char text[ANSWER_WORDS + 512];
	char name[NAME_BYTES];

	if (!s->plan.every_ns)
		return; /* the caller tells it */
	(void)text_escape(name, sizeof(name), u->name);
	if (a->kind == ANSWER_REFUSED) {
		if (u->told_status == a->status)
			return;
		u->told_status = a->status;
		(void)snprintf(text, sizeof(text),
		    "%s does not take the profile of %s: %s; its sums are kept "
		    "for the next one",
		    s->plan.server, name, a->words);
	} else {
		if (s->is_told)
			return;
		s->is_told = true;
		(void)snprintf(text, sizeof(text),
		    "%s takes no profiles now: %s; they are added up until it "
		    "does",
		    s->plan.server, a->words);
	}
	say(s, text);
}

static void tell_success(struct sender *s)
{
	char text[512];

	if (!s->is_told)
		return;
	s->is_told = false;
	(void)snprintf(text, sizeof(text), "%s takes profiles again", s->plan.server);
	say(s, text);
}

void sender_answer(struct sender *s, const struct answer *a, uint64_t now_ns)
{
	struct unit *u = s->open;
	bool is_late = a->kind == ANSWER_LATER || a->kind == ANSWER_UNCERTAIN;

	if (!u)
		return;
	s->open = NULL;
	PUSH_STATE_SET(s->plan.state, status, (uint32_t)a->status);
	if (a->kind == ANSWER_ACCEPTED) {
		take_accepted(s, u, now_ns);
		tell_success(s);
	} else {
		take_failure(s, u, a);
		tell(s, u, a);
	}
	s->is_late = is_late;
	if (is_late && s->plan.every_ns)
		schedule_failure(&s->schedule, now_ns, a->retry_after_ns);
	else if (!next_due(s) && s->plan.every_ns)
		schedule_success(&s->schedule, now_ns);
	else if (!next_due(s))
		s->schedule.next_ns = NEVER;
	PUSH_STATE_SET(s->plan.state, waiting_bytes, all_bytes(s));
}

struct sender_result sender_result(const struct sender *s)
{
	return s->result;
}

struct stack_sums_pair sender_waiting(const struct sender *s)
{
	struct stack_sums_pair all = {0};

	for (size_t i = 0; i < s->count; i++) {
		struct stack_sums_total b = stack_sums_total(&s->units[i]->sums);

		all.blocks = capped_sum(all.blocks, capped_sum(b.waiting.blocks, b.sending.blocks));
		all.bytes = capped_sum(all.bytes, capped_sum(b.waiting.bytes, b.sending.bytes));
	}
	return all;
}
