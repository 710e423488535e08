/* doctor_places.c - the directories for segments: kind, room, owner, files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attach/doctor/doctor_parts.h"
#include "host/proc/folder.h"
#include "kit/os/listing.h"
#include "segments/read/place_words.h"
#include "segments/find/proc.h"
#include "session/load/session.h"
#include "segments/find/segment_dir.h"
#include "format/medium.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum {
	FOLDERS_MAX = 256, /* in one base */
	COMPLAINTS = 5,
	SMALL_ROOM = 64 << 20, /* free bytes; several programs want a share */
};
#define LIST_NS UINT64_C(3000000000)

/* What ls --prune would remove, and how many children found no room. */
struct tally {
	struct proc_cache *cache;
	uint64_t until_ns;
	size_t dead, unread;
	uint64_t dead_bytes;
	size_t full; /* segments whose slots are all taken */
	size_t running;
	size_t complaints;
};

/* ---- a file system ---- */

static void check_room(
    struct doctor_report *r, const char *check, const char *path, const struct statfs *fs)
{
	uint64_t room = (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize;
	uint64_t share = room / MEDIUM_FREE_SHARE;
	char free_words[WORDS_MAX], share_words[WORDS_MAX];

	if (share > MEDIUM_ROOM_MAX)
		share = MEDIUM_ROOM_MAX;
	words_bytes(free_words, room);
	words_bytes(share_words, share);
	if (share < MEDIUM_ROOM_MIN)
		doctor_add(r, DOCTOR_FAIL, check,
		    "make room (seep ls --prune), or set SEEP_DIR to another "
		    "tmpfs",
		    "%s: %s free, and a segment gets a quarter of that: too "
		    "little, so programs are not traced",
		    path, free_words);
	else if (room < SMALL_ROOM)
		doctor_add(r, DOCTOR_WARN, check,
		    "make room (seep ls --prune), or mount it with a larger "
		    "size",
		    "%s: %s free; a segment gets %s, the next one a quarter of "
		    "the rest",
		    path, free_words, share_words);
	else
		doctor_add(r, DOCTOR_OK, check, NULL, "%s: %s free; a segment gets up to %s", path,
		    free_words, share_words);
}

/* is_asked: SEEP_DIR, which may be on a disk. */
static bool check_medium(
    struct doctor_report *r, const char *check, const char *path, bool is_asked)
{
	struct seg_header h = {.place_refused = SEG_PLACE_FILE_SYSTEM};
	char why[PLACE_WORDS_BYTES];
	struct statvfs mount;
	struct statfs fs;
	unsigned medium;

	if (statfs(path, &fs) < 0) {
		doctor_add(r, DOCTOR_FAIL, check,
		    is_asked ? "make the directory (mode 0700), or unset it"
		             : "mount a tmpfs there, or set SEEP_DIR to one",
		    "%s: %s", path, strerror(errno));
		return false;
	}
	medium = medium_of_type((uint32_t)fs.f_type);
	if (statvfs(path, &mount) == 0 && mount.f_flag & ST_RDONLY) {
		doctor_add(r, DOCTOR_FAIL, check, "set SEEP_DIR to a tmpfs that can be written",
		    "%s is mounted read-only: no segment can be made there", path);
		return false;
	}
	if (medium == SEG_MEDIUM_TMPFS) {
		check_room(r, check, path, &fs);
		return true;
	}
	if (medium == SEG_MEDIUM_DISK && is_asked) {
		doctor_add(r, DOCTOR_WARN, check,
		    "use a directory on a tmpfs, unless the data must survive "
		    "a reboot",
		    "%s is on a disk: a busy disk may stall the program", path);
		return true;
	}
	h.place_detail = (uint32_t)fs.f_type;
	(void)snprintf(h.place_asked, sizeof(h.place_asked), "%.500s", path);
	(void)place_words(&h, why, sizeof(why));
	doctor_add(r, DOCTOR_FAIL, check,
	    is_asked ? "set SEEP_DIR to a directory on a tmpfs"
	             : "mount a tmpfs there, or set SEEP_DIR to one",
	    "%s, so it is not used", why);
	return false;
}

/* ---- one directory with segments ---- */

/* A segment whose slots for forked children are all taken. */
static bool is_full(int dir, const char *name)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct segfile *f;
	int used = 0, slots = 0;

