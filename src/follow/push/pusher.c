/* pusher.c - seep push, and the process that pushes for seep watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/post.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "follow/serve/metrics.h"
#include "follow/serve/http.h"
#include "follow/push/push.h"
#include "kit/os/clock.h"
#include "kit/os/helper.h"

#define S UINT64_C(1000000000)

enum {
	ASK_FD = 3,  /* in the child */
	READ_S = 15, /* for one segment to be read, and its names to be found */
	RESTART_S = 60,
	END_MS = 8000, /* for the last push, and more than that takes */
};

/* An order that was checked. */
struct errand {
	const struct push_order *order;
	struct target target;
	struct message_labels labels;
};

struct pusher {
	struct errand errand;
	pid_t child;              /* 0: none */
	pid_t parent;             /* of it: who has started it */
	int fd;                   /* pidfd of it; -1: none */
	uint64_t again_ns;        /* CLOCK_MONOTONIC; 0: it runs */
	int ask_fd;               /* eventfd: it is to look now; -1: none */
	uint64_t asked_ns, steps; /* when it went on, and how far it was */
};

static struct pusher the_pusher = {.fd = -1, .ask_fd = -1};
/* Memory that is shared with the child. */
static struct {
	struct push_state state;
	struct push_offer offer;
} * page;

/* ---- the order ---- */

static int check_token(const struct errand *e, struct fault *where)
{
	struct fault why = {""};
	char *token;
	int err;

	if (!e->order->token_file)
		return 0;
	if (!e->target.is_encrypted && !e->target.is_local)
		return fault_set(where, -EINVAL,
		    "%.100s would send the token unencrypted: it needs https", e->target.shown);
	err = token_read(e->order->token_file, TOKEN_SENT_MOST, &token, &why);
	if (err < 0)
		/* a file, not the command line: no wrong use */
		return fault_set(where, err == -EINVAL ? -EBADMSG : err, "%s", why.text);
	token_free(token);
	return 0;
}

/* Texts of the order stay where they are. */
static int check(const struct push_order *o, struct errand *ret, struct fault *where)
{
	struct errand e = {.order = o};
	int err = target_read(o->url, &e.target, where);

	if (err == 0 && o->tenant && !target_is_tenant(o->tenant))
		err = fault_set(where, -EINVAL, "--tenant takes letters, digits and !-_.*'()|");
	for (size_t i = 0; i < o->label_count && err == 0; i++) {
		struct fault why = {""};

		err = message_add_label(&e.labels, o->labels[i], &why);
		if (err < 0)
			(void)fault_set(where, err, "--label: %s", why.text);
	}
	if (err == 0)
		err = check_token(&e, where);
	if (err < 0)
		message_release_labels(&e.labels);
	else
		*ret = e;
	return err;
}

static int carry_out(
    const struct errand *e, struct push_state *state, int ask_fd, struct fault *where)
{
	const struct push_order *o = e->order;
	const struct post_plan way = {.url = e->target.url,
	    .token_file = o->token_file,
	    .tenant = o->tenant,
	    .version = o->version};
	struct push_plan plan = {.directories = o->directories,
	    .pids = o->pids,
	    .pid_count = o->pid_count,
	    .every_ns = o->every_ns,
	    .server = e->target.shown,
	    .labels = &e->labels,
	    .naming = o->naming,
	    .state = state,
	    .ask_fd = ask_fd,
	    .offer = page ? &page->offer : NULL,
	    .say = o->say,
	    .context = o->context};
	struct post *post;
	int err;

	/* TLS writes to a connection that may be closed */
	(void)signal(SIGPIPE, SIG_IGN);
	err = post_new(&way, &post);

	if (err < 0)
		return fault_set(where, err, "out of memory");
	plan.transport = post_transport(post);
	err = push_run(&plan, where);
	post_free(post);
	return err;
}

int pusher_run(const struct push_order *order, struct fault *where)
{
	static struct push_state state;
	struct errand e;
	int err = check(order, &e, where);

	if (err == 0) {
		err = carry_out(&e, &state, -1, where);
		message_release_labels(&e.labels);
	}
	return err;
}

/* ---- the guest ---- */

static void say(const struct pusher *p, const char *text)
{
	p->errand.order->say(p->errand.order->context, text);
}

/* In the child: what belongs to watch, its lock above all, is closed. */
static int be_child(int none, void *context)
{
	struct pusher *p = context;
	pid_t parent = p->parent;
	struct fault where = {""};
	char text[320];
	int err;

	(void)none;
	(void)prctl(PR_SET_NAME, "seep push");
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 0;
	if (dup2(p->ask_fd, ASK_FD) < 0)
		return 1;
	(void)syscall(SYS_close_range, ASK_FD + 1, ~0U, 0);
	err = carry_out(&p->errand, &page->state, ASK_FD, &where);
	if (err < 0) {
		(void)snprintf(text, sizeof(text), "push: %s", where.text);
		say(p, text);
	}
	return err < 0;
}

static int start(struct pusher *p)
{
	const struct helper_plan plan = {.run = be_child, .context = p};
	int err;

	p->parent = getpid();
	err = helper_start(&plan, &p->child, NULL);
	if (err < 0)
		return err;
	p->again_ns = 0;
	/* without it, the end is seen a bit later */
	p->fd = (int)syscall(SYS_pidfd_open, p->child, 0);
	return 0;
}

static int guest_begin(void *context, struct engine *l, struct fault *where)
{
	int err = start(context);

	(void)l;
	return err < 0
	    ? fault_set(where, err, "cannot start the process that pushes: %s", strerror(-err))
	    : 0;
}

static void guest_looked(void *context)
{
	(void)context;
}

