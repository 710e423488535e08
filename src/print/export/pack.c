/* pack.c - writes segments, snapshots and recordings as one file with names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/pack.h"

#include "session/load/history.h"
#include "session/load/load_parts.h"
#include "segments/find/proc.h"
#include "session/process/family.h"
#include "segments/read/segfile.h"
#include "recording/file/chapter.h"
#include "names/find/names.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"

enum { LEVEL = 3 }; /* of compression */

struct pack {
	const struct pack_plan *plan;
	struct recording_writer *writer;
	struct embed *embed;
	struct splice splice;
	size_t segments; /* in the result */
	bool has_names;  /* the recording that is copied now has its own */
};

static int begin(const struct pack_plan *plan, struct pack *ret, struct fault *where)
{
	int err;

	*ret = (struct pack){.plan = plan};
	err = recording_create(plan->path, plan->existing, &ret->writer);
	if (err < 0)
		return fault_set(where, err, "%s: %s", plan->path, strerror(-err));
	ret->splice = (struct splice){.writer = ret->writer, .pid = plan->pid};
	err = embed_new(plan->naming, &ret->embed);
	if (err < 0)
		return fault_set(where, err, "%s", strerror(-err));
	return 0;
}

/* Publishes the result if everything went well. */
static int end(struct pack *p, int err, struct fault *where)
{
	if (err == 0 && p->segments == 0)
		err = fault_set(where, -ENODATA, "there is no process in it");
	if (err == 0) {
		(void)embed_write(p->embed, p->writer);
		err = recording_finish(p->writer);
		p->writer = NULL;
		if (err < 0)
			fault_set(where, err, "%s: %s", p->plan->path, strerror(-err));
	}
	recording_discard(p->writer);
	embed_free(p->embed);
	return err;
}

/* ---- segments ---- */

/*
 * Notes the frames of a compact segment, whose process may be running. Sets the
 * view.
 */
static int add_names(struct pack *p, const void *bytes, size_t len, struct recording_segment *head,
    pid_t pid, struct fault *where)
{
	struct session *s;
	int err = session_load_bytes(bytes, len, &s, where);

	if (err < 0)
		return err;
	for (size_t i = 0; i < s->count && err == 0; i++) {
		s->processes[i]->running_pid = pid;
		s->processes[i]->owner = head->owner;
		err = relative_look(s->processes[i]);
		embed_add(p->embed, s->processes[i]);
		head->view = embed_view(p->embed, s->processes[i]);
	}
	session_free(s);
	return err;
}

static int add_bytes(struct pack *p, const void *bytes, size_t len,
    const struct recording_segment *from, pid_t pid, struct fault *where)
{
	struct recording_segment head = *from;
	int err = 0;

	if (!p->has_names)
		err = add_names(p, bytes, len, &head, pid, where);

	if (err < 0)
		return err;
	p->segments++;
	err = recording_append_packed(
	    p->writer, RECORDING_SEGMENT, &head, sizeof(head), bytes, len, LEVEL);
	return err < 0 ? fault_set(where, err, "%s: %s", p->plan->path, strerror(-err)) : 0;
}

static bool is_wanted(const struct pack *p, const struct seg_header *h)
{
	return p->plan->pid == 0 || p->plan->pid == h->pid;
}

static int add_slot(struct pack *p, const struct segfile *f, int slot, struct fault *where)
{
	struct recording_segment head = {
	    .exit_status = -1, .owner = source_owner(segfile_source(f))};
	struct seg_header h;
	void *bytes = NULL;
	size_t len = 0;
	pid_t pid = 0;
	int err;

	err = segfile_header(f, slot, &h, where);
	if (err == 0 && !is_wanted(p, &h))
		return 0;
	if (err == 0)
		err = segfile_compact(f, slot, &bytes, &len, where);
	if (err < 0)
		return err;
	if (h.snapshot_reason != SEG_SNAPSHOT_NONE)
		head.end_kind = RECORDING_END_RUNNING; /* at that moment */
	else
		head.end_kind = (uint32_t)session_end(&h, segfile_source(f), &pid);
	err = add_bytes(p, bytes, len, &head, pid, where);
	free(bytes);
	return err;
}

