/* watch_services.c - which service a process belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "base/hash.h"

#include "base/std.h"
#include "names/find/program.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "follow/history/store.h"
#include "follow/history/watch_parts.h"

/* In the history. */
#define KIN_FILE ".kin"

enum {
	SERVICES_MAX = 4096,
	OTHERS_MAX = 64, /* of one other user, who may choose any names */
	KIN_MAX = 32768,
	KIN_CHOSEN = 16, /* beside the kind, in the file */
	COMMANDS_MAX = 1024,
};

#define COMMAND_WORD "command "

/* ---- services ---- */

static bool same_folder(const void *items, uint32_t item, const void *key)
{
	struct service *const *all = items;

	return strcmp(all[item]->folder, key) == 0;
}

static size_t count_of(const struct watch *w, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < w->service_count; i++)
		n += w->services[i]->uid == uid;
	return n;
}

static struct service *new_service(
    struct watch *w, const struct folder_service *id, const char *folder)
{
	struct service *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->store = &w->store;
	s->room = &quota_user(&w->quota, id->uid)->room;
	s->naming = &w->plan->naming;
	s->kind = id->kind;
	s->uid = id->uid;
	s->is_chosen = id->is_chosen;
	(void)snprintf(s->text, sizeof(s->text), "%s", id->text);
	(void)snprintf(s->folder, sizeof(s->folder), "%s", folder);
	service_init(s);
	return s;
}

static struct service *find_service(struct watch *w, const struct folder_service *wanted)
{
	struct folder_service id = *wanted;
	char folder[FOLDER_NAME_BYTES];
	struct service *s;
	uint32_t at;

	folder_name(&id, geteuid(), folder);
	if (dict_seek(
	        &w->service_index, dict_hash_text(folder), same_folder, w->services, folder, &at))
		return w->services[at];
	/* names without end are no services: they share a folder */
	if (w->service_count >= SERVICES_MAX ||
	    (id.uid != geteuid() && count_of(w, id.uid) >= OTHERS_MAX)) {
		if (strcmp(id.text, "other programs") == 0)
			return w->service_count ? w->services[0] : NULL;
		id.text = "other programs";
		id.kind = FOLDER_PROGRAM;
		folder_name(&id, geteuid(), folder);
		if (dict_seek(&w->service_index, dict_hash_text(folder), same_folder, w->services,
		        folder, &at))
			return w->services[at];
	}
	if (room_make(&w->services, &w->service_room, w->service_count, sizeof(struct service *)) <
	    0)
		return NULL;
	s = new_service(w, &id, folder);
	if (!s)
		return NULL;
	w->services[w->service_count] = s;
	if (dict_find(&w->service_index, dict_hash_text(folder), same_folder, w->services, folder,
	        (uint32_t)w->service_count, &at) < 0) {
		free(s);
		return NULL;
	}
	w->service_count++;
	return s;
}

void watch_services_release(struct watch *w)
{
	for (size_t i = 0; i < w->service_count; i++) {
		service_release(w->services[i]);
		free(w->services[i]);
	}
	free(w->services);
	dict_release(&w->service_index);
	free(w->kin);
	dict_release(&w->kin_index);
	free(w->commands);
}

/* ---- kin ---- */

static bool same_kin(const void *items, uint32_t item, const void *key)
{
	const struct watch_kin *k = (const struct watch_kin *)items + item;

	return memcmp(k->uuid, key, sizeof(k->uuid)) == 0;
}

/* A uuid is what a process says of itself, so the owner must be the same. */
static struct service *find_kin(const struct watch *w, const uint8_t uuid[16], uint32_t uid)
{
	static const uint8_t none[16];
	uint32_t at;

	if (memcmp(uuid, none, sizeof(none)) == 0 ||
	    !dict_seek(&w->kin_index, dict_hash_bytes(uuid, 16), same_kin, w->kin, uuid, &at) ||
	    w->kin[at].uid != uid)
		return NULL;
	return w->kin[at].service;
}

/* Without memory for it, a child is a service of its own. */
static void add_kin(
    struct watch *w, const uint8_t uuid[16], uint32_t uid, struct service *s, bool runs)
{
	uint32_t at;

	if (w->kin_count >= KIN_MAX) {
		/* those that run come again when they are looked for */
		w->kin_count = 0;
		dict_release(&w->kin_index);
		w->kin_index = (struct dict){0};
	}
	if (room_make(&w->kin, &w->kin_room, w->kin_count, sizeof(*w->kin)) < 0 ||
	    dict_find(&w->kin_index, dict_hash_bytes(uuid, 16), same_kin, w->kin, uuid,
	        (uint32_t)w->kin_count, &at) < 0)
		return;
	if (at < w->kin_count) {
		w->kin[at].runs |= runs;
		return;
	}
	w->kin[w->kin_count] = (struct watch_kin){.uid = uid, .service = s, .runs = runs};
	memcpy(w->kin[w->kin_count].uuid, uuid, 16);
	w->kin_count++;
}

