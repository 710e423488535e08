/* namer.c - a process of our own that reads stacks and finds their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/namer.h"

#include <sys/socket.h>

#include "kit/os/helper.h"

struct namer {
	int fd;
	pid_t pid;
	bool is_waiting; /* for the answer to a request of this kind */
	enum namer_kind asked;
	struct namer_request table, page;
	bool want_table, want_page;
	/* what has come of an answer */
	struct namer_answer head;
	size_t got; /* of the head, then of the body */
	char *body; /* NULL: the head is not complete */
};

/* ---- starting and ending it ---- */

int namer_new(const struct namer_plan *plan, struct namer **ret)
{
	struct namer *n = calloc(1, sizeof(*n));
	/* handlers of the screen must not run in it */
	const struct helper_plan how = {.run = namer_serve,
	    .context = (void *)(uintptr_t)plan,
	    .flags = HELPER_DIES | HELPER_SIGNALS | HELPER_DARK,
	    .channel = HELPER_STREAM};
	int err;

	if (!n)
		return -ENOMEM;
	err = helper_start(&how, &n->pid, &n->fd);
	if (err < 0) {
		free(n);
		return err;
	}
	*ret = n;
	return 0;
}

static void end_process(struct namer *n)
{
	int status;

	if (n->fd >= 0)
		(void)close(n->fd);
	n->fd = -1;
	if (n->pid > 0)
		(void)helper_end(n->pid, 0, &status);
	n->pid = 0;
	n->is_waiting = n->want_table = n->want_page = false;
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	end_process(n);
	free(n->body);
	free(n);
}

int namer_fd(const struct namer *n)
{
	return n->fd;
}

/* ---- questions ---- */

static void send_request(struct namer *n, const struct namer_request *r, bool *want)
{
	*want = false;
	n->asked = (enum namer_kind)r->kind;
	n->is_waiting = true;
	/* it is smaller than what a socket takes, and nothing else is in it */
	if (send(n->fd, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof(*r))
		end_process(n);
}

static void send_next(struct namer *n)
{
	if (n->fd < 0 || n->is_waiting)
		return;
	if (n->want_page)
		send_request(n, &n->page, &n->want_page);
	else if (n->want_table)
		send_request(n, &n->table, &n->want_table);
}

void namer_ask_table(struct namer *n, pid_t pid, const struct namer_filter *filter)
{
	n->table = (struct namer_request){
	    .magic = NAMER_MAGIC, .kind = NAMER_TABLE, .pid = pid, .filter = *filter};
	n->want_table = true;
	send_next(n);
}

void namer_ask_page(struct namer *n, pid_t pid, const struct namer_page *page)
{
	n->page = (struct namer_request){
	    .magic = NAMER_MAGIC, .kind = NAMER_PAGE, .pid = pid, .page = *page};
	n->want_page = true;
	send_next(n);
}

bool namer_is_naming(const struct namer *n)
{
	return n->fd >= 0 && (n->want_table || (n->is_waiting && n->asked == NAMER_TABLE));
}

bool namer_is_paging(const struct namer *n)
{
	return n->fd >= 0 && (n->want_page || (n->is_waiting && n->asked == NAMER_PAGE));
}

/* ---- answers ---- */

static bool is_valid(const struct namer_answer *h)
{
	return h->magic == NAMER_MAGIC && h->bytes <= NAMER_BYTES_MAX &&
	    (h->kind == NAMER_PAGE ||
	        (h->kind == NAMER_TABLE && h->count <= NAMER_SITES &&
	            h->id_count <= NAMER_BYTES_MAX / sizeof(struct process_id) &&
	            h->count * sizeof(struct namer_site) +
	                    h->id_count * sizeof(struct process_id) <=
	                h->bytes));
}

/* What an offset + 1 stands for; the texts end with a NUL. */
static const char *text_at(const char *texts, size_t bytes, const char *offset)
{
	size_t at = (size_t)(uintptr_t)offset;

	return at == 0 || at > bytes ? NULL : texts + at - 1;
}

/* Takes the body over. */
static struct namer_table *make_table(const struct namer_answer *h, char *body)
{
	struct namer_table *t = calloc(1, sizeof(*t));
	size_t sites = h->count * sizeof(struct namer_site);
	size_t ids = h->id_count * sizeof(struct process_id);
	const char *texts = body + sites + ids;
	size_t bytes = h->bytes - sites - ids;

	if (!t) {
		free(body);
		return NULL;
	}
	*t = (struct namer_table){
	    /* calloc() has aligned it for both */
	    .sites = (struct namer_site *)(void *)body,
	    .count = h->count,
	    .ids = (struct process_id *)(void *)(body + sites),
	    .id_count = h->id_count,
	    .memory = body,
	};
	for (size_t i = 0; i < t->count; i++) {
		struct namer_site *s = &t->sites[i];

		s->function = text_at(texts, bytes, s->function);
		s->file = text_at(texts, bytes, s->file);
		s->module = text_at(texts, bytes, s->module);
	}
	for (size_t i = 0; i < t->id_count; i++)
		if (t->ids[i].site >= t->count)
			t->id_count = i; /* never: it is our own program */
	return t;
}

/* Bytes that were taken; 0: there are none now; -1: it is over. */
static ssize_t take(struct namer *n, void *to, size_t len)
{
	ssize_t got = recv(n->fd, to, len, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return got > 0 ? got : -1;
}

/* True: the answer is complete, or the process has ended. */
static bool is_complete(struct namer *n)
{
	ssize_t got;

	while (!n->body) {
		got = take(n, (char *)&n->head + n->got, sizeof(n->head) - n->got);
		if (got == 0)
			return false;
		n->got += got > 0 ? (size_t)got : 0;
		if (got < 0 || (n->got == sizeof(n->head) && !is_valid(&n->head)))
			goto over;
		if (n->got < sizeof(n->head))
			continue;
		n->got = 0;
		n->body = calloc(1, n->head.bytes + 1);
		if (!n->body)
			goto over;
	}
	while (n->got < n->head.bytes) {
		got = take(n, n->body + n->got, n->head.bytes - n->got);
		if (got == 0)
			return false;
		if (got < 0)
			goto over;
		n->got += (size_t)got;
	}
	n->body[n->got] = '\0';
	return true;
over:
	end_process(n);
	return true;
}

enum namer_kind namer_receive(struct namer *n, struct namer_table **ret_table, char **ret_text)
{
	enum namer_kind kind;
	char *body;

	if (n->fd < 0)
		return NAMER_ENDED;
	if (!is_complete(n))
		return NAMER_NOTHING;
	if (n->fd < 0)
		return NAMER_ENDED;
	body = n->body;
	kind = (enum namer_kind)n->head.kind;
	n->body = NULL;
	n->got = 0;
	n->is_waiting = false;
	if (kind == NAMER_TABLE) {
		*ret_table = make_table(&n->head, body);
		if (!*ret_table)
			kind = NAMER_NOTHING;
	} else {
		*ret_text = body;
	}
	send_next(n);
	return kind;
}

void namer_table_free(struct namer_table *t)
{
	if (!t)
		return;
	free(t->memory);
	free(t);
}
