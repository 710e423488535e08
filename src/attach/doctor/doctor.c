/* doctor.c - the list of findings, and checks in a process of their own, with a deadline. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/doctor/doctor_parts.h"

#include "base/std.h"
#include "host/memory/foreign_parts.h"
#include "kit/data/room.h"
#include "kit/os/clock.h"
#include "kit/os/helper.h"
#include "kit/os/outfile.h"

enum { ANSWER_MAX = 4 << 20 };
#define PATIENCE_NS UINT64_C(8000000000)

static void release(struct doctor_finding *f)
{
	free(f->group);
	free(f->check);
	free(f->text);
	free(f->advice);
}

void doctor_release(struct doctor_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		release(&r->list[i]);
	free(r->list);
	*r = (struct doctor_report){0};
}

size_t doctor_count(const struct doctor_report *r, enum doctor_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->list[i].state == state;
	return n;
}

void doctor_add(struct doctor_report *r, enum doctor_state state, const char *check,
    const char *advice, const char *fmt, ...)
{
	struct doctor_finding f = {.state = state,
	    .group = strdup(r->group ? r->group : ""),
	    .check = strdup(check),
	    .advice = strdup(advice ? advice : "")};
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&f.text, fmt, ap) < 0)
		f.text = NULL;
	va_end(ap);
	if (!f.group || !f.check || !f.advice || !f.text ||
	    room_make(&r->list, &r->room, r->count, sizeof(f)) < 0) {
		r->is_cut = true;
		release(&f);
		return;
	}
	r->list[r->count++] = f;
}

/* ---- in the child ---- */

/* Each text with its NUL. */
static bool put(FILE *out, const struct doctor_finding *f)
{
	return fputc('0' + (int)f->state, out) != EOF &&
	    fprintf(out, "%s%c%s%c%s%c%s%c", f->group, 0, f->check, 0, f->text, 0, f->advice, 0) >
	    0;
}

/*
 * The result comes last, so an answer that is cut off has none. The group of the
 * later findings is what `look` has left.
 */
static char *pack(const struct doctor_report *r, int result, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < r->count; i++)
		if (!put(out, &r->list[i]))
			break;
	(void)fprintf(out, "=%d%c", result, 0);
	return fclose(out) == 0 ? text : NULL;
}

struct apart {
	const char *group;
	int (*look)(struct doctor_report *r, void *context);
	void *context;
};

static int serve(int fd, void *context)
{
	const struct apart *a = context;
	struct doctor_report found = {.group = a->group};
	size_t len;
	int result = a->look(&found, a->context);
	char *text = pack(&found, result, &len);

	if (text)
		(void)write_all(fd, text, len);
	return 0;
}

/* ---- in the command ---- */

/* All bytes until the child closes its end; NULL: not in time. */
static char *get_answer(int fd, uint64_t until_ns, size_t *ret_len)
{
	char *text = malloc(ANSWER_MAX + 1); /* pages that are not written cost nothing */
	size_t len = 0;
	ssize_t n = 1;

	while (text && n != 0 && len < ANSWER_MAX && helper_await(fd, until_ns) == 0) {
		n = read(fd, text + len, ANSWER_MAX - len);
		if (n < 0 && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	if (text && n == 0) {
		text[len] = '\0';
		*ret_len = len;
		return text;
	}
	free(text);
	return NULL;
}

/* The text at *at, whose NUL is before the end; NULL: there is none. */
static const char *take(const char **at, const char *end)
{
	const char *text = *at, *nul;

	if (text >= end)
		return NULL;
	nul = memchr(text, '\0', (size_t)(end - text));
	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

/* False: the answer is not whole. */
static bool unpack(struct doctor_report *r, const char *text, size_t len, int *ret_result)
{
	const char *at = text, *end = text + len, *old = r->group;

	while (at < end) {
		const char *group, *check, *words, *advice;
		char kind = *at++;

		if (kind == '=') {
			words = take(&at, end);
			*ret_result = words ? (int)strtol(words, NULL, 10) : 0;
			return words != NULL;
		}
		group = take(&at, end);
		check = take(&at, end);
		words = take(&at, end);
		advice = take(&at, end);
		if (!group || !check || !words || !advice || kind < '0' || kind > '0' + DOCTOR_FAIL)
			return false;
		r->group = group;
		doctor_add(r, (enum doctor_state)(kind - '0'), check, advice, "%s", words);
		r->group = old;
	}
	return false;
}

int doctor_apart(struct doctor_report *r, const char *what,
    int (*look)(struct doctor_report *r, void *context), void *context)
{
	struct apart apart = {.group = r->group, .look = look, .context = context};
	const struct helper_plan plan = {
	    .run = serve, .context = &apart, .flags = FOREIGN_HELPER, .channel = HELPER_PIPE};
	int fd, result = -ETIMEDOUT;
	char *text = NULL;
	size_t len = 0;
	pid_t child;

	if (foreign_may_start() && helper_start(&plan, &child, &fd) == 0) {
		text = get_answer(fd, clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS, &len);
		(void)close(fd);
		(void)foreign_end(child);
	}
	if (text && unpack(r, text, len, &result)) {
		free(text);
		return result;
	}
	free(text);
	r->is_silent = true;
	doctor_add(r, DOCTOR_WARN, "answer",
	    "find out which file system hangs (dmesg, mount), and try again",
	    "%s: the rest was not looked at, because a file system or a "
	    "process did not answer in time",
	    what);
	return -ETIMEDOUT;
}