void watch_kin_ended(struct watch *w, const struct seg_header *h)
{
	static const uint8_t none[16];
	uint32_t at;

	/* those that others were forked from may have children to come */
	if (memcmp(h->parent_uuid, none, sizeof(none)) != 0 &&
	    dict_seek(&w->kin_index, dict_hash_bytes(h->uuid, 16), same_kin, w->kin, h->uuid, &at))
		w->kin[at].runs = false;
}

/*
 * Forked children belong to the service of their parent, whose sites they refer
 * to: a chapter must have both.
 */
static struct service *service_of_kin(
    const struct watch *w, const struct segfile *f, int slot, const struct seg_header *h)
{
	uint32_t uid = segfile_source(f)->uid;
	struct service *s = find_kin(w, h->uuid, uid);
	struct seg_header own;

	if (!s)
		s = find_kin(w, h->parent_uuid, uid);
	if (!s && slot != SEGFILE_OWN && segfile_header(f, SEGFILE_OWN, &own, NULL) == 0)
		s = find_kin(w, own.uuid, uid);
	return s;
}

/* ---- commands ---- */

/* The same in each run, unlike those of dict.h: it is stored. */
static uint64_t hash_text(uint64_t hash, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		hash = hash_mix(hash, (unsigned char)text[i]);
	return hash;
}

static uint64_t hash_of_command(const struct seg_header *h)
{
	uint64_t hash = hash_text(1, h->exe, strnlen(h->exe, sizeof(h->exe)));

	return hash_text(hash, h->command, sizeof(h->command));
}

static struct watch_command *find_command(const struct watch *w, uint64_t hash, uint32_t uid)
{
	for (size_t i = 0; i < w->command_count; i++)
		if (w->commands[i].hash == hash && w->commands[i].uid == uid)
			return &w->commands[i];
	return NULL;
}

static struct service *service_of_command(
    const struct watch *w, const struct seg_header *h, uint32_t uid)
{
	const struct watch_command *c = find_command(w, hash_of_command(h), uid);

	if (!c || !c->service)
		return NULL;
	/* a container that has ended will have another id next time */
	return c->service->kind == FOLDER_UNIT || c->service->living > 0 ? c->service : NULL;
}

static bool add_command(struct watch *w, uint64_t hash, uint32_t uid, struct service *s)
{
	struct watch_command *c = find_command(w, hash, uid);

	if (c) {
		if (c->service != s)
			c->service = NULL;
		return false;
	}
	if (w->command_count >= COMMANDS_MAX ||
	    room_make(&w->commands, &w->command_room, w->command_count, sizeof(*w->commands)) < 0)
		return false;
	w->commands[w->command_count++] =
	    (struct watch_command){.hash = hash, .uid = uid, .service = s};
	return true;
}

/*
 * A unit keeps its name, unlike the scope of a session. The same command of the
 * same user will be in the same unit next time, and in the same container while
 * that runs.
 */
static void learn_command(
    struct watch *w, const struct engine_process *p, uint32_t uid, struct service *s)
{
	if (s->kind != FOLDER_PROGRAM && !s->is_chosen && !text_ends_with(s->text, ".scope"))
		w->is_kin_new |= add_command(w, hash_of_command(&p->header), uid, s);
}

struct service *watch_service_of(struct watch *w, const struct engine_process *p)
{
	struct folder_service id = {.kind = FOLDER_PROGRAM};
	const struct segfile *f;
	struct service *s;
	int slot;

	f = engine_segfile(w->live, p, &slot);
	if (!f)
		return NULL;
	s = service_of_kin(w, f, slot, &p->header);
	if (!s)
		folder_service_of(p, segfile_source(f)->uid, &id);
	if (!s && p->state == LIVE_ENDED && id.kind == FOLDER_PROGRAM)
		s = service_of_command(w, &p->header, id.uid);
	if (!s)
		s = find_service(w, &id);
	if (s) {
		add_kin(w, p->header.uuid, segfile_source(f)->uid, s, p->state != LIVE_ENDED);
		learn_command(w, p, segfile_source(f)->uid, s);
	}
	w->is_kin_new |= p->state != LIVE_ENDED;
	return s;
}

