/* history_scan.c - the processes of all services of a history. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/history.h"

#include "segments/read/segfile.h"
#include "recording/file/recording.h"
#include "kit/os/clock.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"

enum { PID_SECONDS = 10 }; /* to look for one */

/* Who was seen in a newer chapter of the same service. */
struct seen {
	struct key {
		uint8_t uuid[16];
		uint64_t owner;
	} * list;
	size_t count, room;
	struct dict index;
};

struct scan {
	struct history_scan *query;
	history_each *each;
	void *context;
	struct history_item item;
	struct seen seen;
};

static bool same_key(const void *items, uint32_t item, const void *key)
{
	const struct key *all = items;

	return memcmp(&all[item], key, sizeof(*all)) == 0;
}

/* 1: for the first time; 0: not; -ENOMEM. */
static int is_first(struct seen *s, const struct key *key)
{
	uint32_t at = 0;
	int err;

	err = room_make(&s->list, &s->room, s->count, sizeof(*s->list));
	if (err == 0)
		err = dict_find(&s->index, dict_hash_bytes(key, sizeof(*key)), same_key, s->list,
		    key, (uint32_t)s->count, &at);
	if (err < 0 || at < s->count)
		return err;
	s->list[s->count++] = *key;
	return 1;
}

/* The process of an entry, without what only reports need. */
static int show(struct scan *q, const struct recording_segment *head, const struct segfile *f)
{
	struct segment *seg;
	struct process *p;
	int err;

	err = segfile_read(f, SEGFILE_OWN, &seg, NULL);
	if (err < 0)
		return err;
	err = process_new(seg, &p);
	segment_copy_free(seg);
	if (err < 0)
		return err;
	process_set_recorded(p, head);
	q->item.process = p;
	err = q->each(q->context, &q->item);
	process_free(p);
	return err < 0 ? err : 0;
}

static int look_at_entry(struct scan *q, const uint8_t *bytes, size_t len)
{
	struct recording_segment head;
	struct seg_header h;
	struct segfile *f;
	struct key key;
	int err;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	err = segfile_open_bytes(bytes + sizeof(head), len - sizeof(head), &f, NULL);
	if (err < 0)
		return err;
	err = segfile_header(f, SEGFILE_OWN, &h, NULL);
	if (err == 0 && q->query->pid && h.pid != q->query->pid) {
		segfile_close(f);
		return 0;
	}
	key = (struct key){.owner = head.owner};
	memcpy(key.uuid, h.uuid, sizeof(key.uuid));
	if (err == 0)
		err = is_first(&q->seen, &key);
	if (err > 0)
		err = show(q, &head, f);
	segfile_close(f);
	return err;
}

static int scan_chapter(struct scan *q, const char *path)
{
	struct recording *b;
	const void *bytes;
	struct stat st;
	uint32_t type;
	size_t len;
	bool damaged = false;
	int err;

	if (stat(path, &st) < 0)
		return 0; /* it was removed in between */
	q->item.stored_bytes = (uint64_t)st.st_blocks * 512;
	err = recording_open_entry(path, &b);
	if (err < 0) {
		q->query->damaged += err != -ENOENT;
		return err == -ENOMEM ? err : 0;
	}
	recording_only(b, RECORDING_SEGMENT);
	while ((err = recording_next(b, &type, &bytes, &len)) == 1) {
		err = look_at_entry(q, bytes, len);
		if (err == -EBADMSG || err == -EINVAL || err == -ENODATA || err == -ENOTSUP ||
		    err == -EFBIG) {
			damaged = true;
			err = 0;
		}
		if (err < 0)
			break;
	}
	q->query->damaged += damaged || err == -EBADMSG;
	recording_close(b);
	return err == -EBADMSG || err == -EIO ? 0 : err;
}

