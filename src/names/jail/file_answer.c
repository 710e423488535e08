/* file_file_answer.c - the parent's side of ask.h: which files the jail gets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/worker.h"

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