static int guest_fd(void *context)
{
	return ((const struct pusher *)context)->fd;
}

static int guest_wait_ms(void *context)
{
	const struct pusher *p = context;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (p->again_ns == 0)
		return -1;
	return now >= p->again_ns ? 0 : (int)((p->again_ns - now) / 1000000) + 1;
}

static void close_fd(struct pusher *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static void guest_step(void *context)
{
	struct pusher *p = context;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int status;

	if (p->child && waitpid(p->child, &status, WNOHANG) == p->child) {
		p->child = 0;
		close_fd(p);
		p->again_ns = now + RESTART_S * S;
		say(p,
		    "the process that pushes has ended; it is started again "
		    "in a minute");
	}
	if (p->again_ns && now >= p->again_ns) {
		PUSH_STATE_ADD(&page->state, restarts, 1);
		if (start(p) < 0)
			p->again_ns = now + RESTART_S * S;
	}
}

/* The child reads them, and then says so. */
static void guest_offer(void *context, const struct live_key *keys, size_t count)
{
	struct pusher *p = context;
	uint64_t one = 1;

	if (p->child == 0)
		return;
	count = count < GATHER_KEYS ? count : GATHER_KEYS;
	memcpy(page->offer.keys, keys, count * sizeof(*keys));
	page->offer.count = (uint32_t)count;
	page->offer.offered++;
	p->asked_ns = clock_ns(CLOCK_MONOTONIC);
	/* if it is full, it is readable as well */
	(void)!write(p->ask_fd, &one, sizeof(one));
}

static bool guest_has_read(void *context)
{
	struct pusher *p = context;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), steps = page->offer.steps;

	if (p->child == 0 || page->offer.read >= page->offer.offered)
		return true;
	if (steps != p->steps)
		p->asked_ns = now;
	p->steps = steps;
	return now - p->asked_ns >= READ_S * S;
}

static void guest_end(void *context)
{
	struct pusher *p = context;
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + END_MS * S / 1000;
	int status;

	if (p->child == 0)
		return;
	(void)kill(p->child, SIGTERM);
	while (waitpid(p->child, &status, WNOHANG) == 0) {
		struct pollfd wait = {.fd = p->fd, .events = POLLIN};

		if (clock_ns(CLOCK_MONOTONIC) >= until) {
			(void)kill(p->child, SIGKILL);
			(void)waitpid(p->child, &status, 0);
			break;
		}
		(void)poll(&wait, 1, 50);
	}
	p->child = 0;
	p->again_ns = 0;
	close_fd(p);
}

int pusher_guest(const struct push_order *order, struct guest *ret, struct fault *where)
{
	struct pusher *p = &the_pusher;
	int err = check(order, &p->errand, where);

	if (err < 0)
		return err;
	p->ask_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || p->ask_fd < 0) {
		page = NULL;
		return fault_set(where, -ENOMEM, "out of memory");
	}
	*ret = (struct guest){.context = p,
	    .begin = guest_begin,
	    .looked = guest_looked,
	    .met = guest_looked,
	    .fd = guest_fd,
	    .wait_ms = guest_wait_ms,
	    .step = guest_step,
	    .offer = guest_offer,
	    .has_read = guest_has_read,
	    .end = guest_end};
	return 0;
}

const struct push_state *pusher_state(void)
{
	return page ? &page->state : NULL;
}

/* ---- metrics ---- */

static void put(
    struct metrics *m, const char *name, enum metrics_type type, uint64_t value, const char *help)
{
	metrics_family(m, name, type, help);
	metrics_put(m, value, METRICS_LAST);
}

void pusher_metrics(void *context, struct metrics *m)
{
	const struct push_state *s = pusher_state();

	(void)context;
	if (!s)
		return;
	metrics_family(m, "seep_push_last_success_timestamp_seconds", METRICS_GAUGE,
	    "When a server accepted a profile last; 0: not yet.");
	metrics_put_seconds(m, (double)PUSH_STATE_GET(s, last_success_ns) / 1e9, METRICS_LAST);
	put(m, "seep_push_accepted", METRICS_COUNTER, PUSH_STATE_GET(s, pushes),
	    "Profiles that the server accepted.");
	put(m, "seep_push_failures", METRICS_COUNTER, PUSH_STATE_GET(s, failures),
	    "Requests that the server did not accept, or did not get.");
	put(m, "seep_push_sent_bytes", METRICS_COUNTER, PUSH_STATE_GET(s, sent_bytes),
	    "Bytes of accepted requests.");
	put(m, "seep_push_waiting_bytes", METRICS_GAUGE, PUSH_STATE_GET(s, waiting_bytes),
	    "Memory of sums and stacks that are kept for the next profiles.");
	put(m, "seep_push_merged_stacks", METRICS_COUNTER, PUSH_STATE_GET(s, merged_stacks),
	    "Stacks that became (other) for lack of room.");
	put(m, "seep_push_dropped_processes", METRICS_COUNTER, PUSH_STATE_GET(s, dropped_processes),
	    "Processes that ended and could not be read any more.");
	put(m, "seep_push_uncertain", METRICS_COUNTER, PUSH_STATE_GET(s, uncertain),
	    "Profiles without an answer whose sums were sent again.");
	put(m, "seep_push_restarts", METRICS_COUNTER, PUSH_STATE_GET(s, restarts),
	    "Times that the process that pushes was started again.");
	put(m, "seep_push_last_status", METRICS_GAUGE, PUSH_STATE_GET(s, status),
	    "Status of HTTP in the last answer; 0: there was none.");
	put(m, "seep_push_services", METRICS_GAUGE, PUSH_STATE_GET(s, services),
	    "Services at the last reading.");
}