static int add_segfile(struct pack *p, const struct segfile *f, struct fault *where)
{
	int err = add_slot(p, f, SEGFILE_OWN, where);

	for (int i = 0; i < segfile_slots(f) && err == 0; i++) {
		err = add_slot(p, f, i, where);
		if (err == -ENODATA)
			err = 0; /* nobody has taken it */
	}
	return err;
}

/* ---- recordings ---- */

/* The time line begins with the first recording, so this says when that was. */
static int copy_about(struct pack *p, const char *text, size_t len)
{
	static const char key[] = "start_ns=";
	char *edited = NULL;
	size_t size = 0;
	FILE *f;
	int err;

	if (load_text_number(text, len, "start_ns") == p->splice.start_ns)
		return recording_append_packed(
		    p->writer, RECORDING_META, NULL, 0, text, len, LEVEL);
	f = open_memstream(&edited, &size);
	if (!f)
		return -ENOMEM;
	(void)fprintf(f, "%s%" PRIu64 "\n", key, p->splice.start_ns);
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) + 1 : len;

		if (line < sizeof(key) || memcmp(text, key, strlen(key)) != 0)
			(void)fwrite(text, 1, line, f);
		text += line;
		len -= line;
	}
	err = fclose(f) != 0
	    ? -ENOMEM
	    : recording_append_packed(p->writer, RECORDING_META, NULL, 0, edited, size, LEVEL);
	free(edited);
	return err;
}

/* Adds the time line of a recording. */
static int copy_timeline(struct pack *p, struct recording *b, struct fault *where)
{
	uint64_t start_ns = 0;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	while (start_ns == 0 && recording_next(b, &type, &bytes, &len) == 1)
		if (type == RECORDING_META)
			start_ns = load_text_number(bytes, len, "start_ns");
	err = splice_add(&p->splice, b, start_ns);
	return err < 0 ? fault_set(where, err, "%s: %s", p->plan->path, strerror(-err)) : 0;
}

/*
 * Copies an entry, but leaves out the segments of other processes, and the time
 * line, which copy_timeline() has copied.
 */
static int copy_entry(
    struct pack *p, uint32_t type, const void *bytes, size_t len, struct fault *where)
{
	const struct recording_segment *head = bytes;

	if (type == RECORDING_SEGMENT && len > sizeof(*head)) {
		const char *segment = (const char *)bytes + sizeof(*head);
		struct seg_header h;

		if (len - sizeof(*head) < sizeof(h))
			return fault_set(where, -EBADMSG, "a segment is cut");
		memcpy(&h, segment, sizeof(h));
		return is_wanted(p, &h) ? add_bytes(p, segment, len - sizeof(*head), head, 0, where)
		                        : 0;
	}
	if (type == RECORDING_LINE)
		return 0;
	if (type == RECORDING_META)
		return copy_about(p, bytes, len);
	return recording_append_packed(
	    p->writer, (enum recording_type)type, NULL, 0, bytes, len, LEVEL);
}

/* Names from the machine where it was made: they are better than ours. */
static bool has_names(struct recording *b)
{
	const void *bytes;
	bool found = false;
	uint32_t type;
	size_t len;

	while (!found && recording_next(b, &type, &bytes, &len) == 1)
		found = type == RECORDING_NAMES;
	recording_rewind(b);
	return found;
}

static int add_recording(struct pack *p, const char *path, bool is_given, struct fault *where)
{
	struct recording *b;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	err = is_given ? recording_open(path, &b) : recording_open_entry(path, &b);
	if (err < 0)
		return fault_set(where, err, "%s: %s", path, strerror(-err));
	p->has_names = has_names(b);
	err = copy_timeline(p, b, where);
	while (err == 0 && (err = recording_next(b, &type, &bytes, &len)) == 1)
		err = copy_entry(p, type, bytes, len, where);
	p->has_names = false;
	if (err == 0 && recording_truncated(b))
		err = fault_set(where, -EBADMSG, "%s: it is %s", path,
		    recording_is_growing(b) ? "being written, and has no names yet; of a process "
		                              "that runs: seep snapshot --names PID"
		                            : "cut off");
	recording_close(b);
	return err;
}

