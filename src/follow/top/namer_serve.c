/* namer_serve.c - the forked side of a namer: reads stacks, finds names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <sys/socket.h>

#include "session/load/session.h"
#include "print/text/report_text.h"
#include "view/sites/view.h"
#include "follow/top/namer.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/os/outfile.h"

enum { NICE = 5, TEXT_MAX = 4096 };

struct server {
	const struct namer_plan *plan;
	struct names *names;
	int fd;
};

/* Texts that many sites share, each once. */
struct texts {
	char *bytes;
	size_t len, room;
	size_t *offsets; /* by number */
	size_t count, offset_room;
	struct dict index;
};

static bool is_text(const void *items, uint32_t item, const void *key)
{
	const struct texts *t = items;

	return strcmp(t->bytes + t->offsets[item], key) == 0;
}

static int append(struct texts *t, const char *text, size_t len)
{
	while (t->len + len + 1 > t->room) {
		size_t room = t->room ? t->room * 2 : 65536;
		char *bigger = realloc(t->bytes, room);

		if (!bigger)
			return -ENOMEM;
		t->bytes = bigger;
		t->room = room;
	}
	memcpy(t->bytes + t->len, text, len);
	t->bytes[t->len + len] = '\0';
	t->len += len + 1;
	return 0;
}

/* As an offset + 1 in the place of a pointer; NULL stays NULL. */
static int add_text(struct texts *t, const char *text, const char **ret)
{
	char part[TEXT_MAX];
	uint32_t number;
	size_t len;
	int err;

	*ret = NULL;
	if (!text)
		return 0;
	len = strnlen(text, sizeof(part) - 1);
	memcpy(part, text, len);
	part[len] = '\0';
	err = dict_find(
	    &t->index, dict_hash_text(part), is_text, t, part, (uint32_t)t->count, &number);
	if (err < 0)
		return err;
	if (number == t->count) {
		err = room_make(&t->offsets, &t->offset_room, t->count, sizeof(*t->offsets));
		if (err < 0)
			return err;
		t->offsets[t->count++] = t->len;
		err = append(t, part, len);
		if (err < 0)
			return err;
	}
	*ret = (const char *)(uintptr_t)(t->offsets[number] + 1);
	return 0;
}

static void release_texts(struct texts *t)
{
	dict_release(&t->index);
	free(t->offsets);
	free(t->bytes);
}

static void send_answer(const struct server *s, const struct namer_answer *head,
    const struct iovec *parts, size_t count)
{
	if (write_all(s->fd, head, sizeof(*head)) < 0)
		_exit(0);
	for (size_t i = 0; i < count; i++)
		if (write_all(s->fd, parts[i].iov_base, parts[i].iov_len) < 0)
			_exit(0);
}

/* ---- tables ---- */

/* Expressions of a filter; those that are not given are NULL in a view. */
struct compiled {
	regex_t include, exclude, module;
	bool has_include, has_exclude, has_module;
};

/* Whoever asks has compiled it before, so that there is no mistake in it. */
static const regex_t *compile(regex_t *to, bool *has, const char *text)
{
	*has = *text && regcomp(to, text, REG_EXTENDED | REG_NOSUB) == 0;
	return *has ? to : NULL;
}

static void release_compiled(struct compiled *c)
{
	if (c->has_include)
		regfree(&c->include);
	if (c->has_exclude)
		regfree(&c->exclude);
	if (c->has_module)
		regfree(&c->module);
}

/* The frame that a site is shown by. */
static int fill_site(struct namer_site *to, const struct view *v, const struct view_site *from,
    bool wrappers, struct texts *texts)
{
	uint32_t at = wrappers ? 0 : from->own;
	const struct frame *x;
	int err;

	to->is_chosen = true;
	to->api = from->api;
	if (from->frame_count == 0)
		return 0;
	x = &v->frames[from->frames[at < from->frame_count ? at : 0]];
	to->line = x->line;
	to->offset = x->offset;
	to->is_main = x->is_main;
	to->is_missing = x->is_missing;
	err = add_text(texts, x->function, &to->function);
	if (err == 0)
		err = add_text(texts, x->file, &to->file);
	if (err == 0)
		err = add_text(texts, x->module, &to->module);
	return err;
}

/* Sites by number in the process: those of the heap, with the most bytes. */
static size_t select_sites(const struct process *p, uint32_t *numbers)
{
	size_t count = 0;
	uint64_t least = 0;

	/* halves the rest until it fits: rare, and exact enough */
	for (;;) {
		count = 0;
		for (uint32_t i = 0; i < p->site_count; i++)
			if (seg_is_heap(p->sites[i].kind) &&
			    p->sites[i].figures.live_bytes >= least)
				numbers[count++] = i;
		if (count <= NAMER_SITES)
			return count;
		least = least ? least * 2 : 1;
	}
}

/* Fills in what the view has chosen; `at` finds a site by its number. */
static int fill_table(struct namer_site *sites, const uint32_t *at, const struct view *v,
    bool wrappers, struct texts *texts)
{
	int err = 0;

	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		uint32_t number = v->sites[i].site;

		if (at[number] > 0)
			err = fill_site(&sites[at[number] - 1], v, &v->sites[i], wrappers, texts);
	}
	return err;
}

struct table {
	struct namer_site *sites;
	size_t count;
	struct process_id *ids;
	size_t id_count;
	uint32_t *at; /* by number of a site in the process: position + 1 */
};

