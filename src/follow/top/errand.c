/* errand.c - something done by a child process, while the screen lives on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/focus.h"

#include "kit/os/helper.h"
#include "kit/words/text.h"

enum { GRACE_MS = 100 };

struct work {
	int (*work)(void *context);
	void *context;
};

static int run_child(int to, void *context)
{
	const struct work *w = context;

	(void)to;
	(void)signal(SIGPIPE, SIG_DFL);
	exit(w->work(w->context)); /* what it has printed is still in buffers */
}

int errand_start(struct errand *e, int (*work)(void *context), void *context)
{
	struct work w = {.work = work, .context = context};
	const struct helper_plan plan = {.run = run_child,
	    .context = &w,
	    .flags = HELPER_DIES | HELPER_SIGNALS | HELPER_PRINTS,
	    .channel = HELPER_PIPE};
	int err;

	if (e->child > 0)
		return -EBUSY;
	(void)fflush(NULL); /* or the child would write it once more */
	*e = (struct errand){.fd = -1};
	err = helper_start(&plan, &e->child, &e->fd);
	if (err < 0)
		*e = (struct errand){0};
	else
		(void)fcntl(e->fd, F_SETFL, O_NONBLOCK);
	return err;
}

int errand_fd(const struct errand *e)
{
	return e->child > 0 ? e->fd : -1;
}

static bool end(struct errand *e, unsigned grace_ms)
{
	int status = 0;
	bool ended = helper_end(e->child, grace_ms, &status);

	(void)close(e->fd);
	e->child = 0;
	return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool errand_receive(struct errand *e, bool *ret_ok)
{
	static const char prefix[] = "seep: ";
	char more[ERRAND_TEXT];
	ssize_t n;

	for (;;) {
		n = read(e->fd, more, sizeof(more));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0)
			break;
		if ((size_t)n > sizeof(e->text) - 1 - e->len)
			n = (ssize_t)(sizeof(e->text) - 1 - e->len);
		memcpy(e->text + e->len, more, (size_t)n);
		e->len += (size_t)n;
	}
	e->text[e->len] = '\0';
	e->text[strcspn(e->text, "\n")] = '\0';
	if (text_begins_with(e->text, prefix))
		memmove(e->text, e->text + strlen(prefix), strlen(e->text + strlen(prefix)) + 1);
	*ret_ok = end(e, GRACE_MS);
	return true;
}

void errand_stop(struct errand *e)
{
	if (e->child > 0)
		(void)end(e, 0);
}
