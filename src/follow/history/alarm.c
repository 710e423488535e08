/* alarm.c - rules of seep watch: what happens when one is broken. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/watch_rule.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "follow/history/history_pace.h"
#include "follow/history/watch.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "kit/os/helper.h"
#include "kit/os/outfile.h"

#define S UINT64_C(1000000000)

enum {
	COMMAND_S = 30,
	QUEUE_MAX = 64,
	SNAPSHOT_TRIES = 100,
};

/* All rules of one process. */
struct suspect {
	uint64_t number; /* of the engine */
	bool is_seen;    /* in this round */
	struct rule_watch watches[];
};

struct call {
	char *rule, *pid, *service, *value, *snapshot; /* "NAME=value" */
};

struct alarm {
	struct alarm_plan plan;
	struct suspect **suspects; /* in the order of their numbers */
	size_t suspect_count, suspect_room;
	struct rule_limiter limiter;
	struct call queue[QUEUE_MAX];
	size_t queued;
	pid_t child; /* 0: none */
	uint64_t child_ns;
	bool is_killed;
};

int alarm_new(const struct alarm_plan *plan, struct alarm **ret)
{
	struct alarm *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->plan = *plan;
	*ret = a;
	return 0;
}

static void free_call(struct call *c)
{
	free(c->rule);
	free(c->pid);
	free(c->service);
	free(c->value);
	free(c->snapshot);
}

void alarm_free(struct alarm *a)
{
	if (!a)
		return;
	if (a->child > 0) {
		(void)kill(-a->child, SIGKILL);
		(void)waitpid(a->child, NULL, 0);
	}
	for (size_t i = 0; i < a->queued; i++)
		free_call(&a->queue[i]);
	for (size_t i = 0; i < a->suspect_count; i++)
		free(a->suspects[i]);
	free(a->suspects);
	watch_rule_limiter_release(&a->limiter);
	free(a);
}

/* ---- processes ---- */

static struct suspect *find_suspect(struct alarm *a, uint64_t number)
{
	size_t low = sorted_first(a->suspects, a->suspect_count, x, (*x)->number < number);
	struct suspect *s;

	if (low < a->suspect_count && a->suspects[low]->number == number)
		return a->suspects[low];
	if (room_make(&a->suspects, &a->suspect_room, a->suspect_count, sizeof(struct suspect *)) <
	    0)
		return NULL;
	s = calloc(1, sizeof(*s) + a->plan.count * sizeof(struct rule_watch));
	if (!s)
		return NULL;
	s->number = number;
	memmove(a->suspects + low + 1, a->suspects + low,
	    (a->suspect_count - low) * sizeof(struct suspect *));
	a->suspects[low] = s;
	a->suspect_count++;
	return s;
}

void alarm_looked(struct alarm *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->suspect_count; i++) {
		struct suspect *s = a->suspects[i];

		if (s->is_seen) {
			s->is_seen = false;
			a->suspects[kept++] = s;
		} else {
			free(s);
		}
	}
	a->suspect_count = kept;
}

/* ---- the snapshot ---- */

static int write_file(const struct store *store, const char *path, const void *bytes, size_t len)
{
	struct outfile out;
	int err = outfile_open(path, OUTFILE_REFUSE, 0600, &out);

	if (err < 0)
		return err;
	err = store_share(store, out.fd);
	if (err == 0)
		err = outfile_write(&out, bytes, len);
	if (err == 0)
		err = outfile_sync(&out);
	if (err == 0)
		err = outfile_publish(&out, OUTFILE_REFUSE);
	outfile_close(&out);
	return err;
}

