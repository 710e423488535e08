/* test_push_fleet.c - a thousand hosts push to one server that has bad days. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "follow/push/sender.h"
#include "push_request.h"
#include "view/sites/view.h"

#define SECOND UINT64_C(1000000000)
#define BEGIN  (UINT64_C(1800000000) * SECOND) /* of the virtual clock */
#define TICK   (SECOND / 100)

enum {
	HOSTS = 1000,
	EVERY_S = 10, /* 5 minutes, scaled by 30 */
	RUN_S = 140,
	KEYS = 1 << 18,
};

/* ---- the server ---- */

struct server {
	uint64_t blocks[HOSTS], bytes[HOSTS];
	uint64_t seen[KEYS]; /* ids, so that it knows what it has */
	unsigned per_second[RUN_S + 600];
	uint64_t last_time[HOSTS];
};

static void keep(struct server *s, size_t host, const struct profile_seen *p)
{
	size_t at = (p->id ^ host * 2654435761u) % KEYS;

	while (s->seen[at] && s->seen[at] != p->id)
		at = (at + 1) % KEYS;
	if (s->seen[at])
		return;
	s->seen[at] = p->id;
	s->blocks[host] += p->blocks;
	s->bytes[host] += p->bytes;
	/* the server puts them in this order */
	assert_true(p->time_ns > s->last_time[host]);
	s->last_time[host] = p->time_ns;
}

/* What it does in which second. */
static struct answer judge(
    struct server *s, size_t host, const struct sender_request *r, uint64_t now_ns)
{
	struct profile_seen p = push_request_read(r->bytes, r->len);
	uint64_t second = (now_ns - BEGIN) / SECOND;
	struct answer a = {.kind = ANSWER_ACCEPTED, .status = 200};

	/* Pyroscope refuses what is older than an hour */
	assert_true(now_ns - p.time_ns < 3600 * SECOND);
	s->per_second[second]++;
	if (second >= 30 && second < 45) {
		a = (struct answer){.kind = ANSWER_LATER, .status = 503};
	} else if (second >= 55 && second < 62) {
		/* it hangs: some were taken, some were not */
		a = (struct answer){.kind = ANSWER_UNCERTAIN};
		if (host % 2)
			keep(s, host, &p);
	} else if (second >= 75 && second < 80) {
		a = (struct answer){
		    .kind = ANSWER_LATER, .status = 429, .retry_after_ns = 5 * SECOND};
	} else if (second >= 90 && second < 95 && host % 3 == 0) {
		a = (struct answer){.kind = ANSWER_REFUSED, .status = 401};
	}
	if (a.kind == ANSWER_ACCEPTED)
		keep(s, host, &p);
	return a;
}

/* ---- hosts ---- */

struct host {
	struct sender *sender;
	struct push_state state;
	uint64_t blocks, bytes; /* allocated, and read */
	uint64_t random;
	bool is_waiting;
	uint64_t answer_ns; /* when the answer comes */
	struct answer answer;
};

static struct message_labels no_labels;

static void begin_host(struct host *h, size_t number)
{
	const struct sender_plan plan = {.instance = "host",
	    .labels = &no_labels,
	    .state = &h->state,
	    .server = "server",
	    .every_ns = EVERY_S * SECOND,
	    .host = number * UINT64_C(0x9E3779B97F4A7C15),
	    .random = number * 977 + 3,
	    .now_ns = BEGIN};

	h->random = number + 1;
	assert_int_equal(sender_new(&plan, &h->sender), 0);
}

static void read_host(struct host *h, uint64_t now_ns)
{
	struct stack_sums *b;
	struct stack_sums_pair more;

	h->random = h->random * UINT64_C(6364136223846793005) + 1;
	more = (struct stack_sums_pair){1 + (h->random >> 60), 1 + (h->random >> 40)};
	b = sender_sums(h->sender, "a.service");
	assert_non_null(b);
	sender_begin_reading(h->sender);
	stack_sums_add_allocated(b, STACK_SUMS_OTHER, more);
	stack_sums_add_live(b, STACK_SUMS_OTHER, more);
	h->blocks += more.blocks;
	h->bytes += more.bytes;
	assert_int_equal(sender_read(h->sender, now_ns), 0);
}