/* ---- chapters ---- */

/* Whose end states and verdicts are in the result. */
struct seen {
	struct uuid {
		uint8_t bytes[16];
	} * uuids;
	size_t count, room;
	struct dict index;
};

static bool same_uuid(const void *items, uint32_t item, const void *key)
{
	const struct uuid *all = items;

	return memcmp(&all[item], key, sizeof(*all)) == 0;
}

/* 1: it is the first with this uuid; 0: not; or -ENOMEM. */
static int is_first(struct seen *s, const uint8_t *uuid)
{
	uint32_t at = 0;
	int err;

	err = room_make(&s->uuids, &s->room, s->count, sizeof(*s->uuids));
	if (err == 0)
		err = dict_find(&s->index, dict_hash_bytes(uuid, 16), same_uuid, s->uuids, uuid,
		    (uint32_t)s->count, &at);
	if (err < 0 || at < s->count)
		return err;
	memcpy(&s->uuids[s->count++], uuid, sizeof(*s->uuids));
	return 1;
}

/* From the newest to the oldest: what a newer one has is not taken again. */
struct newest {
	struct seen segments, verdicts, births, inventories;
	bool has_about;
};

static int wants_entry(struct newest *n, uint32_t type, const uint8_t *bytes, size_t len)
{
	const size_t at = sizeof(struct recording_segment) + offsetof(struct seg_header, uuid);

	switch (type) {
	case RECORDING_SEGMENT:
		return len < at + 16 ? 0 : is_first(&n->segments, bytes + at);
	case RECORDING_VERDICTS:
		return len < 16 ? 0 : is_first(&n->verdicts, bytes);
	case RECORDING_AGING:
		return len < 16 ? 0 : is_first(&n->births, bytes);
	case RECORDING_INVENTORY:
		return len < 16 ? 0 : is_first(&n->inventories, bytes);
	case RECORDING_META:
		return !n->has_about;
	case RECORDING_UNTRACED:
	case RECORDING_NAMES:
	case RECORDING_RESIDENCE:
		return 1;
	default:
		return 0; /* a time line: copied from the oldest on */
	}
}

/* One that is cut off or damaged is taken as far as it goes. */
static int add_chapter(struct pack *p, struct newest *n, const char *path, struct fault *where)
{
	struct recording *b;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	if (recording_open_entry(path, &b) < 0)
		return 0; /* session_load() has said so */
	p->has_names = has_names(b);
	while ((err = recording_next(b, &type, &bytes, &len)) == 1) {
		err = wants_entry(n, type, bytes, len);
		if (err > 0)
			err = copy_entry(p, type, bytes, len, where);
		if (err < 0)
			break;
	}
	n->has_about = true;
	p->has_names = false;
	recording_close(b);
	return err == -EBADMSG ? 0 : err;
}

/* Somebody else's file in the folder is not read, as chapters.c does. */
static bool is_of_other(const char *folder, const char *file)
{
	struct stat all, one;

	return stat(folder, &all) < 0 || lstat(file, &one) < 0 ||
	    (one.st_uid != all.st_uid && one.st_uid != 0);
}

/* All time lines, from the oldest chapter on. */
static int add_timelines(struct pack *p, char *const *files, size_t count, struct fault *where)
{
	int err = 0;

	for (size_t i = 0; i < count && err == 0; i++) {
		struct recording *b;

		if (recording_open_entry(files[i], &b) < 0)
			continue;
		err = copy_timeline(p, b, where);
		recording_close(b);
	}
	return err;
}

/*
 * Of a folder of chapters: their time lines, and the newest end state of each
 * process.
 */
