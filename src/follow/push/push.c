/* push.c - pushes profiles of all traced processes to a server, by service. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/push.h"

#include <sys/random.h>
#include <sys/signalfd.h>

#include "follow/engine/engine.h"
#include "follow/push/sender.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/os/descriptor.h"
#include "kit/words/text.h"
#include "follow/history/store.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

enum {
	LOOK_S = 10,    /* between looks at who runs */
	NEWS_MS = 100,  /* between looks at who came and who ended */
	LAST_MS = 5000, /* for the last try */
	NAMES_S = 10,   /* for the names of a process */
	INSTANCE = 256,
	KIN = 128,
	KEYS_AT_ONCE = 64, /* of an offer, until those who ended are read */
	OTHERS_MAX = 64,   /* services of one other user */
};

/* A process that is followed; in the order of their numbers. */
struct member {
	uint64_t number; /* of the engine */
	uint8_t uuid[16];
	uid_t uid; /* of its file */
	char service[FOLDER_NAME_BYTES];
	struct reading_past past;
	bool is_begun;
};

/* One that has ended: the service of children that are found after it. */
struct kin {
	uint8_t uuid[16];
	uid_t uid;
	char service[FOLDER_NAME_BYTES];
};

struct push {
	const struct push_plan *plan;
	struct names_options naming;
	struct engine *live;
	struct sender *sender;
	struct member *members;
	size_t count, room;
	struct kin kin[KIN]; /* the last ones */
	size_t next_kin;
	uint64_t begun_ns; /* since the boot */
	uint64_t begun_monotonic_ns;
	uint64_t next_look_ns, next_news_ns; /* CLOCK_MONOTONIC */
	bool has_news;
	bool is_open; /* a request */
	bool is_stopping;
	uint64_t until_ns; /* if so; CLOCK_MONOTONIC */
	char instance[INSTANCE];
};

static uint64_t real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* ---- processes ---- */

static struct member *find_member(struct push *p, uint64_t number)
{
	size_t from = 0, to = p->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (p->members[middle].number < number)
			from = middle + 1;
		else
			to = middle;
	}
	return from < p->count && p->members[from].number == number ? &p->members[from] : NULL;
}

/* ---- services ---- */

/* A uuid is what a process says of itself, so the owner must be the same. */
static const char *find_kin(const struct push *p, const uint8_t uuid[16], uid_t uid)
{
	static const uint8_t none[16];

	if (memcmp(uuid, none, sizeof(none)) == 0)
		return NULL;
	for (size_t i = p->count; i-- > 0;)
		if (p->members[i].uid == uid && memcmp(p->members[i].uuid, uuid, 16) == 0)
			return p->members[i].service;
	for (size_t i = 0; i < KIN; i++)
		if (p->kin[i].uid == uid && memcmp(p->kin[i].uuid, uuid, 16) == 0)
			return p->kin[i].service;
	return NULL;
}

/* Forked children belong to the service of their parent. */
static const char *find_parent(const struct push *p, const struct engine_process *x, uid_t uid)
{
	const char *found = find_kin(p, x->header.parent_uuid, uid);
	struct seg_header own;
	int slot;
	const struct segfile *f = engine_segfile(p->live, x, &slot);

	if (!found && f && slot != SEGFILE_OWN && segfile_header(f, SEGFILE_OWN, &own, NULL) == 0)
		found = find_kin(p, own.uuid, uid);
	return found;
}

static bool is_known_service(const struct push *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->members[i].service, name) == 0)
			return true;
	return false;
}

/* Services of another user that run; twins are counted twice. */
static size_t count_of(const struct push *p, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += p->members[i].uid == uid;
	return n;
}

/* The names that the folders of a history have: see store.h. */
static void name_service(const struct push *p, const struct engine_process *x, struct member *m)
{
	struct folder_service id;
	const char *parent = find_parent(p, x, m->uid);

	if (parent) {
		(void)snprintf(m->service, sizeof(m->service), "%s", parent);
		return;
	}
	folder_service_of(x, m->uid, &id);
	folder_name(&id, geteuid(), m->service);
	/* he may choose any names, and each is a series of the server's */
	if (m->uid != geteuid() && count_of(p, m->uid) >= OTHERS_MAX &&
	    !is_known_service(p, m->service) && (id.is_chosen || id.kind == FOLDER_PROGRAM)) {
		id.text = "other programs";
		id.kind = FOLDER_PROGRAM;
		folder_name(&id, geteuid(), m->service);
	}
}

static struct member *add_member(struct push *p, const struct engine_process *x)
{
	struct member m = {.number = x->number, .uid = x->uid};
	int slot;
	const struct segfile *f = engine_segfile(p->live, x, &slot);