static int begin_table(struct table *t, const struct process *p)
{
	uint32_t *numbers = calloc(p->site_count + 1, sizeof(*numbers));

	t->at = calloc(p->site_count + 1, sizeof(*t->at));
	t->ids = calloc(p->id_count + 1, sizeof(*t->ids));
	if (!numbers || !t->at || !t->ids) {
		free(numbers);
		return -ENOMEM;
	}
	t->count = select_sites(p, numbers);
	t->sites = calloc(t->count + 1, sizeof(*t->sites));
	for (uint32_t i = 0; i < t->count && t->sites; i++) {
		t->sites[i].id = p->sites[numbers[i]].id;
		t->at[numbers[i]] = i + 1;
	}
	free(numbers);
	if (!t->sites)
		return -ENOMEM;
	for (size_t i = 0; i < p->id_count; i++)
		if (t->at[p->ids[i].site] > 0)
			t->ids[t->id_count++] = (struct process_id){
			    .id = p->ids[i].id, .site = t->at[p->ids[i].site] - 1};
	return 0;
}

static void release_table(struct table *t)
{
	free(t->sites);
	free(t->ids);
	free(t->at);
}

static int answer_table(
    const struct server *s, const struct namer_request *r, const struct session *session)
{
	const struct process *p = session->processes[0];
	struct compiled c;
	const struct view_options o = {.metric = VIEW_ALL,
	    .include = compile(&c.include, &c.has_include, r->filter.include),
	    .exclude = compile(&c.exclude, &c.has_exclude, r->filter.exclude),
	    .module = compile(&c.module, &c.has_module, r->filter.module),
	    .skip_wrappers = !r->filter.wrappers};
	struct namer_answer head = {.magic = NAMER_MAGIC, .kind = NAMER_TABLE};
	struct texts texts = {0};
	struct table t = {0};
	struct view *v = NULL;
	int err;

	err = names_gather(s->names, p);
	if (err == 0) {
		names_resolve(s->names);
		err = view_new(session, s->names, &o, &v);
	}
	if (err == 0)
		err = begin_table(&t, p);
	if (err == 0)
		err = fill_table(t.sites, t.at, v, r->filter.wrappers, &texts);
	if (err == 0) {
		const struct iovec parts[] = {
		    {t.sites, t.count * sizeof(*t.sites)},
		    {t.ids, t.id_count * sizeof(*t.ids)},
		    {texts.bytes, texts.len},
		};

		head.count = t.count;
		head.id_count = t.id_count;
		for (size_t i = 0; i < 3; i++)
			head.bytes += parts[i].iov_len;
		send_answer(s, &head, parts, 3);
	}
	view_free(v);
	release_table(&t);
	release_texts(&texts);
	release_compiled(&c);
	return err;
}

/* ---- pages ---- */

static int answer_page(
    const struct server *s, const struct namer_request *r, const struct session *session)
{
	const struct view_options o = {.metric = VIEW_ALL};
	struct namer_answer head = {.magic = NAMER_MAGIC, .kind = NAMER_PAGE};
	char *text = NULL;
	size_t len = 0;
	struct layout page = {
	    .width = r->page.columns, .colour = r->page.colour, .utf8 = r->page.utf8};
	int err;

	page.out = open_memstream(&text, &len);
	if (!page.out)
		return -ENOMEM;
	err = names_gather(s->names, session->processes[0]);
	if (err == 0)
		names_resolve(s->names);
	if (err == 0)
		err = site_write_stack_first(&page, session, s->names, &o, r->page.id);
	if (err == -ENOENT) {
		(void)fputs("This site has no counters yet.\n", page.out);
		err = 0;
	}
	if (fclose(page.out) != 0)
		err = -ENOMEM;
	if (err == 0) {
		const struct iovec part = {text, len};

		head.bytes = len;
		send_answer(s, &head, &part, 1);
	}
	free(text);
	return err;
}

/* An answer without content: the question was heard. */
static void answer_nothing(
    const struct server *s, const struct namer_request *r, const struct fault *where)
{
	struct namer_answer head = {.magic = NAMER_MAGIC, .kind = r->kind};
	char text[sizeof(where->text) + 64];
	struct iovec part = {text, 0};

	if (r->kind == NAMER_PAGE)
		part.iov_len = (size_t)snprintf(text, sizeof(text),
		    "The segment of the process cannot be read: %s.\n",
		    where->text[0] ? where->text : "out of memory");
	head.bytes = part.iov_len;
	send_answer(s, &head, &part, 1);
}

static void answer(const struct server *s, const struct namer_request *r)
{
	struct session *session = NULL;
	struct fault where = {""};
	int err;

	err = session_load_slot(
	    s->plan->file, s->plan->slot, r->pid, r->kind == NAMER_PAGE, &session, &where);
	if (err == 0 && session->count == 0)
		err = -ENODATA;
	if (err == 0)
		err = r->kind == NAMER_PAGE ? answer_page(s, r, session)
		                            : answer_table(s, r, session);
	if (err < 0)
		answer_nothing(s, r, &where);
	session_free(session);
}

int namer_serve(int fd, void *context)
{
	const struct namer_plan *plan = context;
	struct server s = {.plan = plan, .fd = fd};
	struct namer_request r;

	/* whoever waits for a key comes first */
	errno = 0;
	(void)!nice(NICE);
	if (names_new(plan->naming, &s.names) < 0)
		return 1;
	while (recv(fd, &r, sizeof(r), MSG_WAITALL) == (ssize_t)sizeof(r) && r.magic == NAMER_MAGIC)
		answer(&s, &r);
	return 0;
}