	if (segfile_open(dir, name, &f, NULL) < 0)
		return false;
	segfile_taken(f, taken);
	while (slots < segfile_slots(f) && !segfile_is_early(f, slots))
		used += taken[slots++] != 0;
	segfile_close(f);
	return slots > 0 && used == slots;
}

static void add_file(struct tally *s, int dir, const char *name)
{
	struct session_brief brief = {.until_ns = s->until_ns, .cache = s->cache};
	struct session *session = NULL;
	struct fault where = {""};
	bool is_dead = true;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    session_load_brief(dir, name, &brief, &session, &where) < 0)
		return;
	for (size_t i = 0; i < session->count; i++) {
		enum process_end end = session->processes[i]->end;

		is_dead &= end != PROCESS_RUNNING && end != PROCESS_UNKNOWN;
		s->running += end == PROCESS_RUNNING;
	}
	if (is_dead && brief.unread == 0 && session->count > 0 &&
	    !segment_dir_is_recorded(dir, session->processes[0]->header.session)) {
		s->dead++;
		s->dead_bytes += (uint64_t)st.st_blocks * 512;
	} else if (!is_dead && text_ends_with(name, ".seg")) {
		s->full += is_full(dir, name);
	}
	session_free(session);
}

/* The collector counts the entries of a tmpfs directory by its size. */
static void check_files(struct doctor_report *r, const char *path, int dir)
{
	struct statfs fs;
	struct stat st;
	uint64_t files, max;

	if (fstat(dir, &st) < 0 || fstatfs(dir, &fs) < 0 ||
	    medium_of_type((uint32_t)fs.f_type) != SEG_MEDIUM_TMPFS)
		return;
	files = (uint64_t)st.st_size / MEDIUM_DIRENT;
	max = fs.f_bavail < fs.f_blocks / 2 ? MEDIUM_FILES_MAX : MEDIUM_FILES_MORE;
	if (files > max)
		doctor_add(r, DOCTOR_FAIL, "files", "seep ls --prune",
		    "%s has %llu files, more than %llu: no segment is added, so "
		    "programs are not traced",
		    path, (unsigned long long)files, (unsigned long long)max);
	else if (files > max - max / 4)
		doctor_add(r, DOCTOR_WARN, "files", "seep ls --prune", "%s has %llu of %llu files",
		    path, (unsigned long long)files, (unsigned long long)max);
}

static void look_into(struct doctor_report *r, struct tally *s, const char *path, uid_t user)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct listing_names names = {0};
	struct stat st;

	if (dir < 0)
		return;
	if (fstat(dir, &st) == 0 && st.st_uid == user &&
	    listing_read(dir, segfile_is_name, &names) == 0) {
		check_files(r, path, dir);
		s->unread += names.refused;
		for (size_t i = 0; i < names.count; i++)
			if (clock_ns(CLOCK_MONOTONIC) > s->until_ns)
				s->unread++;
			else
				add_file(s, dir, names.names[i]);
	}
	listing_release(&names);
	(void)close(dir);
}

/* ---- all of them ---- */

static void check_folder(
    struct doctor_report *r, struct tally *s, const char *path, uid_t user, bool is_asked)
{
	char why[FOLDER_TEXT_BYTES];

	if (folder_complaint(path, user, why, sizeof(why))) {
		if (user != geteuid() && s->complaints++ >= COMPLAINTS)
			return;
		/* what others have is for them to mend */
		doctor_add(r, user == geteuid() ? DOCTOR_FAIL : DOCTOR_WARN, "owner",
		    "have its owner or root remove it (or chmod go-w it), or "
		    "set SEEP_DIR to another directory",
		    "%s: programs of uid %u %s", why, (unsigned)user,
		    is_asked ? "use the default directory instead"
		             : "find no place for their segments and are not "
		               "traced");
	}
	look_into(r, s, path, user);
}

static bool is_user_folder(const char *name)
{
	return text_begins_with(name, "seep-") && name[5] >= '0' && name[5] <= '9';
}

static bool is_shown(const char *name)
{
	return name[0] != '.';
}

/*
 * One entry of a base: seep-UID, or a directory of another name that a process
 * or a service has made for its own segments.
 */
static void check_entry(
    struct doctor_report *r, struct tally *t, const char *path, const char *name)
{
	bool is_named = is_user_folder(name);
	char *end = NULL;
	unsigned long user = is_named ? strtoul(name + 5, &end, 10) : 0;
	struct stat st;