	if (f)
		m.uid = segfile_source(f)->uid;
	memcpy(m.uuid, x->header.uuid, sizeof(m.uuid));
	name_service(p, x, &m);
	/* numbers only rise, so that the end is the place of a new one */
	if (room_make(&p->members, &p->room, p->count, sizeof(m)) < 0)
		return NULL;
	p->members[p->count] = m;
	return &p->members[p->count++];
}

static void remove_member(struct push *p, uint64_t number)
{
	struct member *m = find_member(p, number);

	if (!m)
		return;
	p->kin[p->next_kin] = (struct kin){.uid = m->uid};
	memcpy(p->kin[p->next_kin].uuid, m->uuid, sizeof(m->uuid));
	memcpy(p->kin[p->next_kin].service, m->service, sizeof(m->service));
	p->next_kin = (p->next_kin + 1) % KIN;
	reading_release(&m->past);
	memmove(m, m + 1, (size_t)(p->members + --p->count - m) * sizeof(*m));
}

/*
 * What it has allocated before we came is nobody's business, if we push again
 * and again: who pushed before us may have pushed it.
 */
static bool was_here_before(const struct push *p, const struct engine_process *x)
{
	uint64_t counts_since = x->header.start_monotonic_ns;

	if (!p->plan->every_ns || x->start_ns >= p->begun_ns)
		return false;
	/*
	 * It was there, as far as the clock of /proc can tell, which may be
	 * 10 ms behind, or it was found dead. Its counters may still be younger
	 * than we are, for one after an exec. A time that is not over yet is
	 * that of another time namespace.
	 */
	return counts_since < p->begun_monotonic_ns ||
	    (x->start_ns && counts_since > clock_ns(CLOCK_MONOTONIC));
}

/* -ENOMEM; other failures are those of the process, which is left out. */
static int begin_member(struct push *p, struct engine_process *x, struct member *m)
{
	int slot, err = 0;
	const struct segfile *f = engine_segfile(p->live, x, &slot);

	if (m->is_begun || !f)
		return 0;
	if (was_here_before(p, x))
		err = reading_begin(&m->past, f, slot, x->pid);
	m->is_begun = err == 0;
	return err == -ENOMEM ? err : 0;
}

/* Reads it into the sums of its service. */
static int read_member(struct push *p, struct engine_process *x, struct member *m)
{
	struct reading_plan plan = {.pid = x->pid,
	    .has_ended = x->state == LIVE_ENDED,
	    .uuid = x->header.uuid,
	    .naming = &p->naming};
	struct stack_sums *b = sender_sums(p->sender, m->service);
	size_t merged = 0;
	int err;

	plan.file = engine_segfile(p->live, x, &plan.slot);
	if (!b)
		return -ENOMEM;
	if (plan.has_ended)
		plan.pid = 0;
	err = plan.file ? reading_take(b, &m->past, &plan, &merged) : -ESTALE;
	PUSH_STATE_ADD(p->plan->state, merged_stacks, merged);
	/* one that has left its line has a slot, which is read by itself */
	if (err < 0 && plan.has_ended && !(plan.file && segfile_is_early(plan.file, plan.slot)))
		PUSH_STATE_ADD(p->plan->state, dropped_processes, 1);
	return err == -ENOMEM ? err : 0;
}

/* The last figures of who has ended, while its segment is still there. */
static int take_ended(struct push *p, struct engine_process *x, struct member *m)
{
	int err = 0;

	/* who had ended before we came was never ours */
	if (p->plan->every_ns && (m->is_begun || !was_here_before(p, x)) &&
	    x->header.state != SEG_INERT)
		err = read_member(p, x, m);
	remove_member(p, x->number);
	engine_forget(p->live, x);
	if (p->plan->offer)
		p->plan->offer->steps++;
	return err;
}

/* Brings our list in line with the engine's. */
static int meet(struct push *p)
{
	int err = 0;

	for (size_t i = engine_count(p->live); i-- > 0 && err == 0;) {
		struct engine_process *x = engine_at(p->live, i);
		struct member *m = find_member(p, x->number);

		if (!m)
			continue;
		if (x->state == LIVE_ENDED)
			err = take_ended(p, x, m);
		else
			err = begin_member(p, x, m);
	}
	return err;
}

/* New ones have the highest numbers, and are entered in order. */
static int admit(struct push *p)
{
	for (size_t i = 0; i < engine_count(p->live); i++) {
		const struct engine_process *x = engine_at(p->live, i);

		if (!find_member(p, x->number) && !add_member(p, x))
			return -ENOMEM;
	}
	return meet(p);
}

/* ---- readings ---- */