struct service *watch_service_of_dead(struct watch *w, const struct gather_row *row)
{
	struct folder_service id = {.kind = FOLDER_PROGRAM, .uid = segfile_source(row->file)->uid};
	struct service *s = service_of_kin(w, row->file, row->slot, &row->header);

	if (!s)
		s = service_of_command(w, row->own, id.uid);
	if (!s) {
		id.text = program_name(row->own);
		s = find_service(w, &id);
	}
	if (s)
		add_kin(w, row->header.uuid, id.uid, s, false);
	/* the next child of the same file finds it by this one */
	if (s && row->slot != SEGFILE_OWN)
		add_kin(w, row->own->uuid, id.uid, s, false);
	return s;
}

/* ---- what outlives us ---- */

static void put_service(FILE *f, uint32_t uid, const struct service *s)
{
	(void)fprintf(f, " %u %d %u ", (unsigned)uid, (int)s->kind + KIN_CHOSEN * s->is_chosen,
	    (unsigned)s->uid);
	for (const char *p = s->text; *p; p++)
		(void)fprintf(f, "%02x", (unsigned char)*p);
	(void)fprintf(f, "\n");
}

/* Those that ran once and have ended are listed, too, until there are many. */
int watch_kin_save(const struct watch *w)
{
	int fd = openat(w->store.fd, KIN_FILE ".new",
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int err = 0;

	if (!f) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	for (size_t i = 0; i < w->kin_count; i++) {
		const struct watch_kin *k = &w->kin[i];

		if (!k->runs)
			continue;
		for (size_t n = 0; n < sizeof(k->uuid); n++)
			(void)fprintf(f, "%02x", k->uuid[n]);
		put_service(f, k->uid, k->service);
	}
	for (size_t i = 0; i < w->command_count; i++) {
		const struct watch_command *c = &w->commands[i];

		if (!c->service)
			continue; /* it will be found out again */
		(void)fprintf(f, COMMAND_WORD "%016llx", (unsigned long long)c->hash);
		put_service(f, c->uid, c->service);
	}
	if (fclose(f) != 0)
		err = -errno;
	if (err == 0 && renameat(w->store.fd, KIN_FILE ".new", w->store.fd, KIN_FILE) < 0)
		err = -errno;
	if (err < 0)
		(void)unlinkat(w->store.fd, KIN_FILE ".new", 0);
	return err;
}

/* Pairs of hexadecimal digits; returns how many bytes. */
static size_t read_hex(const char *text, uint8_t *to, size_t bytes)
{
	size_t n = 0;

	for (; n < bytes && strspn(text, "0123456789abcdef") >= 2; n++, text += 2) {
		char digits[3] = {text[0], text[1], '\0'};

		to[n] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

/* The end of a line, from put_service(). NULL: it is none of ours. */
static struct service *load_service(struct watch *w, const char *line, uint32_t *ret_uid)
{
	char text[LIVE_NAME] = "", *end;
	struct folder_service id = {.text = text};
	unsigned long kind;

	*ret_uid = (uint32_t)strtoul(line, &end, 10);
	kind = strtoul(end, &end, 10);
	id.uid = (uid_t)strtoul(end, &end, 10);
	id.is_chosen = kind >= KIN_CHOSEN;
	kind -= id.is_chosen ? KIN_CHOSEN : 0;
	if (kind > FOLDER_PROGRAM || *end != ' ')
		return NULL;
	id.kind = (enum folder_kind)kind;
	text[read_hex(end + 1, (uint8_t *)text, sizeof(text) - 1)] = '\0';
	return find_service(w, &id);
}

/* One line; what is no line of ours is left out. */
static void load_kin(struct watch *w, const char *line)
{
	size_t skip = sizeof(COMMAND_WORD) - 1;
	struct service *s;
	uint8_t uuid[16];
	uint32_t uid;
	uint64_t hash;
	char *end;

	if (strncmp(line, COMMAND_WORD, skip) == 0) {
		hash = strtoull(line + skip, &end, 16);
		s = *end == ' ' ? load_service(w, end, &uid) : NULL;
		if (s)
			(void)add_command(w, hash, uid, s);
	} else if (read_hex(line, uuid, sizeof(uuid)) == sizeof(uuid) && line[32] == ' ') {
		s = load_service(w, line + 33, &uid);
		if (s)
			add_kin(w, uuid, uid, s, false);
	}
}

int watch_kin_load(struct watch *w)
{
	int fd = openat(w->store.fd, KIN_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[LIVE_NAME * 2 + 128];

	if (!f) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (int i = 0; i < KIN_MAX && fgets(line, sizeof(line), f); i++)
		load_kin(w, line);
	(void)fclose(f);
	return 0;
}