	if (is_named && *end == '\0' && user < UINT32_MAX) {
		if (geteuid() == 0 || user == geteuid())
			check_folder(r, t, path, (uid_t)user, false);
	} else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    (geteuid() == 0 || st.st_uid == geteuid())) {
		look_into(r, t, path, st.st_uid);
	}
}

/* Root looks at the directories of all users. */
static void check_base(struct doctor_report *r, struct tally *t, const char *base)
{
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};
	char path[PATH_MAX];

	if (dir < 0)
		return;
	if (listing_read(dir, strcmp(base, FOLDER_RUN) == 0 ? is_shown : is_user_folder, &names) ==
	    0)
		for (size_t i = 0; i < names.count; i++) {
			if (i >= FOLDERS_MAX || clock_ns(CLOCK_MONOTONIC) > t->until_ns)
				t->unread++;
			else if (snprintf(path, sizeof(path), "%s/%s", base, names.names[i]) <
			    PATH_MAX)
				check_entry(r, t, path, names.names[i]);
		}
	listing_release(&names);
	(void)close(dir);
}

/* A directory in which every user's programs make their own. */
static void check_shared(struct doctor_report *r, const char *check, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return; /* check_medium() says so */
	if (st.st_uid != 0 && st.st_uid != geteuid())
		doctor_add(r, DOCTOR_FAIL, check, "chown root it",
		    "%s belongs to uid %u, who can replace what is in it", path,
		    (unsigned)st.st_uid);
	else if ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))
		doctor_add(r, DOCTOR_FAIL, check, "chmod 1777 it",
		    "%s can be written by all, and is not sticky (mode %04o)", path,
		    (unsigned)(st.st_mode & 07777));
	else if (access(path, W_OK | X_OK) < 0)
		doctor_add(r, DOCTOR_WARN, check, "chmod 1777 it",
		    "%s cannot be written by this user", path);
}

static void report_tally(struct doctor_report *r, const struct tally *s)
{
	char files[WORDS_COUNTED], bytes[WORDS_MAX], count[WORDS_COUNTED];

	doctor_add(r, DOCTOR_OK, "traced", NULL, "%s traced now",
	    words_counted(count, s->running, "process"));
	if (s->dead > 0)
		doctor_add(r, DOCTOR_WARN, "dead", "seep ls --prune",
		    "%s of processes that have ended occupy %s",
		    words_counted(files, s->dead, "file"), words_bytes(bytes, s->dead_bytes));
	else
		doctor_add(r, DOCTOR_OK, "dead", NULL, "no files of processes that have ended");
	if (s->full > 0)
		doctor_add(r, DOCTOR_WARN, "slots",
		    "seep ls --prune, or start the program with "
		    "SEEP_CHILD_FILES=1",
		    "in %s all slots for forked children are taken",
		    words_counted(files, s->full, "segment"));
	else
		doctor_add(r, DOCTOR_OK, "slots", NULL, "there are slots left for forked children");
	if (s->unread > 0)
		doctor_add(r, DOCTOR_WARN, "unread", "seep ls --prune",
		    "%s not read: there are too many", words_counted(files, s->unread, "file"));
}

/* The directory that an environment variable names. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

void doctor_places(struct doctor_report *r)
{
	const char *asked = variable("SEEP_DIR"), *base = variable("SEEP_BASE");
	struct tally s = {
	    .cache = proc_cache_new(), .until_ns = clock_ns(CLOCK_MONOTONIC) + LIST_NS};

	if (!s.cache) {
		r->is_cut = true;
		return;
	}
	proc_cache_until(s.cache, s.until_ns);
	if (asked) {
		if (check_medium(r, "seep_dir", asked, true))
			check_folder(r, &s, asked, geteuid(), true);
	}
	if (!asked && base && check_medium(r, "seep_base", base, true)) {
		check_shared(r, "seep_base", base);
		check_base(r, &s, base);
	}
	if (check_medium(r, "shm", FOLDER_SHM, false) && !asked) {
		check_shared(r, "shm", FOLDER_SHM);
		check_base(r, &s, FOLDER_SHM);
	}
	if (!asked && access(FOLDER_RUN, F_OK) == 0 && (!base || strcmp(base, FOLDER_RUN) != 0) &&
	    check_medium(r, "run", FOLDER_RUN, true)) {
		check_shared(r, "run", FOLDER_RUN);
		check_base(r, &s, FOLDER_RUN);
	}
	report_tally(r, &s);
	proc_cache_free(s.cache);
}