static void step_host(struct host *h, size_t number, struct server *s, uint64_t now_ns)
{
	struct sender_request r;
	int err;

	if (h->is_waiting) {
		if (now_ns < h->answer_ns)
			return;
		h->is_waiting = false;
		sender_answer(h->sender, &h->answer, now_ns);
	} else if (sender_next_ns(h->sender) <= now_ns) {
		read_host(h, now_ns);
	}
	if (sender_request(h->sender, now_ns, &r, &err)) {
		h->answer = judge(s, number, &r, now_ns);
		h->is_waiting = true;
		/* a timeout of 30 s, scaled */
		h->answer_ns = now_ns + (h->answer.kind == ANSWER_UNCERTAIN ? SECOND : 2 * TICK);
	}
	assert_int_equal(err, 0);
}

TEST(every_sum_of_a_thousand_hosts_arrives)
{
	static struct host hosts[HOSTS];
	static struct server server;
	uint64_t now = BEGIN;
	unsigned busiest = 0, mean = HOSTS / EVERY_S, quiet = 0;

	for (size_t i = 0; i < HOSTS; i++)
		begin_host(&hosts[i], i);
	for (; now < BEGIN + RUN_S * SECOND; now += TICK)
		for (size_t i = 0; i < HOSTS; i++)
			step_host(&hosts[i], i, &server, now);
	/* nothing is read any more, and what is on its way arrives */
	for (uint64_t end = now + SECOND; now < end; now += TICK)
		for (size_t i = 0; i < HOSTS; i++)
			if (hosts[i].is_waiting)
				step_host(&hosts[i], i, &server, now);
	for (size_t i = 0; i < HOSTS; i++) {
		struct host *h = &hosts[i];
		struct stack_sums_pair left = sender_waiting(h->sender);

		assert_false(h->is_waiting);
		assert_int_equal(left.blocks + left.bytes, 0);
		assert_int_equal(h->blocks, server.blocks[i]);
		assert_int_equal(h->bytes, server.bytes[i]);
		assert_true(h->state.pushes > 5);
		sender_free(h->sender);
	}
	for (size_t i = 0; i < RUN_S; i++) {
		busiest = server.per_second[i] > busiest ? server.per_second[i] : busiest;
		/* the bad days are over, and nobody stays away */
		quiet += i >= 110 && server.per_second[i] < mean / 3;
	}
	print_message("busiest second: %u requests, mean: %u\n", busiest, mean);
	assert_true(busiest <= 2 * mean);
	assert_int_equal(quiet, 0);
}

/* ---- one host ---- */

static struct host one;
static char said[4096];

static void say(void *context, const char *text)
{
	(void)context;
	(void)strncat(said, text, sizeof(said) - strlen(said) - 2);
	(void)strcat(said, "\n");
}

static void begin_one(uint64_t every_s)
{
	const struct sender_plan plan = {.instance = "host",
	    .labels = &no_labels,
	    .state = &one.state,
	    .say = say,
	    .server = "http://there",
	    .every_ns = every_s * SECOND,
	    .host = 1,
	    .random = 2,
	    .now_ns = BEGIN};

	memset(&one, 0, sizeof(one));
	said[0] = '\0';
	assert_int_equal(sender_new(&plan, &one.sender), 0);
}

/* Reads, and answers the one request like this; what was in it. */
static struct profile_seen exchange(uint64_t now_ns, struct answer a)
{
	struct sender_request r;
	struct profile_seen p;
	int err;

	read_host(&one, now_ns);
	assert_true(sender_request(one.sender, now_ns, &r, &err));
	p = push_request_read(r.bytes, r.len);
	sender_answer(one.sender, &a, now_ns);
	return p;
}

static const struct answer ok = {.kind = ANSWER_ACCEPTED, .status = 200};