/* SERVICE/snapshots/TIME-PID-NUMBER.seep-snap; *ret is for free(). */
static int take_snapshot(const struct engine_process *p, const struct segfile *f, int slot,
    const struct service *s, const char *label, char **ret)
{
	char folder[FOLDER_NAME_BYTES + 16], path[PATH_MAX], when[32];
	time_t now = (time_t)(history_pace_realtime_ns() / S);
	struct segment *seg = NULL;
	void *bytes = NULL;
	struct tm tm;
	size_t len = 0;
	int err;

	err = store_folder(s->store, s->folder, path);
	(void)snprintf(folder, sizeof(folder), "%s/snapshots", s->folder);
	if (err == 0)
		err = store_folder(s->store, folder, path);
	if (err == 0)
		err = segfile_read(f, slot, &seg, NULL);
	if (err == 0)
		err = segment_copy_mark_snapshot(seg, label);
	if (err == 0)
		err = segment_copy_compact(seg, &bytes, &len);
	segment_copy_free(seg);
	if (err < 0)
		return err;
	(void)gmtime_r(&now, &tm);
	(void)strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	err = -EEXIST;
	*ret = NULL;
	for (int i = 1; i <= SNAPSHOT_TRIES && err == -EEXIST; i++) {
		free(*ret);
		if (asprintf(ret, "%s/%s-%d-%d.seep-snap", path, when, (int)p->inner_pid, i) < 0) {
			*ret = NULL;
			err = -ENOMEM;
			break;
		}
		err = write_file(s->store, *ret, bytes, len);
	}
	free(bytes);
	if (err < 0) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

/* ---- the command ---- */

static bool fill_call(struct call *c, const char *rule, const struct engine_process *p,
    const char *service, const char *value, const char *snapshot)
{
	*c = (struct call){0};
	return asprintf(&c->rule, "SEEP_RULE=%s", rule) >= 0 &&
	    asprintf(&c->pid, "SEEP_PID=%d", (int)(p->pid ? p->pid : p->inner_pid)) >= 0 &&
	    asprintf(&c->service, "SEEP_SERVICE=%s", service) >= 0 &&
	    asprintf(&c->value, "SEEP_VALUE=%s", value) >= 0 &&
	    asprintf(&c->snapshot, "SEEP_SNAPSHOT=%s", snapshot ? snapshot : "") >= 0;
}

/* A helper that becomes the command. */
static int run_command(int none, void *alarm)
{
	const struct alarm *a = alarm;
	const struct call *c = &a->queue[0];
	char *argv[] = {(char *)(uintptr_t)a->plan.command, NULL};
	sigset_t mask;
	int null;

	(void)none;
	(void)sigemptyset(&mask);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	if (putenv(c->rule) == 0 && putenv(c->pid) == 0 && putenv(c->service) == 0 &&
	    putenv(c->value) == 0 && putenv(c->snapshot) == 0) {
		/* none of the manager's business */
		(void)unsetenv("NOTIFY_SOCKET");
		(void)unsetenv("WATCHDOG_USEC");
		engine_before_exec();
		(void)execvp(argv[0], argv);
	}
	return 127;
}

void alarm_reap(struct alarm *a)
{
	int status;

	if (a->child > 0 && waitpid(a->child, &status, WNOHANG) == a->child) {
		char text[256];

		if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
			(void)snprintf(
			    text, sizeof(text), "%.200s cannot be executed", a->plan.command);
			a->plan.say(a->plan.context, text);
		}
		a->child = 0;
	}
}

void alarm_step(struct alarm *a, uint64_t now_ns)
{
	const struct helper_plan plan = {.run = run_command, .context = a, .flags = HELPER_GROUP};

	alarm_reap(a);
	if (a->child > 0) {
		char text[256];

		if (a->is_killed || now_ns - a->child_ns < COMMAND_S * S)
			return;
		(void)kill(-a->child, SIGKILL);
		a->is_killed = true;
		(void)snprintf(text, sizeof(text),
		    "%.200s was killed, because it took more than 30 s", a->plan.command);
		a->plan.say(a->plan.context, text);
		return;
	}
	if (a->queued == 0)
		return;
	a->is_killed = false;
	a->child_ns = now_ns;
	(void)helper_start(&plan, &a->child, NULL);
	free_call(&a->queue[0]);
	memmove(a->queue, a->queue + 1, --a->queued * sizeof(a->queue[0]));
}

