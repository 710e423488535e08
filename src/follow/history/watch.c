/* watch.c - keeps a history of all processes that are traced: the loop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/watch.h"

#include <sys/signalfd.h>

#include "kit/os/clock.h"
#include "kit/os/descriptor.h"
#include "kit/words/text.h"
#include "kit/words/words.h"
#include "kit/os/helper.h"
#include "follow/history/service.h"
#include "follow/history/watch_parts.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* Names in the history that are not of a service. */
#define LEFT_FILE ".left"

enum {
	LOOK_MS = 1000,       /* between looks at who runs */
	NEWS_MS = 100,        /* between looks at who came and who ended */
	GATHER_MS = 1000,     /* between rounds for the dead */
	GATHER_FAST_MS = 100, /* the same, when many die */
	WAITING_MANY = 32,    /* slots of which nobody knows who is in them */
	DEAD_MANY = 24,       /* in one round: each has about 100 KiB of tmpfs */
	ROOM_MS = 200,        /* between looks at what segments take */
	ROOM_MANY = 3 << 20,  /* bytes more than after the last round */
	RETRY_S = 5,          /* after an error of writing */
	THIN_S = 60,
	SAVE_S = 60,
	PARTS_S = 600, /* between tries to complete old chapters */
	IDLE_S = 3600, /* a chapter without a process is finished */
	ROOTS_S = 10,  /* the same, if store.h keeps directories for it */
	OPEN_MAX_CHAPTERS = 128,
	FINISH_S = 60,     /* for all names, at the end */
	CHILDREN_BUSY = 4, /* that look for names at the same time */
	SHOWN = 128,       /* bytes of a name in a message */
	FDS_OWN = 3,       /* signals, who came or ended, births */
};

void watch_say(const struct watch *w, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	w->plan->say(w->plan->context, text);
}

/* With one round there is no time to find out how the clock goes. */
uint64_t watch_age_now(const struct watch *w)
{
	return w->plan->once || history_pace_is_steady() ? history_pace_realtime_ns() : 0;
}

/* ---- children that look for names ---- */