/*
 * A child in its first events has one line of sums, which becomes many sites:
 * it is read when it has those, or has ended.
 */
static bool is_to_be_read(
    const struct push *p, const struct engine_process *x, const struct member *m)
{
	int slot;
	const struct segfile *f = engine_segfile(p->live, x, &slot);

	return m->is_begun && x->state != LIVE_ENDED && x->header.state != SEG_INERT &&
	    !(f && segfile_is_early(f, slot));
}

static int read_all(struct push *p)
{
	int err = engine_look(p->live);

	p->next_look_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_S * S;
	if (err == 0)
		err = admit(p);
	if (err < 0)
		return err;
	sender_begin_reading(p->sender);
	for (size_t i = 0; i < engine_count(p->live) && err == 0; i++) {
		struct engine_process *x = engine_at(p->live, i);
		struct member *m = find_member(p, x->number);

		if (m && is_to_be_read(p, x, m))
			err = read_member(p, x, m);
	}
	return err < 0 ? err : sender_read(p->sender, real_ns());
}

/* Is there an offer? Then *ret is its number. */
static bool is_offered(const struct push *p, uint64_t *ret)
{
	uint64_t many;

	if (!p->plan->offer)
		return false;
	(void)!read(p->plan->ask_fd, &many, sizeof(many));
	*ret = p->plan->offer->offered;
	return *ret > p->plan->offer->read;
}

/*
 * Who is offered has ended, and its segment goes afterwards. Our own looks may
 * not have found it, or may not be sure: so each is asked for by name.
 */
static int take_offered(struct push *p)
{
	const struct push_offer *o = p->plan->offer;
	uint32_t count = o->count;
	int err = 0;

	for (uint32_t i = 0; i < count && i < GATHER_KEYS && err == 0; i++) {
		const struct live_key key = o->keys[i];
		int answer = engine_has_ended(p->live, &key);

		if (answer == -ENOBUFS || i % KEYS_AT_ONCE == 0)
			err = admit(p);
		if (answer == -ENOBUFS && err == 0)
			answer = engine_has_ended(p->live, &key);
		if (answer == -ENOMEM)
			err = answer;
		else if (answer < 0)
			PUSH_STATE_ADD(p->plan->state, dropped_processes, 1);
	}
	return err < 0 ? err : admit(p);
}

static int look(struct push *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), number = 0;
	bool has_offer = is_offered(p, &number);
	int err;

	if (has_offer || now >= p->next_look_ns) {
		err = engine_look(p->live);
		p->next_look_ns = now + LOOK_S * S;
	} else if (p->has_news && now >= p->next_news_ns) {
		err = engine_look_at_roster(p->live);
	} else {
		return 0;
	}
	p->has_news = false;
	p->next_news_ns = now + NEWS_MS * MS;
	if (err == 0)
		err = admit(p);
	if (err == 0 && has_offer)
		err = take_offered(p);
	if (err == 0 && has_offer)
		p->plan->offer->read = number;
	return err;
}

/* ---- requests ---- */

static int send_next(struct push *p)
{
	const struct push_transport *t = &p->plan->transport;
	struct answer a = {.kind = ANSWER_LATER};
	struct sender_request r;
	struct fault why = {""};
	int err;

	if (p->is_open) {
		if (!t->done(t->context, &a))
			return 0;
		p->is_open = false;
		sender_answer(p->sender, &a, real_ns());
	}
	while (!p->is_open && sender_request(p->sender, real_ns(), &r, &err)) {
		err = t->begin(t->context, r.bytes, r.len, &why);
		p->is_open = err == 0;
		if (err == 0)
			return 0;
		a.kind = ANSWER_LATER;
		(void)snprintf(a.words, sizeof(a.words), "%s", why.text);
		sender_answer(p->sender, &a, real_ns());
		if (err == -ENOMEM)
			return err;
	}
	return p->is_open ? 0 : err;
}

static int wait_ms(const struct push *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), most = p->next_look_ns;
	uint64_t real = real_ns(), due = sender_next_ns(p->sender);

	if (p->has_news && p->next_news_ns < most)
		most = p->next_news_ns;
	if (p->is_stopping && p->until_ns < most)
		most = p->until_ns;
	if (due <= real)
		return 0;
	if (due - real < UINT64_MAX - now && now + (due - real) < most)
		most = now + (due - real);
	return most <= now ? 0 : (int)((most - now) / MS) + 1;
}

/* ---- the loop ---- */

static bool is_stopped(int signals)
{
	struct signalfd_siginfo si;
	bool stop = false;

	while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		stop = true;
	return stop;
}