TEST(a_profile_without_an_answer_is_sent_again_as_it_was)
{
	struct profile_seen first, second, third;
	struct sender_request r;
	int err;

	begin_one(300);
	first = exchange(BEGIN, (struct answer){.kind = ANSWER_UNCERTAIN, .words = "lost"});
	second = exchange(BEGIN + 300 * SECOND, ok);
	assert_true(first.id == second.id && first.bytes == second.bytes &&
	    first.time_ns == second.time_ns);
	/* what was allocated since follows at the next time */
	assert_false(sender_request(one.sender, BEGIN + 301 * SECOND, &r, &err));
	third = exchange(BEGIN + 600 * SECOND, ok);
	assert_true(third.id != first.id);
	assert_true(third.time_ns == BEGIN + 600 * SECOND);
	assert_int_equal(second.bytes + third.bytes, one.bytes);
	sender_free(one.sender);
}

/* Even if the server refuses it the next time: it may have taken it before. */
TEST(what_may_have_been_taken_is_not_sent_as_another)
{
	const struct answer late = {.kind = ANSWER_LATER, .status = 503};
	const struct answer no = {.kind = ANSWER_REFUSED, .status = 401};
	struct profile_seen first, again;

	begin_one(300);
	first = exchange(BEGIN, (struct answer){.kind = ANSWER_UNCERTAIN});
	(void)exchange(BEGIN + 300 * SECOND, late);
	(void)exchange(BEGIN + 600 * SECOND, no);
	again = exchange(BEGIN + 900 * SECOND, ok);
	assert_true(first.id == again.id);
	sender_free(one.sender);
}

TEST(at_the_end_everything_is_sent)
{
	struct profile_seen first, last;
	struct sender_request r;
	int err;

	begin_one(300);
	(void)exchange(BEGIN, (struct answer){.kind = ANSWER_UNCERTAIN});
	sender_expect_end(one.sender);
	first = exchange(BEGIN + 10 * SECOND, ok);
	assert_true(sender_request(one.sender, BEGIN + 11 * SECOND, &r, &err));
	last = push_request_read(r.bytes, r.len);
	assert_int_equal(first.bytes + last.bytes, one.bytes);
	sender_answer(one.sender, &ok, BEGIN + 11 * SECOND);
	sender_free(one.sender);
}

TEST(what_is_old_becomes_part_of_a_new_profile)
{
	const struct answer lost = {.kind = ANSWER_UNCERTAIN};
	uint64_t late = BEGIN + 56 * 60 * SECOND;
	struct profile_seen first, second;

	begin_one(300);
	first = exchange(BEGIN, lost);
	second = exchange(late, ok);
	assert_true(first.id != second.id);
	assert_true(second.time_ns == late);
	assert_int_equal(second.bytes, one.bytes);
	assert_int_equal(one.state.uncertain, 1);
	/* the clock was set back: a time in the future is old, too */
	(void)exchange(late + SECOND, lost);
	second = exchange(BEGIN, ok);
	assert_true(second.time_ns == BEGIN);
	sender_free(one.sender);
}

TEST(a_refusal_is_told_once_and_nothing_is_lost)
{
	const struct answer no = {
	    .kind = ANSWER_REFUSED, .status = 401, .words = "it answers 401: who are you?"};
	struct profile_seen p;

	begin_one(300);
	for (uint64_t i = 0; i < 5; i++)
		(void)exchange(BEGIN + i * 300 * SECOND, no);
	p = exchange(BEGIN + 5 * 300 * SECOND, ok);
	assert_int_equal(p.bytes, one.bytes);
	assert_non_null(strstr(said, "who are you?"));
	assert_null(strstr(strstr(said, "who are you?") + 1, "who are you?"));
	sender_free(one.sender);
}

TEST(an_absent_server_is_told_once_and_its_return_too)
{
	const struct answer no = {.kind = ANSWER_LATER, .words = "connection refused"};

	begin_one(300);
	for (uint64_t i = 0; i < 5; i++)
		(void)exchange(BEGIN + i * 300 * SECOND, no);
	assert_int_equal(one.state.failures, 5);
	assert_int_equal(one.state.last_success_ns, 0);
	(void)exchange(BEGIN + 1500 * SECOND, ok);
	assert_int_equal(one.state.last_success_ns, BEGIN + 1500 * SECOND);
	assert_string_equal(said,
	    "http://there takes no profiles now: connection refused; they are "
	    "added up until it does\nhttp://there takes profiles again\n");
	sender_free(one.sender);
}