static void reap(struct watch *w)
{
	for (size_t i = 0; i < w->child_count;) {
		int status;
		pid_t pid = waitpid(w->children[i], &status, WNOHANG);

		if (pid == 0) {
			i++;
			continue;
		}
		/* what it left behind is a chapter to be completed */
		if (pid > 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
			w->next_parts_ns = 0;
		w->children[i] = w->children[--w->child_count];
	}
}

/* ---- chapters that a killed watch has left ---- */

struct parts {
	struct watch *watch;
	size_t completed;
};

static bool is_ours(const struct watch *w, const char *folder, const char *part)
{
	char done[CHAPTER_NAME_BYTES];
	struct chapter_name name;

	for (size_t i = 0; i < w->service_count; i++) {
		const struct service *s = w->services[i];

		if (!s->chapter || strcmp(s->folder, folder) != 0 ||
		    !chapter_name_read(part, &name))
			continue;
		name.is_part = false;
		chapter_name_write(&name, done);
		if (strcmp(text_base(chapter_path(s->chapter)), done) == 0)
			return true;
	}
	return false;
}

static void complete_folder(void *context, const char *folder)
{
	struct parts *q = context;
	struct watch *w = q->watch;
	char path[PATH_MAX];
	struct chapter_entry *all = NULL;
	size_t count = 0;
	int err = store_folder(&w->store, folder, path);

	if (err == 0)
		err = chapter_list(path, &all, &count);
	for (size_t i = 0; i < count && err == 0; i++) {
		if (!all[i].name.is_part || is_ours(w, folder, all[i].text))
			continue;
		err = chapter_repair(&w->store, folder, all[i].text, &w->plan->naming);
		q->completed += err == 0;
		if (err == -EBUSY)
			err = 0; /* its names are being looked for */
	}
	free(all);
	if (err < 0)
		watch_say(w,
		    "%s/%s: a chapter that was cut off cannot be "
		    "completed yet: %s",
		    w->store.path, folder, strerror(-err));
}

/* It goes on when we have ended. */
static int complete_apart(int none, void *context)
{
	struct parts *q = context;

	(void)none;
	close(q->watch->store.lock_fd);
	store_each(&q->watch->store, complete_folder, q);
	return 0;
}

/* In a child, unless this is the only round: names take long. */
static void complete_parts(struct watch *w)
{
	struct parts q = {.watch = w};
	const struct helper_plan plan = {.run = complete_apart, .context = &q};

	w->next_parts_ns = history_pace_monotonic_ns() + PARTS_S * S;
	if (w->plan->once)
		store_each(&w->store, complete_folder, &q);
	else if (w->child_count < WATCH_CHILDREN &&
	    helper_start(&plan, &w->children[w->child_count], NULL) == 0)
		w->child_count++;
}

/* ---- what happens now and then ---- */

static void thin_one(void *context, const char *folder)
{
	struct watch *w = context;

	store_thin(&w->store, folder, watch_age_now(w), 0);
}

static struct service *idlest(struct watch *w)
{
	struct service *found = NULL;

	for (size_t i = 0; i < w->service_count; i++) {
		struct service *s = w->services[i];

		if (s->chapter && s->living == 0 && s->err == 0 &&
		    (!found || s->used_ns < found->used_ns))
			found = s;
	}
	return found;
}

static void turn_due(struct watch *w)
{
	uint64_t now = history_pace_monotonic_ns();
	size_t open = 0;

	for (size_t i = 0; i < w->service_count; i++) {
		struct service *s = w->services[i];
		/* the files of a container that has ended are let go soon */
		uint64_t most = s->roots.count > 0 ? ROOTS_S * S : IDLE_S * S;
		bool idle = s->chapter && s->living == 0 && now - s->used_ns > most;

		if (s->err == 0 && (idle || service_is_full(s)))
			watch_turn(w, s, false);
		open += s->chapter != NULL;
	}
	if (open > OPEN_MAX_CHAPTERS) {
		struct service *s = idlest(w);

		if (s)
			watch_turn(w, s, false);
	}
}

/* Says once that nothing can be written, and once that it can again. */
static void retry(struct watch *w)
{
	struct service *first = NULL;

	for (size_t i = 0; i < w->service_count; i++) {
		struct service *s = w->services[i];

		if (s->err == 0)
			continue;
		service_retry(s);
		watch_turn(w, s, false);
		/* whether there is room is seen by writing */
		if (s->err == 0)
			(void)service_open(s);
		if (s->err < 0 && !first)
			first = s;
	}
	if (first && !w->is_said_full)
		watch_say(w,
		    "%s/%s cannot be written: %s; the segments are kept, and "
		    "writing goes on as soon as it can",
		    w->store.path, first->folder, strerror(-first->err));
	else if (!first && w->is_said_full)
		watch_say(w, "%s can be written again", w->store.path);
	w->is_said_full = first != NULL;
}

static bool is_stuck(const struct watch *w)
{
	for (size_t i = 0; i < w->service_count; i++)
		if (w->services[i]->err < 0)
			return true;
	return false;
}

static void save_left(struct watch *w)
{
	struct gather_counts c = gather_counts(w->gather);

	if (c.written == w->saved_written)
		return;
	if (gather_save(w->gather, w->store.fd, LEFT_FILE) == 0)
		w->saved_written = c.written;
}

/* What follows the clock of the history. */
static void do_chores(struct watch *w)
{
	uint64_t now = history_pace_monotonic_ns(), real = clock_ns(CLOCK_MONOTONIC);

	/* that there is room again is not said before it has lasted */
	if (w->is_said_full ? real >= w->next_retry_ns : is_stuck(w)) {
		w->next_retry_ns = real + RETRY_S * S;
		retry(w);
	}
	if (w->alarm)
		alarm_step(w->alarm, real);
	turn_due(w);
	if (now >= w->next_thin_ns) {
		w->next_thin_ns = now + THIN_S * S;
		store_each(&w->store, thin_one, w);
	}
	if (real >= w->next_save_ns) {
		w->next_save_ns = real + SAVE_S * S;
		save_left(w);
	}
	if (now >= w->next_parts_ns)
		complete_parts(w);
}

/* ---- guests ---- */

static void tell_guests(const struct watch *w, bool is_look)
{
	for (size_t i = 0; i < w->plan->guest_count; i++) {
		const struct guest *g = &w->plan->guests[i];

		(is_look ? g->looked : g->met)(g->context);
	}
}

static void step_guests(const struct watch *w)
{
	for (size_t i = 0; i < w->plan->guest_count; i++)
		w->plan->guests[i].step(w->plan->guests[i].context);
}

static void end_guests(const struct watch_plan *plan)
{
	for (size_t i = 0; i < plan->guest_count; i++)
		plan->guests[i].end(plan->guests[i].context);
}

static int wait_for_guests(const struct watch *w, int ms)
{
	for (size_t i = 0; i < w->plan->guest_count; i++) {
		const struct guest *g = &w->plan->guests[i];
		int own = g->wait_ms(g->context);

		if (own >= 0 && own < ms)
			ms = own;
	}
	return ms;
}

/* ---- one round ---- */

/* Slots and files of the dead that were given back so far. */
static uint64_t given_back(const struct watch *w)
{
	struct gather_counts c = gather_counts(w->gather);

	return c.slots_freed + c.files_removed;
}

static int gather_now(struct watch *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), took;
	uint64_t rest = GATHER_MS * MS, least = GATHER_FAST_MS * MS;
	uint64_t before = given_back(w), count;
	size_t waiting = 0;
	int err = gather_round(w->gather, &waiting);

	/* so that about DEAD_MANY are there when the next round comes */
	count = given_back(w) - before;
	if (count > 0 && w->gathered_ns > 0 && (now - w->gathered_ns) / count < rest / DEAD_MANY)
		rest = (now - w->gathered_ns) / count * DEAD_MANY;
	if (rest < least || waiting >= WAITING_MANY)
		rest = least;
	w->next_gather_ns = now + rest;
	w->gathered_ns = now;
	w->gathered_dead = engine_came_dead(w->live);
	/* half of a core at most, whatever others do */
	took = clock_ns(CLOCK_MONOTONIC) - now;
	w->rested_ns = now + 2 * took;
	w->gathered_room = gather_room(w->gather);
	return err;
}