static void rest(struct push *p, int signals)
{
	const struct push_transport *t = &p->plan->transport;
	/* news that are known would end every wait at once */
	struct pollfd fds[] = {
	    {.fd = p->plan->offer ? p->plan->ask_fd : -1, .events = POLLIN},
	    {.fd = signals, .events = POLLIN},
	    {.fd = p->has_news ? -1 : engine_wake_fd(p->live), .events = POLLIN},
	};

	t->wait(t->context, fds, 3, wait_ms(p));
	p->has_news |= fds[2].revents != 0;
}

/* Waits for the open request, and then sends the last figures, once. */
static int finish(struct push *p)
{
	const struct push_transport *t = &p->plan->transport;
	bool is_read = false;
	int err = 0;

	p->is_stopping = true;
	sender_expect_end(p->sender);
	p->until_ns = clock_ns(CLOCK_MONOTONIC) + LAST_MS * MS;
	while (err == 0 && clock_ns(CLOCK_MONOTONIC) < p->until_ns) {
		err = send_next(p);
		if (err == 0 && !p->is_open && !is_read) {
			/* a death is certain at the second look */
			err = engine_look(p->live);
			if (err == 0)
				err = read_all(p);
			is_read = true;
			continue;
		}
		if (!p->is_open)
			break;
		t->wait(t->context, NULL, 0, 100);
	}
	if (p->is_open)
		t->cancel(t->context);
	return err;
}

static int repeat(struct push *p, int signals)
{
	int err = 0;

	while (err == 0 && !is_stopped(signals)) {
		err = look(p);
		sender_check_clock(p->sender, real_ns());
		if (err == 0)
			err = send_next(p);
		if (err == 0 && !p->is_open && sender_next_ns(p->sender) <= real_ns()) {
			err = read_all(p);
			continue;
		}
		if (err == 0)
			rest(p, signals);
	}
	return err < 0 ? err : finish(p);
}

static int once(struct push *p, struct fault *where)
{
	const struct push_transport *t = &p->plan->transport;
	struct sender_result r;
	int err = read_all(p);

	if (err == 0 && sender_next_ns(p->sender) == UINT64_MAX)
		return fault_set(where, -ENODATA, "%s",
		    p->count ? "what is traced here has allocated nothing"
		             : "no process is traced here");
	while (err == 0) {
		err = send_next(p);
		if (!p->is_open)
			break;
		t->wait(t->context, NULL, 0, 1000);
	}
	if (err < 0)
		return fault_set(where, err, "%s", strerror(-err));
	r = sender_result(p->sender);
	if (r.failed > 0)
		return fault_set(where, -EREMOTEIO, "%.80s: %.160s", p->plan->server, r.last.words);
	return 0;
}

/* ---- begin and end ---- */

static int begin(struct push *p)
{
	const struct push_plan *plan = p->plan;
	const struct engine_plan live = {.directories = plan->directories,
	    .pids = plan->pids,
	    .pid_count = plan->pid_count,
	    .keep_the_ended = true};
	struct sender_plan sender = {.instance = p->instance,
	    .labels = plan->labels,
	    .state = plan->state,
	    .say = plan->say,
	    .context = plan->context,
	    .server = plan->server,
	    .every_ns = plan->every_ns,
	    .host = schedule_host(),
	    .now_ns = real_ns()};
	char host[INSTANCE] = "";
	int err;

	if (getrandom(&sender.random, sizeof(sender.random), GRND_NONBLOCK) < 0)
		sender.random = 0;
	sender.random ^= clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)getpid();
	if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
		(void)snprintf(host, sizeof(host), "localhost");
	(void)text_escape(p->instance, sizeof(p->instance), host);
	p->begun_ns = clock_ns(CLOCK_BOOTTIME);
	p->begun_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	p->naming = plan->naming;
	if (p->naming.seconds == 0)
		p->naming.seconds = NAMES_S;
	err = sender_new(&sender, &p->sender);
	if (err == 0)
		err = engine_new(&live, &p->live);
	return err;
}

int push_run(const struct push_plan *plan, struct fault *where)
{
	struct push p = {.plan = plan};
	int signals = plan->every_ns ? signals_take_over(false) : -1;
	int err = begin(&p);

	if (err < 0 || (plan->every_ns && signals < 0)) {
		err = err < 0 ? err : signals;
		(void)fault_set(where, err, "%s", strerror(-err));
	} else if (plan->every_ns) {
		err = repeat(&p, signals);
		if (err < 0)
			(void)fault_set(where, err, "%s", strerror(-err));
	} else {
		err = once(&p, where);
	}
	for (size_t i = 0; i < p.count; i++)
		reading_release(&p.members[i].past);
	free(p.members);
	sender_free(p.sender);
	engine_free(p.live);
	if (signals >= 0)
		close(signals);
	return err;
}
