/* doctor_places.c - the directories for segments: kind, room, owner, files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "attach/doctor/doctor_parts.h"

#include "base/std.h"
#include "host/proc/folder.h"
#include "kit/os/infile.h"
#include "segments/read/losses.h"
#include "format/medium.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum {
	FOLDERS_MAX = 256, /* in one base */
	COMPLAINTS = 5,
	SMALL_ROOM = 64 << 20, /* free bytes; several programs want a share */
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
		    "make room (seep ls --prune), or set SEEP_DIR to another tmpfs",
		    "%s: %s free, and a segment gets a quarter of that: too "
		    "little, so programs are not traced",
		    path, free_words);
	else if (room < SMALL_ROOM)
		doctor_add(r, DOCTOR_WARN, check,
		    "make room (seep ls --prune), or mount it with a larger size",
		    "%s: %s free; a segment gets %s, the next one a quarter of the rest", path,
		    free_words, share_words);
	else
		doctor_add(r, DOCTOR_OK, check, NULL, "%s: %s free; a segment gets up to %s", path,
		    free_words, share_words);
}

/* is_asked: SEEP_DIR, which may be on a disk. */
static bool check_medium(
    struct doctor_report *r, const char *check, const char *path, bool is_asked)
{
	struct seg_header h = {.place_refused = SEG_PLACE_FILE_SYSTEM};
	char why[REFUSED_DIRECTORY_BYTES];
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
		    "use a directory on a tmpfs, unless the data must survive a reboot",
		    "%s is on a disk: a busy disk may stall the program", path);
		return true;
	}
	h.place_detail = (uint32_t)fs.f_type;
	(void)snprintf(h.place_asked, sizeof(h.place_asked), "%.500s", path);
	(void)refused_directory(&h, why, sizeof(why));
	doctor_add(r, DOCTOR_FAIL, check,
	    is_asked ? "set SEEP_DIR to a directory on a tmpfs"
	             : "mount a tmpfs there, or set SEEP_DIR to one",
	    "%s, so it is not used", why);
	return false;
}

/* ---- one directory with segments ---- */

/* The collector counts the entries of a tmpfs directory by its size. */
static void check_files(struct doctor_report *r, const char *path, uid_t user)
{
	struct statfs fs;
	struct stat st;
	uint64_t files, max;

	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != user ||
	    statfs(path, &fs) < 0 || medium_of_type((uint32_t)fs.f_type) != SEG_MEDIUM_TMPFS)
		return;
	files = (uint64_t)st.st_size / MEDIUM_DIRENT;
	max = fs.f_bavail < fs.f_blocks / 2 ? MEDIUM_FILES_MAX : MEDIUM_FILES_MORE;
	if (files > max)
		doctor_add(r, DOCTOR_FAIL, "files", "seep ls --prune",
		    "%s has %llu files, more than %llu: no segment is added, so "
		    "programs are not traced",
		    path, (unsigned long long)files, (unsigned long long)max);
}

/* ---- all of them ---- */

static void check_folder(
    struct doctor_report *r, size_t *complaints, const char *path, uid_t user, bool is_asked)
{
	char why[FOLDER_TEXT_BYTES];

	if (folder_complaint(path, user, why, sizeof(why))) {
		if (user != geteuid() && (*complaints)++ >= COMPLAINTS)
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
	check_files(r, path, user);
}

static bool is_user_folder(const char *name)
{
	return text_begins_with(name, "seep-") && name[5] >= '0' && name[5] <= '9';
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
}

/* The directories seep-UID of a base; root looks at those of all users. */
static void check_base(struct doctor_report *r, const char *check, const char *base, bool is_asked)
{
	int dir;
	struct listing_names names = {0};
	size_t complaints = 0;
	char path[PATH_MAX], *end;

	if (!check_medium(r, check, base, is_asked))
		return;
	check_shared(r, check, base);
	dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	if (listing_read(dir, is_user_folder, &names) < 0)
		names.count = 0;
	for (size_t i = 0; i < names.count && i < FOLDERS_MAX; i++) {
		unsigned long user = strtoul(names.names[i] + 5, &end, 10);

		if (*end || user >= UINT32_MAX || (geteuid() != 0 && user != geteuid()) ||
		    snprintf(path, sizeof(path), "%s/%s", base, names.names[i]) >= PATH_MAX)
			continue;
		check_folder(r, &complaints, path, (uid_t)user, false);
	}
	listing_release(&names);
	(void)close(dir);
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
	size_t complaints = 0;

	if (asked) {
		if (check_medium(r, "seep_dir", asked, true))
			check_folder(r, &complaints, asked, geteuid(), true);
	}
	if (!asked && base)
		check_base(r, "seep_base", base, true);
	if (asked)
		(void)check_medium(r, "shm", FOLDER_SHM, false);
	else
		check_base(r, "shm", FOLDER_SHM, false);
	if (!asked && access(FOLDER_RUN, F_OK) == 0 && (!base || strcmp(base, FOLDER_RUN) != 0))
		check_base(r, "run", FOLDER_RUN, true);
}
