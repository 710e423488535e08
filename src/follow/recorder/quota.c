/* quota.c - limits memory and disk space of a recording, by owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/quota.h"

#include "recording/file/meta.h"

enum { WATCH_MIB = 1024, WATCH_OTHERS_MIB = 128 };

static const char *const words[] = {
    [QUOTA_DAMAGED] = "the record is damaged, or claims far more than is in it",
    [QUOTA_LARGE] = "the record has more than 512 MiB",
    [QUOTA_FULL] = "the recording has its full size (record --max-size)",
    [QUOTA_USER] = "the records of another user have more than 256 MiB",
    [QUOTA_COUNT] = "another user has more than 20,000 records",
    [QUOTA_FILES] = "another user has more than 4,096 files with records",
    [QUOTA_UNTOLD] = "no collector in them, and too many to be listed",
};

const char *quota_words(enum quota_reason reason)
{
	return words[reason];
}

/* A quarter of what the machine has, if that is little. */
static size_t watch_bytes(size_t mib)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	size_t quarter, bytes = mib << 20;

	if (pages <= 0 || page <= 0)
		return bytes;
	quarter = (size_t)pages / 4 * (size_t)page;
	return quarter < bytes ? quarter : bytes;
}

void quota_init(struct quota *q, uint64_t max_bytes)
{
	*q = (struct quota){
	    .max_bytes = max_bytes, .own.uid = geteuid(), .own.room.bytes = watch_bytes(WATCH_MIB)};
}

void quota_release(struct quota *q)
{
	for (size_t i = 0; i < q->other_count; i++)
		free(q->others[i]);
	free(q->others);
	q->others = NULL;
	q->other_count = 0;
}

static void turn_user(struct quota_user *u)
{
	u->bytes = 0;
	u->segments = 0;
}

void quota_turn(struct quota *q)
{
	turn_user(&q->own);
	for (size_t i = 0; i < q->other_count; i++)
		turn_user(q->others[i]);
	memset(q->refused, 0, sizeof(q->refused));
	q->unwatched = 0;
	q->unlisted = 0;
	q->timeline_cut = false;
}

/* One for all users for whom there is no room. */
static struct quota_user *rest(struct quota *q)
{
	static struct quota_user nobody;

	return q->other_count ? q->others[q->other_count - 1] : &nobody;
}

struct quota_user *quota_user(struct quota *q, uid_t uid)
{
	struct quota_user **more, *one;

	if (uid == q->own.uid)
		return &q->own;
	for (size_t i = 0; i < q->other_count; i++)
		if (q->others[i]->uid == uid)
			return q->others[i];
	if (q->other_count >= QUOTA_USERS_MAX)
		return rest(q);
	more = reallocarray(q->others, q->other_count + 1, sizeof(struct quota_user *));
	if (!more)
		return rest(q);
	q->others = more;
	one = calloc(1, sizeof(*one));
	if (!one)
		return rest(q);
	one->uid = uid;
	one->room.bytes = watch_bytes(WATCH_OTHERS_MIB);
	more[q->other_count++] = one;
	return one;
}

static bool refuse(struct quota *q, enum quota_reason reason)
{
	q->refused[reason]++;
	return false;
}

bool quota_take(
    struct quota *q, struct quota_user *u, uint64_t len, const struct recording_writer *w)
{
	uint64_t size = recording_size(w);

	if (len > RECORDING_ENTRY_MAX - sizeof(struct recording_segment))
		return refuse(q, QUOTA_LARGE);
	if (size > q->max_bytes || len > q->max_bytes - size)
		return refuse(q, QUOTA_FULL);
	if (u != &q->own) {
		if (u->segments >= QUOTA_OTHERS_MAX)
			return refuse(q, QUOTA_COUNT);
		if (len > ((uint64_t)QUOTA_OTHERS_MIB << 20) - u->bytes)
			return refuse(q, QUOTA_USER);
	}
	u->segments++;
	u->bytes += len;
	return true;
}

void quota_look(struct quota *q)
{
	for (size_t i = 0; i < q->other_count; i++)
		q->others[i]->files = 0;
}

void quota_at_once(size_t *most, size_t now)
{
	if (now > *most)
		*most = now;
}

bool quota_file(struct quota *q, uid_t uid)
{
	struct quota_user *u = quota_user(q, uid);

	if (u == &q->own || ++u->files <= QUOTA_OTHERS_FILES)
		return true;
	/* the same files are seen again in the next look */
	quota_at_once(&q->refused[QUOTA_FILES], u->files - QUOTA_OTHERS_FILES);
	return false;
}

bool quota_timeline(struct quota *q, const struct recording_writer *w)
{
	/* once something is missing, differences make no sense */
	q->timeline_cut = q->timeline_cut || recording_size(w) > q->max_bytes / 2;
	return !q->timeline_cut;
}

bool quota_verdicts(struct quota *q, uint64_t len, const struct recording_writer *w)
{
	uint64_t size = recording_size(w), most = q->max_bytes / 4;

	if (size > q->max_bytes || len > q->max_bytes - size || q->verdict_bytes > most ||
	    len > most - q->verdict_bytes) {
		q->verdicts_left++;
		return false;
	}
	q->verdict_bytes += len;
	return true;
}

void quota_write(const struct quota *q, struct recording_writer *w)
{
	for (int i = 0; i < QUOTA_REASONS; i++)
		if (q->refused[i] > 0)
			(void)meta_write_refused(w, 0, "others", words[i], q->refused[i]);
}