/* Do the segments take much more than they did after the last round? */
static void look_at_room(struct watch *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < w->next_room_ns)
		return;
	w->next_room_ns = now + ROOM_MS * MS;
	if (gather_room(w->gather) > w->gathered_room + ROOM_MANY)
		w->next_gather_ns = 0;
}

void watch_hasten_gather(struct watch *w)
{
	uint64_t soon = clock_ns(CLOCK_MONOTONIC) + GATHER_FAST_MS * MS;

	if (w->next_gather_ns > soon)
		w->next_gather_ns = soon;
}

static bool is_gather_due(const struct watch *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now >= w->rested_ns &&
	    (now >= w->next_gather_ns || engine_came_dead(w->live) >= w->gathered_dead + DEAD_MANY);
}

static int round_of(struct watch *w, bool has_news)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool is_look = now >= w->next_look_ns;
	int err = 0;

	look_at_room(w);
	/* many come at once, and what they write is synced once */
	w->has_news |= has_news;
	if (is_look) {
		err = engine_look(w->live);
		tell_guests(w, true);
		w->next_look_ns = now + history_pace_real_ns(LOOK_MS * MS);
		if (w->next_look_ns < now + 10 * MS)
			w->next_look_ns = now + 10 * MS;
	} else if (is_gather_due(w) || (w->has_news && now >= w->next_news_ns)) {
		/* a dead child belongs to the service of its parent */
		err = engine_look_at_roster(w->live);
		tell_guests(w, false);
	} else {
		return watch_look(w);
	}
	w->has_news = false;
	w->next_news_ns = now + NEWS_MS * MS;
	if (err == 0)
		err = watch_processes(w);
	if (err == 0 && w->alarm && is_look)
		err = watch_rules(w);
	if (err == 0)
		err = watch_look(w);
	/* who has just ended is given back at once */
	return err == 0 && is_gather_due(w) ? gather_now(w) : err;
}

static int wait_ms(const struct watch *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next = w->next_look_ns;

	if (w->next_gather_ns < next)
		next = w->next_gather_ns < w->rested_ns ? w->rested_ns : w->next_gather_ns;
	if (w->next_room_ns < next)
		next = w->next_room_ns;
	if (w->has_news && w->next_news_ns < next)
		next = w->next_news_ns;
	if (w->next_sign_ns && w->next_sign_ns < next)
		next = w->next_sign_ns;
	return next <= now ? 0 : (int)((next - now) / MS) + 1;
}

/* True: it is time to end. */
static bool take_signals(struct watch *w, int fd)
{
	struct signalfd_siginfo si;
	bool stop = false;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			reap(w);
		else
			stop = true;
	}
	return stop;
}

static void give_sign(struct watch *w, uint64_t every_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (every_ns == 0 || now < w->next_sign_ns)
		return;
	notify_send("WATCHDOG=1");
	w->next_sign_ns = now + every_ns;
}

static int loop(struct watch *w, int signals)
{
	uint64_t sign_ns = notify_watchdog_ns();
	bool has_news = true, is_ready = false, stop = false;
	int err = 0;

	while (!stop && err == 0) {
		struct pollfd fds[FDS_OWN + WATCH_GUESTS] = {
		    {.fd = signals, .events = POLLIN},
		    {.fd = engine_wake_fd(w->live), .events = POLLIN},
		};
		size_t count = FDS_OWN;

		for (; count < FDS_OWN + w->plan->guest_count; count++)
			fds[count] = (struct pollfd){.events = POLLIN,
			    .fd = w->plan->guests[count - FDS_OWN].fd(
			        w->plan->guests[count - FDS_OWN].context)};
		err = round_of(w, has_news);
		if (err < 0 || w->plan->once)
			break;
		do_chores(w);
		watch_births_step(w);
		fds[2] = (struct pollfd){.fd = watch_births_fd(w), .events = POLLIN};
		give_sign(w, sign_ns);
		if (!is_ready)
			notify_send("READY=1");
		is_ready = true;
		/* news that are known would end every wait at once */
		if (w->has_news)
			fds[1].fd = -1;
		if (poll(fds, count, wait_for_guests(w, wait_ms(w))) < 0 && errno != EINTR)
			err = -errno;
		step_guests(w);
		stop = take_signals(w, signals);
		has_news = (fds[1].revents & POLLIN) != 0;
	}
	return err;
}

