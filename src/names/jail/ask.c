/* ask.c - the jail's side: asks its parent for files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/ask.h"

#include <sys/socket.h>

#include "kit/os/descriptor.h"
#include "kit/os/outfile.h"
#include "names/find/wire.h"
#include "names/jail/worker.h"

/* Writes an item as wire.h does, but without malloc(): see trap.c. */
static int send_question(int fd, const struct ask *q)
{
	uint8_t item[8 + sizeof(struct ask_head) + ASK_NAME_BYTES];
	struct ask_head head = {.kind = q->kind, .n = q->n, .id_bytes = (uint32_t)q->id_bytes};
	size_t name_bytes = q->name ? strlen(q->name) : 0;
	size_t size = sizeof(head) + name_bytes, at = 0;

	if (q->id_bytes > sizeof(head.id) || name_bytes >= ASK_NAME_BYTES)
		return -EINVAL;
	if (q->id_bytes > 0)
		memcpy(head.id, q->id, q->id_bytes);
	item[at++] = WIRE_ASK;
	for (size_t left = size; left > 0 || at == 1; left >>= 7)
		item[at++] = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
	memcpy(item + at, &head, sizeof(head));
	if (name_bytes > 0)
		memcpy(item + at + sizeof(head), q->name, name_bytes);
	return write_all(fd, item, at + size);
}

static int read_all(int fd, char *to, size_t len)
{
	while (len > 0) {
		ssize_t n = read(fd, to, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

int ask_file(int fd, const struct ask *question, struct ask_answer *ret)
{
	struct ask_reply reply = {0};
	int err;

	ret->fd = -1;
	ret->next = 0;
	ret->by_id = false;
	ret->path[0] = '\0';
	err = send_question(fd, question);
	if (err == 0)
		err = descriptor_receive(fd, &reply, sizeof(reply), MSG_WAITALL, &ret->fd) ? 0
		                                                                           : -EPIPE;
	if (err == 0 && reply.path_bytes >= sizeof(ret->path))
		err = -EPIPE;
	if (err == 0)
		err = read_all(fd, ret->path, reply.path_bytes);
	if (err != 0)
		return err;
	ret->path[reply.path_bytes] = '\0';
	ret->next = reply.next;
	ret->by_id = reply.by_id;
	if (reply.err == 0 && ret->fd < 0)
		return -EMFILE; /* there was no room for it */
	return reply.err;
}

bool ask_parse(const uint8_t *body, size_t len, struct ask_head *head, char *name, struct ask *ret)
{
	size_t name_bytes = len - sizeof(*head);

	if (len < sizeof(*head) || name_bytes >= ASK_NAME_BYTES)
		return false;
	memcpy(head, body, sizeof(*head));
	if (head->kind < ASK_MODULE || head->kind > ASK_LAST || head->id_bytes > sizeof(head->id) ||
	    memchr(body + sizeof(*head), '\0', name_bytes))
		return false;
	memcpy(name, body + sizeof(*head), name_bytes);
	name[name_bytes] = '\0';
	*ret = (struct ask){.kind = (enum ask_kind)head->kind,
	    .n = head->n,
	    .id = head->id,
	    .id_bytes = head->id_bytes,
	    .name = name};
	return true;
}

int ask_answer(int to, const struct ask_reply *reply, const char *path, int fd)
{
	const struct iovec parts[] = {
	    {.iov_base = (void *)(uintptr_t)reply, .iov_len = sizeof(*reply)},
	    {.iov_base = (void *)(uintptr_t)path, .iov_len = reply->path_bytes}};

	/* no wait: the child reads each answer before it asks again */
	return descriptor_send(to, parts, 2, fd, MSG_DONTWAIT) ? 0 : -EPIPE;
}

/* ---- file_answer: the parent's side of ask.h: which files the jail gets ---- */

enum {
	/* a large program has tens of thousands of .dwo files */
	QUESTIONS_MAX = 200000,
};

/* The result of trying one place. */
struct found {
	struct places_place place;
	struct opener_file file;
	int fd;
};

static int try_place(struct answer *a, struct found *f)
{
	const struct opener_question q = {.kind = OPENER_ELF,
	    .path = f->place.path,
	    .root_bytes = f->place.root_bytes,
	    .check_owner = f->place.check_owner,
	    /*
	     * 0, so that only files of root's and ours are accepted, if no
	     * module was handed out yet, or if another process named it
	     */
	    .chooser = a->has_module && !f->place.by_session ? a->module_owner : 0};

	return opener_ask(a->opener, &q, &f->file, &f->fd);
}

static void remember_module(struct answer *a, const struct found *f)
{
	a->has_module = true;
	a->module_owner = f->file.owner;
	(void)snprintf(
	    a->module_path, sizeof(a->module_path), "%s", f->place.path + f->place.root_bytes);
}

/*
 * For the module itself, every place is answered, because problems with its
 * file are reported. For all other files, the first one that can be opened is
 * the answer.
 */
static int find(struct answer *a, const struct ask *q, struct found *f, uint32_t *ret_next)
{
	struct places_search s = *a->search;
	struct ask at = *q;
	int err = -ENOENT;

	if (a->has_module && q->kind != ASK_MODULE)
		s.path = a->module_path;
	for (; places_of(&s, &at, &f->place); at.n++) {
		err = try_place(a, f);
		if (err == 0 || q->kind == ASK_MODULE) {
			*ret_next = at.n + 1;
			break;
		}
	}
	if (err == 0 && q->kind == ASK_MODULE)
		remember_module(a, f);
	return err;
}

int file_answer_ask(struct answer *a, int fd, const uint8_t *body, size_t len)
{
	struct ask_reply reply = {0};
	struct found f = {.fd = -1};
	char name[ASK_NAME_BYTES];
	struct ask_head head;
	struct ask q;
	int err;

	if (a->count++ >= QUESTIONS_MAX || !ask_parse(body, len, &head, name, &q))
		return -EBADMSG;
	if (q.kind == ASK_MAP)
		reply.err = perfmap_open(a->opener, a->who, &f.fd);
	else
		reply.err = find(a, &q, &f, &reply.next);
	reply.by_id = f.place.by_id;
	reply.path_bytes = (uint32_t)strlen(f.place.path);
	err = ask_answer(fd, &reply, f.place.path, f.fd);
	if (f.fd >= 0)
		close(f.fd);
	return err;
}
