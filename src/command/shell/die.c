/* die.c - prints messages on stderr, and ends the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/die.h"

#include <pthread.h>
#include <stdatomic.h>

#include "command/shell/terminal.h"
#include "kit/words/text.h"
#include "view/sites/enum_words.h"

static void say(const char *prefix, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* One write, so that lines of several processes do not mix. */
static void say(const char *prefix, const char *fmt, va_list ap)
{
	char text[2048], line[sizeof(text) * 4 + 16];

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	(void)text_escape(line, sizeof(line), text);
	if (pager_runs())
		(void)fflush(stdout); /* both go to the same terminal */
	progress_pause();
	(void)fprintf(stderr, "%s%s\n", prefix, line);
	progress_resume();
}

void die_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("seep: ", fmt, ap);
	va_end(ap);
}

void die_more(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("  ", fmt, ap);
	va_end(ap);
}

void die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("seep: ", fmt, ap);
	va_end(ap);
	exit(code);
}

/* ---- progress: shows one line on a terminal if work takes over a second ---- */

enum {
	PATIENCE_MS = 1000, /* ms: work that ends earlier gets no line */
	STEP_MS = 200,
	WHAT_MAX = 160,
	LINE_MAX_BYTES = 512,
};

/*
 * Erases to the end of the line and returns to its start. The line also ends
 * with this, so that other output begins at its start.
 */
#define BLANK "\033[K\r"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	pid_t owner;           /* a forked child has no thread, and no say */
	struct timespec since; /* of the first progress_begin() */
	bool runs;             /* the thread runs; used by main only */
	bool registered;       /* with atexit() */
	bool stopped;          /* switched off for good */
	/* protected by the lock: */
	char what[WHAT_MAX];
	bool ends;
	bool shown; /* a line is on the terminal */
	unsigned paused;
	_Atomic uint64_t done, total;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void add_ms(struct timespec *t, long ms)
{
	t->tv_sec += ms / 1000;
	t->tv_nsec += ms % 1000 * 1000000;
	if (t->tv_nsec >= 1000000000) {
		t->tv_sec++;
		t->tv_nsec -= 1000000000;
	}
}

static void erase(void)
{
	if (progress.shown)
		(void)!write(STDERR_FILENO, BLANK, sizeof(BLANK) - 1);
	progress.shown = false;
}

/* "seep: reading seep.data: 40%, 3 s", cut to what fits on a line. */
static void show(void)
{
	uint64_t done = atomic_load(&progress.done);
	uint64_t total = atomic_load(&progress.total);
	char line[LINE_MAX_BYTES], count[WORDS_MAX], far[WORDS_MAX + 8] = "";
	size_t room = terminal_columns(STDERR_FILENO) - 1;
	struct timespec now;
	size_t n;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (total > 0 && done <= total)
		(void)snprintf(far, sizeof(far), ": %.0f%%", 100.0 * (double)done / (double)total);
	else if (done > 0)
		(void)snprintf(far, sizeof(far), ": %s", words_count(count, done));
	(void)snprintf(line, sizeof(line) - sizeof(BLANK), "seep: %s%s, %jd s", progress.what, far,
	    (intmax_t)(now.tv_sec - progress.since.tv_sec));
	n = strlen(line);
	if (n > room) {
		n = room;
		while (n > 0 && ((unsigned char)line[n] & 0xc0) == 0x80)
			n--; /* do not cut a character in half */
	}
	memcpy(line + n, BLANK, sizeof(BLANK) - 1);
	(void)!write(STDERR_FILENO, line, n + sizeof(BLANK) - 1);
	progress.shown = true;
}

static void *tick(void *unused)
{
	struct timespec at = progress.since;

	(void)unused;
	(void)pthread_mutex_lock(&progress.lock);
	add_ms(&at, PATIENCE_MS);
	while (!progress.ends) {
		if (pthread_cond_clockwait(
		        &progress.changed, &progress.lock, CLOCK_MONOTONIC, &at) == 0)
			continue;
		if (!progress.paused)
			show();
		(void)clock_gettime(CLOCK_MONOTONIC, &at);
		add_ms(&at, STEP_MS);
	}
	erase();
	(void)pthread_mutex_unlock(&progress.lock);
	return NULL;
}

/* Blocks all signals in the thread, so that others get them. */
static void start_thread(void)
{
	sigset_t all, old;

	(void)clock_gettime(CLOCK_MONOTONIC, &progress.since);
	progress.owner = getpid();
	progress.ends = false;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	progress.runs = pthread_create(&progress.thread, NULL, tick, NULL) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (progress.runs && !progress.registered)
		progress.registered = atexit(progress_end) == 0;
}

static bool is_ours(void)
{
	return progress.runs && progress.owner == getpid();
}

static void set_what(const char *what, const char *object)
{
	FILE *f = fmemopen(progress.what, sizeof(progress.what), "w");

	if (!f)
		return; /* without memory, keep the old text */
	(void)fputs(what, f);
	if (object) {
		(void)putc(' ', f);
		text_print(f, object);
	}
	(void)fclose(f);
	progress.what[sizeof(progress.what) - 1] = '\0';
}

void progress_begin(const char *what, const char *object)
{
	struct terminal t;

	terminal_look(STDERR_FILENO, TERMINAL_NEVER, &t);
	if (progress.stopped || !t.is_terminal || t.is_dumb)
		return;
	(void)pthread_mutex_lock(&progress.lock);
	atomic_store(&progress.done, 0);
	atomic_store(&progress.total, 0);
	set_what(what, object);
	if (!is_ours())
		start_thread();
	(void)pthread_mutex_unlock(&progress.lock);
}

void progress_at(uint64_t done, uint64_t total)
{
	atomic_store_explicit(&progress.total, total, memory_order_relaxed);
	atomic_store_explicit(&progress.done, done, memory_order_relaxed);
}

void progress_end(void)
{
	if (!is_ours())
		return;
	(void)pthread_mutex_lock(&progress.lock);
	progress.ends = true;
	(void)pthread_cond_signal(&progress.changed);
	(void)pthread_mutex_unlock(&progress.lock);
	(void)pthread_join(progress.thread, NULL);
	progress.runs = false;
}

void progress_stop(void)
{
	progress_end();
	progress.stopped = true;
}

void progress_pause(void)
{
	if (!is_ours())
		return;
	(void)pthread_mutex_lock(&progress.lock);
	progress.paused++;
	erase();
	(void)pthread_mutex_unlock(&progress.lock);
}

void progress_resume(void)
{
	if (!is_ours())
		return;
	(void)pthread_mutex_lock(&progress.lock);
	progress.paused--;
	(void)pthread_mutex_unlock(&progress.lock);
}