static int scan_service(struct scan *q, const char *folder)
{
	struct listing_names names = {0};
	struct chapters_order order = {0};
	int dir, err;

	dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = dir < 0 ? -errno : listing_read(dir, chapters_has, &names);
	if (dir >= 0)
		(void)close(dir);
	if (err == 0)
		err = chapters_sort(&names, &order);
	for (size_t i = order.count; i-- > 0 && err == 0;) {
		char *path;

		if (clock_ns(CLOCK_MONOTONIC) > q->query->until_ns) {
			q->query->unread++;
			continue;
		}
		q->item.chapter = order.list[i];
		if (asprintf(&path, "%s/%s", folder, order.list[i]) < 0) {
			err = -ENOMEM;
			break;
		}
		err = scan_chapter(q, path);
		free(path);
	}
	free(order.list);
	listing_release(&names);
	dict_release(&q->seen.index);
	free(q->seen.list);
	q->seen = (struct seen){0};
	return err == -ENOENT || err == -EACCES ? 0 : err;
}

/* A service, or a folder of record --rotate. */
static bool has_chapters(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};
	bool found;

	if (dir < 0)
		return false;
	found = listing_read(dir, chapters_has, &names) == 0 && names.count > 0;
	listing_release(&names);
	(void)close(dir);
	return found;
}

int history_scan(const char *path, struct history_scan *q, history_each *each, void *context,
    struct fault *where)
{
	struct scan s = {.query = q, .each = each, .context = context};
	struct listing_names services;
	int err;

	q->unread = q->damaged = 0;
	err = history_services(path, &services, where);
	if (err == -EINVAL && has_chapters(path)) {
		s.item.service = "";
		s.item.folder = path;
		return scan_service(&s, path);
	}
	if (err < 0)
		return err;
	for (size_t i = 0; i < services.count && err == 0; i++) {
		char *folder;

		if (asprintf(&folder, "%s/%s", path, services.names[i]) < 0) {
			err = -ENOMEM;
			break;
		}
		s.item.service = services.names[i];
		s.item.folder = folder;
		err = scan_service(&s, folder);
		free(folder);
	}
	listing_release(&services);
	if (err < 0)
		(void)fault_set(where, err, "%s", strerror(-err));
	return err;
}

/* ---- one process ---- */

struct wanted {
	char *folder;
	uint64_t start_ns, allocations;
	uint8_t uuid[16];
};

/*
 * The last one that had the pid. Two services may have it, if its service was
 * not known at its end: then the one that has seen more of it.
 */
static int note(void *context, const struct history_item *item)
{
	const struct seg_header *h = &item->process->header;
	struct wanted *w = context;
	uint64_t allocations = item->process->totals.allocations;
	char *folder;

	if (w->folder &&
	    (h->start_realtime_ns < w->start_ns ||
	        (h->start_realtime_ns == w->start_ns && allocations <= w->allocations)))
		return 0;
	folder = strdup(item->folder);
	if (!folder)
		return -ENOMEM;
	free(w->folder);
	w->folder = folder;
	w->start_ns = h->start_realtime_ns;
	w->allocations = allocations;
	memcpy(w->uuid, h->uuid, sizeof(w->uuid));
	return 0;
}

static void keep_one(struct session *s, const uint8_t uuid[16])
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];

		if (kept == 0 && memcmp(p->header.uuid, uuid, 16) == 0)
			s->processes[kept++] = p;
		else
			process_free(p);
	}
	s->count = kept;
}

int history_scan_pid(
    const char *path, pid_t pid, struct session **ret, char **ret_folder, struct fault *where)
{
	struct history_scan q = {
	    .until_ns = clock_ns(CLOCK_MONOTONIC) + PID_SECONDS * UINT64_C(1000000000),
	    .pid = (uint32_t)pid};
	struct wanted w = {.folder = NULL};
	struct session *s = NULL;
	int err;

	err = history_scan(path, &q, note, &w, where);
	if (err == 0 && !w.folder)
		err = fault_set(where, -ESRCH, "no such process");
	if (err == 0)
		err = session_load(w.folder, &s, where);
	if (err < 0) {
		free(w.folder);
		return err;
	}
	if (s)
		keep_one(s, w.uuid);
	if (!s || s->count == 0) { /* its chapter was removed just now */
		session_free(s);
		free(w.folder);
		return fault_set(where, -ESRCH, "no such process");
	}
	*ret = s;
	*ret_folder = w.folder;
	return 0;
}