/* Within a bound, and never before the server wants. */
TEST(retry_after_is_obeyed_but_not_for_ever)
{
	struct schedule s;
	uint64_t hour = 3600 * SECOND;

	for (uint64_t i = 0; i < 1000; i++) {
		schedule_init(&s, 300 * SECOND, i, i, BEGIN);
		assert_true(s.next_ns >= BEGIN);
		assert_true(s.next_ns < BEGIN + 300 * SECOND);
		schedule_failure(&s, BEGIN, 700 * SECOND);
		assert_true(s.next_ns >= BEGIN + 700 * SECOND);
		assert_true(s.next_ns <= BEGIN + 850 * SECOND + 1);
		schedule_failure(&s, BEGIN, UINT64_MAX);
		assert_true(s.next_ns >= BEGIN + hour);
		assert_true(s.next_ns <= BEGIN + hour + 151 * SECOND);
		schedule_failure(&s, BEGIN, 0);
		assert_true(s.next_ns >= BEGIN + 150 * SECOND);
		assert_true(s.next_ns <= BEGIN + 451 * SECOND);
		/* the clock is set back by a year */
		schedule_check(&s, BEGIN - 365 * 24 * hour);
		assert_true(s.next_ns <= BEGIN - 365 * 24 * hour + 2 * hour);
		schedule_success(&s, BEGIN);
		assert_true(s.next_ns >= BEGIN + 150 * SECOND);
		assert_true(s.next_ns <= BEGIN + 450 * SECOND);
	}
}

TEST(services_that_have_ended_are_forgotten_when_their_sums_arrived)
{
	struct sender_request r;
	int err;

	begin_one(300);
	(void)exchange(BEGIN, ok);
	sender_begin_reading(one.sender);
	assert_int_equal(sender_read(one.sender, BEGIN + 300 * SECOND), 0);
	assert_false(sender_request(one.sender, BEGIN + 300 * SECOND, &r, &err));
	assert_int_equal(one.state.services, 0);
	/* and the next reading comes all the same */
	assert_true(sender_next_ns(one.sender) < BEGIN + 900 * SECOND);
	sender_free(one.sender);
}

TEST(services_without_end_share_one)
{
	struct stack_sums_pair a = {1, 10}, all;
	char name[32];

	begin_one(300);
	for (int i = 0; i < 3000; i++) {
		struct stack_sums *b;

		(void)snprintf(name, sizeof(name), "s%d", i);
		b = sender_sums(one.sender, name);
		assert_non_null(b);
		stack_sums_add_allocated(b, STACK_SUMS_OTHER, a);
	}
	assert_int_equal(sender_read(one.sender, BEGIN), 0);
	assert_in_range(one.state.services, SENDER_SERVICES, SENDER_SERVICES + 1);
	all = sender_waiting(one.sender);
	assert_int_equal(all.bytes, 30000);
	sender_free(one.sender);
}

/* 1,024 services with one stack of a long name each: more than may wait. */
TEST(memory_is_bounded_and_sums_are_not)
{
	static char text[32 << 10];
	struct stack_sums_pair all;
	char name[32];

	begin_one(300);
	for (uint32_t i = 0; i < SENDER_SERVICES; i++) {
		const struct stack_sums_key key = {1, 1};
		const struct frame f = {.function = text, .brief = text};
		uint32_t zero = 0, at;
		const struct view_site site = {.frames = &zero, .frame_count = 1};
		const struct view v = {.frames = &f, .frame_count = 1};
		struct stack_sums *b;

		(void)snprintf(name, sizeof(name), "s%u", i);
		memset(text, 'x', sizeof(text) - 1);
		b = sender_sums(one.sender, name);
		assert_non_null(b);
		assert_int_equal(stack_sums_add(b, &key, NULL, &v, &site), 0);
		assert_true(stack_sums_find(b, &key, &at));
		stack_sums_add_allocated(b, at, (struct stack_sums_pair){1, i});
	}
	assert_int_equal(sender_read(one.sender, BEGIN), 0);
	assert_true(one.state.waiting_bytes <= SENDER_BYTES);
	assert_true(one.state.merged_stacks > 0);
	all = sender_waiting(one.sender);
	assert_int_equal(all.blocks, SENDER_SERVICES);
	sender_free(one.sender);
}