static int add_chapters(struct pack *p, const char *path, struct fault *where)
{
	struct chapter_entry *all = NULL;
	struct newest n = {.has_about = false};
	size_t count = 0, kept = 0;
	char **files = NULL;
	int err = chapter_list(path, &all, &count);

	if (err == 0)
		files = calloc(count + 1, sizeof(char *));
	if (err == 0 && !files)
		err = -ENOMEM;
	for (size_t i = 0; i < count && err == 0; i++) {
		if (asprintf(&files[kept], "%s/%s", path, all[i].text) < 0)
			err = -ENOMEM;
		else if (is_of_other(path, files[kept]))
			free(files[kept]); /* session_load() has said so */
		else
			kept++;
	}
	if (err == 0)
		err = add_timelines(p, files, kept, where);
	for (size_t i = kept; i-- > 0 && err == 0;)
		err = add_chapter(p, &n, files[i], where);
	while (kept > 0)
		free(files[--kept]);
	free(files);
	dict_release(&n.segments.index);
	dict_release(&n.verdicts.index);
	dict_release(&n.births.index);
	dict_release(&n.inventories.index);
	free(n.segments.uuids);
	free(n.verdicts.uuids);
	free(n.births.uuids);
	free(n.inventories.uuids);
	free(all);
	return err;
}

/* ---- files and directories ---- */

static int add_path(struct pack *p, const char *path, bool is_given, struct fault *where)
{
	struct segfile *f;
	int err = is_given ? segfile_open(AT_FDCWD, path, &f, where)
	                   : segfile_open_entry(path, &f, where);

	if (err == -EINVAL)
		return add_recording(p, path, is_given, where);
	if (err < 0)
		return err;
	err = add_segfile(p, f, where);
	segfile_close(f);
	return err;
}

static int add_directory(struct pack *p, const char *path, struct fault *where)
{
	struct dirent **names;
	int n, err = 0;

	n = scandir(path, &names, NULL, alphasort);
	if (n < 0)
		return fault_set(where, -errno, "%s: %s", path, strerror(errno));
	err = add_chapters(p, path, where);
	for (int i = 0; i < n; i++) {
		char *file;

		if (err < 0 || names[i]->d_name[0] == '.' || chapters_has(names[i]->d_name) ||
		    segfile_is_beside(names[i]->d_name))
			continue;
		if (asprintf(&file, "%s/%s", path, names[i]->d_name) < 0) {
			err = -ENOMEM;
			continue;
		}
		err = add_path(p, file, false, where);
		/*
		 * not a file of seep, gone, or not there yet: as session_load()
		 */
		if (err == -ELOOP || err == -EINVAL || err == -ENOENT || err == -ENODATA ||
		    err == -EISDIR)
			err = 0;
		free(file);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return err;
}

int pack_file(const struct pack_plan *plan, const char *input, struct fault *where)
{
	char *folder = NULL;
	struct stat st;
	struct pack p;
	int err;

	if (stat(input, &st) < 0)
		return fault_set(where, -errno, "%s: %s", input, strerror(errno));
	err = begin(plan, &p, where);
	if (err == 0 && S_ISDIR(st.st_mode))
		err = history_find(input, &folder, where);
	if (err == 0 && folder)
		err = add_directory(&p, folder, where);
	else if (err == 0)
		err = add_path(&p, input, true, where);
	free(folder);
	return end(&p, err, where);
}

int pack_pid(const struct pack_plan *plan, pid_t pid, struct fault *where)
{
	struct segfile *f;
	char path[4096];
	struct pack p;
	int slot, err;

	err = proc_open(pid, &f, &slot, path, where);
	if (err < 0)
		return err;
	err = begin(plan, &p, where);
	if (err == 0)
		err = add_slot(&p, f, slot, where);
	segfile_close(f);
	return end(&p, err, where);
}

int pack_bytes(
    const struct pack_plan *plan, const void *bytes, size_t len, pid_t pid, struct fault *where)
{
	const struct recording_segment head = {
	    .end_kind = RECORDING_END_RUNNING, .exit_status = -1};
	struct pack p;
	int err = begin(plan, &p, where);

	if (err == 0)
		err = add_bytes(&p, bytes, len, &head, pid, where);
	return end(&p, err, where);
}