/* ---- rules ---- */

/* What the tighter of cgroup and RLIMIT_AS leaves. */
static struct rule_look look_of(const struct engine_process *p, uint64_t now_ns)
{
	struct rule_look look = {.at_ns = now_ns,
	    .live_bytes = p->now.live_bytes,
	    .limit_bytes = p->limit,
	    .used_bytes = p->used};
	struct rlimit space;
	char path[64];
	unsigned long pages = 0;
	FILE *f;

	if (p->pid <= 0 || prlimit(p->pid, RLIMIT_AS, NULL, &space) < 0 ||
	    space.rlim_cur == RLIM_INFINITY)
		return look;
	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)p->pid);
	f = fopen(path, "re");
	if (!f)
		return look;
	if (fscanf(f, "%lu", &pages) != 1) /* NOLINT(cert-err34-c) */
		pages = 0;
	(void)fclose(f);
	if (pages > 0) {
		uint64_t used = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);

		if (look.limit_bytes == 0 ||
		    space.rlim_cur - used < look.limit_bytes - look.used_bytes) {
			look.limit_bytes = space.rlim_cur;
			look.used_bytes = used;
		}
	}
	return look;
}

/* Says it, takes the snapshot, and queues the command. */
static int raise_alarm(struct alarm *a, size_t i, const struct engine_process *p,
    const struct segfile *f, int slot, const struct service *s, const struct rule_watch *watch)
{
	char value[RULE_VALUE_BYTES], text[1024];
	char *snapshot = NULL;
	int err;

	(void)watch_rule_value(&a->plan.rules[i], watch, value);
	err = take_snapshot(p, f, slot, s, a->plan.texts[i], &snapshot);
	if (err == -ENOMEM)
		return err;
	(void)snprintf(text, sizeof(text),
	    "rule \"%.200s\": %.200s, process %d (%.64s): %s%s%.400s", a->plan.texts[i], s->text,
	    (int)(p->pid ? p->pid : p->inner_pid), p->program, value,
	    snapshot ? "; " : "; no snapshot: ", snapshot ? snapshot : strerror(-err));
	a->plan.say(a->plan.context, text);
	if (a->plan.command && a->queued < QUEUE_MAX) {
		struct call *c = &a->queue[a->queued];

		if (fill_call(c, a->plan.texts[i], p, s->text, value, snapshot))
			a->queued++;
		else
			free_call(c);
	}
	free(snapshot);
	return 0;
}

int alarm_look(struct alarm *a, const struct engine_process *p, const struct segfile *f, int slot,
    struct service *s, uint64_t now_ns)
{
	struct suspect *x = find_suspect(a, p->number);
	struct rule_look look = look_of(p, now_ns);

	if (!x)
		return -ENOMEM;
	x->is_seen = true;
	for (size_t i = 0; i < a->plan.count; i++) {
		const struct rule *r = &a->plan.rules[i];
		int answer;

		if (!watch_rule_is_for(r, s->text) || !watch_rule_look(r, &x->watches[i], &look))
			continue;
		answer = watch_rule_limiter_take(&a->limiter, i, s->folder, now_ns);
		if (answer == 1)
			answer = raise_alarm(a, i, p, f, slot, s, &x->watches[i]);
		if (answer < 0)
			return answer;
	}
	return 0;
}

/* ---- notify: tells the service manager how we are: the protocol of sd_notify ---- */

void notify_send(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	int fd;

	/* "/run/..." or "@abstract" */
	if (len < 2 || len >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT,
	    (const struct sockaddr *)&to,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}

uint64_t notify_watchdog_ns(void)
{
	const char *every = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	char *end;
	uint64_t us;

	if (!every || !every[0] || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return 0;
	us = strtoull(every, &end, 10);
	if (*end || us > UINT64_MAX / 1000)
		return 0;
	return us * 1000 / 2; /* twice as often, as its manual says */
}