/* ---- begin and end ---- */

/* Waits for children, but not without bound. */
static void wait_for_children(struct watch *w, size_t at_most)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + FINISH_S * S;

	for (reap(w); w->child_count > at_most && clock_ns(CLOCK_MONOTONIC) < until; reap(w)) {
		(void)poll(NULL, 0, 20);
		give_sign(w, notify_watchdog_ns());
	}
}

static void finish(struct watch *w)
{
	size_t waiting;
	int err;

	notify_send("STOPPING=1");
	if (!w->plan->once) {
		/* the last moment of all that run, and of who has just ended */
		err = engine_look(w->live);
		if (err == 0)
			err = watch_processes(w);
		if (err == 0)
			(void)gather_round(w->gather, &waiting);
	}
	for (size_t i = 0; i < w->service_count; i++) {
		wait_for_children(w, CHILDREN_BUSY - 1);
		if (w->services[i]->err < 0)
			service_retry(w->services[i]);
		watch_turn(w, w->services[i], true);
		if (w->services[i]->err < 0)
			watch_say(w,
			    "%s/%s cannot be completed: %s; the next seep "
			    "watch does it",
			    w->store.path, w->services[i]->folder, strerror(-w->services[i]->err));
	}
	/* gives back what became safe only now */
	if (w->plan->once)
		(void)gather_round(w->gather, &waiting);
	save_left(w);
	(void)watch_kin_save(w);
	wait_for_children(w, 0);
}

static int begin_rules(struct watch *w)
{
	const struct alarm_plan plan = {.rules = w->plan->rules,
	    .texts = w->plan->rule_texts,
	    .count = w->plan->rule_count,
	    .command = w->plan->command,
	    .say = w->plan->say,
	    .context = w->plan->context};

	return plan.count ? alarm_new(&plan, &w->alarm) : 0;
}

static int begin(struct watch *w, struct fault *where)
{
	const struct engine_plan live = {.directories = w->plan->directories,
	    .pids = w->plan->pids,
	    .pid_count = w->plan->pid_count,
	    .keep_the_ended = true,
	    .other_fds = w->plan->guest_count * GUEST_FDS};
	const struct gather_plan gather = {
	    .directories = w->plan->directories, .hooks = watch_gather_hooks(w)};
	int err = engine_new(&live, &w->live);

	if (err == 0)
		err = gather_new(&gather, &w->gather);
	if (err == 0)
		err = begin_rules(w);
	if (err == 0)
		err = gather_load(w->gather, w->store.fd, LEFT_FILE);
	if (err == 0)
		err = watch_kin_load(w);
	if (err < 0)
		return fault_set(where, err, "%s", strerror(-err));
	complete_parts(w);
	for (size_t i = 0; i < w->plan->guest_count && err == 0; i++)
		err = w->plan->guests[i].begin(w->plan->guests[i].context, w->live, where);
	return err;
}

int watch_run(const struct watch_plan *plan, struct fault *where)
{
	struct watch w = {.plan = plan, .births.look.fd = -1};
	int signals, err;

	err = store_open(&w.store, &plan->store, where);
	if (err < 0) {
		end_guests(plan);
		return err;
	}
	quota_init(&w.quota, UINT64_MAX);
	signals = signals_take_over(true);
	if (signals < 0)
		err = fault_set(where, signals, "%s", strerror(-signals));
	if (err == 0)
		err = begin(&w, where);
	if (err == 0) {
		err = loop(&w, signals);
		/* names may take a minute, and guests would not answer */
		end_guests(plan);
		finish(&w);
		if (err < 0)
			(void)fault_set(where, err, "%s", strerror(-err));
	} else {
		end_guests(plan);
	}
	watch_births_release(&w);
	watch_processes_release(&w);
	watch_services_release(&w);
	alarm_free(w.alarm);
	gather_free(w.gather);
	engine_free(w.live);
	quota_release(&w.quota);
	if (signals >= 0)
		close(signals);
	store_release(&w.store);
	return err;
}
