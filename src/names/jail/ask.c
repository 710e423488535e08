/* ask.c - the jail's side: asks its parent for files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/ask.h"

#include <sys/socket.h>

#include "kit/os/descriptor.h"
#include "names/find/wire.h"
#include "kit/os/outfile.h"

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
