/* cmd_ls.c - seep ls: the segments lying about, and their removal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "reader/alive.h"
#include "reader/clock.h"
#include "reader/folder.h"
#include "reader/losses.h"
#include "reader/session.h"
#include "record/procs.h"
#include "report/words.h"

enum {
	HALF_BORN_S = 10,    /* nobody takes longer to set up a segment */
	HALF_WRITTEN_S = 60, /* nor to write a snapshot */
	COMPLAINTS = 5,
};

/* A file that may be removed if nobody maps it. */
struct candidate {
	char *folder, *name;
	uint64_t device, inode;
};

struct listing {
	struct candidate *dead;
	size_t dead_count;
	size_t shown;
	bool prune, pids;
	size_t complaints; /* about directories of other users */
	int answer;        /* of the command */
};

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static void
add_candidate(struct listing *l, const char *folder, const char *name,
    uint64_t device, uint64_t inode)
{
	struct candidate *all =
	    reallocarray(l->dead, l->dead_count + 1, sizeof(*all));

	if (!all)
		die(CMD_INPUT, "ls: out of memory");
	l->dead = all;
	/* cppcheck-suppress nullPointerRedundantCheck ; die() ends it */
	all[l->dead_count++] = (struct candidate){.folder = strdup(folder),
	    .name = strdup(name),
	    .device = device,
	    .inode = inode};
}

static const char *
state_word(const struct process *p)
{
	if (p->is_snapshot)
		return "snapshot";
	if (p->header.state == SEG_INERT)
		return "inert";
	if (p->end == PROCESS_RUNNING && p->header.mode == SEG_MODE_OFF)
		return "running, off";
	if (p->end == PROCESS_RUNNING && p->header.mode == SEG_MODE_DORMANT)
		return "dormant";
	return words_ended(p);
}

static void
print_command(const struct seg_header *h)
{
	const char *p = h->command, *end = p + sizeof(h->command);
	size_t room = 60;

	if (*p == '\0')
		p = h->exe;
	while (p < end && *p && room > 0) {
		char word[64];

		(void)snprintf(word, sizeof(word), "%.*s", (int)room, p);
		words_print(stdout, word);
		room -= strlen(word);
		p += strnlen(p, (size_t)(end - p)) + 1;
		if (p >= end || *p == '\0' || h->command[0] == '\0')
			return;
		if (room > 0)
			(void)putchar(' ');
	}
	(void)fputs("...", stdout);
}

/* Number, label or reason: what tells it from the others. */
static void
print_snapshot(const struct seg_header *h)
{
	if (h->snapshot_number > 0)
		(void)printf("#%u ", h->snapshot_number);
	words_print(stdout,
	    h->snapshot_label[0] ? h->snapshot_label
	                         : words_snapshot(h->snapshot_reason));
	(void)fputs(": ", stdout);
}

static void
print_inert(const struct seg_header *h)
{
	(void)printf("%8s  not traced: ", "");
	if (h->inert_reason == SEG_INERT_PLACE)
		(void)printf("its place is taken by uid %u\n", h->place_owner);
	else
		(void)printf("%s\n", losses_inert(h->inert_reason));
}

/* Snapshots that are not listed any more. */
static void
print_thinned(const struct process *p)
{
	uint64_t gone = p->header.counts[SEG_SNAPSHOTS_THINNED];
	char text[WORDS_COUNTED];

	if (gone > 0 && !p->is_snapshot)
		(void)printf("%8s  %s removed again between the first and the "
		             "newest\n",
		    "", words_counted(text, gone, "snapshot"));
}

static void
print_process(struct listing *l, const struct process *p, uint64_t size,
    const char *folder, const char *name)
{
	char live[WORDS_MAX], peak[WORDS_MAX], age[WORDS_MAX], kb[WORDS_MAX];
	uint64_t since_ns = p->is_snapshot ? p->header.snapshot_realtime_ns
	                                   : p->header.start_realtime_ns;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	if (l->shown++ == 0)
		(void)printf("%8s  %-12s %14s %14s %12s %10s  %s\n", "PID",
		    "STATE", "LIVE", "PEAK", "AGE", "SIZE", "COMMAND");
	(void)printf("%8u  %-12s %14s %14s %12s %10s  ", p->header.pid,
	    state_word(p), words_count(live, p->totals.live_bytes),
	    words_count(peak, p->totals.peak_bytes),
	    words_time(age, now_ns > since_ns ? now_ns - since_ns : 0),
	    words_bytes(kb, size));
	if (p->is_snapshot)
		print_snapshot(&p->header);
	print_command(&p->header);
	(void)putchar('\n');
	if (p->header.state == SEG_INERT)
		print_inert(&p->header);
	print_thinned(p);
	(void)printf("%8s  ", "");
	words_print(stdout, folder);
	(void)putchar('/');
	words_print(stdout, name);
	(void)putchar('\n');
}

static void
list_segment(struct listing *l, const char *folder, const char *name)
{
	struct fault where = {""};
	struct session *s = NULL;
	struct stat st;
	bool dead = true;
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		die(CMD_INPUT, "ls: out of memory");
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		goto out; /* gone in between, or none of ours */
	err = session_load(path, &s, &where);
	if (err == -ENOENT)
		goto out; /* a snapshot that its process has removed */
	if (err == -ENODATA && time(NULL) - st.st_mtime < HALF_BORN_S)
		goto out; /* somebody is just setting it up */
	if (err < 0 && err != -ENODATA) {
		die_warn("%s: %s", path, where.text);
		dead =
		    err == -EBADMSG; /* foreign or newer: not ours to judge */
	}
	for (size_t i = 0; s && i < s->count; i++) {
		print_process(l, s->processes[i], (uint64_t)st.st_blocks * 512,
		    folder, name);
		if (s->processes[i]->end == PROCESS_RUNNING ||
		    s->processes[i]->end == PROCESS_UNKNOWN)
			dead = false;
	}
	if (dead)
		add_candidate(l, folder, name, st.st_dev, st.st_ino);
out:
	session_free(s);
	free(path);
}

/* A control file without its segment, or a recorder's without recorder. */
static void
check_control(struct listing *l, int dir, const char *folder, const char *name)
{
	char segment[NAME_MAX + 1];
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || time(NULL) - st.st_mtime < HALF_BORN_S)
		return;
	(void)snprintf(segment, sizeof(segment), "%.*s",
	    (int)(strlen(name) - strlen(".ctl")), name);
	if (ends_with(segment, ".seg")) {
		struct stat other;

		if (fstatat(dir, segment, &other, AT_SYMLINK_NOFOLLOW) == 0)
			return;
	} else if (strncmp(name, "rec-", 4) == 0) {
		int fd = openat(
		    dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		bool lives = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;

		if (fd >= 0)
			close(fd);
		if (lives)
			return;
	} else {
		return;
	}
	add_candidate(l, folder, name, st.st_dev, st.st_ino);
}

/* Headers alone are read: a shell waits for this at every TAB. */
static void
list_pids(int dir, const char *name)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	struct segfile *f;
	pid_t pid;

	if (segfile_open(dir, name, &f, NULL) < 0)
		return;
	segfile_taken(f, taken);
	for (int slot = SEGFILE_OWN; slot < segfile_slots(f); slot++) {
		const char *slash;

		if ((slot >= 0 && !taken[slot]) ||
		    segfile_header(f, slot, &h, NULL) < 0 ||
		    session_end(&h, segfile_source(f), &pid) != PROCESS_RUNNING)
			continue;
		slash = strrchr(h.exe, '/');
		(void)printf("%d\t", (int)pid);
		words_print(stdout, slash ? slash + 1 : h.exe);
		(void)putchar('\n');
	}
	segfile_close(f);
}

/* A snapshot whose process was killed while it wrote. */
static void
check_hidden(struct listing *l, int dir, const char *folder, const char *name)
{
	struct stat st;

	if (l->prune && ends_with(name, ".seep-snap.tmp") &&
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > HALF_WRITTEN_S)
		add_candidate(l, folder, name, st.st_dev, st.st_ino);
}

/* -errno of opendir(). */
static int
list_folder(struct listing *l, const char *folder)
{
	struct dirent **names;
	int dir, n;

	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	n = scandir(folder, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (l->pids && ends_with(name, ".seg"))
			list_pids(dir, name);
		else if (name[0] == '.')
			check_hidden(l, dir, folder, name);
		else if (ends_with(name, ".seg") ||
		    (!l->pids && ends_with(name, ".seep-snap")))
			list_segment(l, folder, name);
		else if (l->prune && ends_with(name, ".ctl"))
			check_control(l, dir, folder, name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	close(dir);
	return 0;
}

/*
 * Mappings are looked at after the headers were read: a file that had a valid
 * header is mapped by then, or will never be again.
 */
static void
prune(struct listing *l)
{
	size_t removed = 0;
	struct procs procs;
	int err;

	err = procs_init(&procs, 0, NULL);
	if (err < 0)
		die(CMD_INPUT, "ls: /proc cannot be read: %s", strerror(-err));
	for (size_t i = 0; i < l->dead_count; i++) {
		const struct candidate *c = &l->dead[i];
		char *path;

		if (procs_maps(&procs, c->device, c->inode))
			continue; /* a forked child still books there */
		if (asprintf(&path, "%s/%s", c->folder, c->name) < 0)
			die(CMD_INPUT, "ls: out of memory");
		if (unlink(path) == 0)
			removed++;
		else if (errno != ENOENT)
			die_warn(
			    "%s: cannot be removed: %s", path, strerror(errno));
		free(path);
		if (ends_with(c->name, ".seg") &&
		    asprintf(&path, "%s/%s.ctl", c->folder, c->name) >= 0) {
			(void)unlink(path);
			free(path);
		}
		folder_remove_note(c->folder);
	}
	procs_release(&procs);
	(void)printf("%zu file%s removed\n", removed, removed == 1 ? "" : "s");
}

/* The collector goes elsewhere then, and says so in its header. */
static void
warn_of_unfit(const char *folder)
{
	char why[FOLDER_TEXT_BYTES], own[FOLDER_PATH_BYTES],
	    neither[FOLDER_TEXT_BYTES];

	if (!folder_complaint(folder, geteuid(), why, sizeof(why)))
		return;
	folder_default(geteuid(), own);
	if (folder_complaint(own, geteuid(), neither, sizeof(neither)))
		die_warn("%s (from SEEP_DIR), and %s: programs find no place "
		         "for their segments and are not traced",
		    why, neither);
	else
		die_warn("%s (from SEEP_DIR): programs put their segments into "
		         "%s instead",
		    why, own);
}

/*
 * Says what is wrong with the default directory of a user. Anybody can make as
 * many as he likes, so root is told of a few.
 */
static void
warn_of_default(struct listing *l, uid_t user, const char *path, bool is_shared)
{
	char why[FOLDER_TEXT_BYTES];

	if (l->pids || !folder_complaint(path, user, why, sizeof(why)))
		return; /* a shell waits for --pids, at a TAB */
	if (user != geteuid() && l->complaints++ >= COMPLAINTS)
		return;
	die_warn("%s: programs of uid %u find no place for their segments and "
	         "are not traced; have its owner or root %s it, or set "
	         "SEEP_DIR to another directory",
	    why, (unsigned)user, is_shared ? "chmod go-w" : "remove");
}

/* What others have put under a user's name is not listed as his. */
static void
list_default(struct listing *l, uid_t user, const char *path)
{
	uid_t owner;
	enum folder_state state = folder_look(path, user, &owner);
	int err;

	warn_of_default(l, user, path, state == FOLDER_SHARED);
	if (state == FOLDER_TAKEN || state == FOLDER_NO_DIRECTORY) {
		if (user == geteuid())
			l->answer = CMD_INPUT;
		return;
	}
	err = list_folder(l, path);
	if (err < 0 && err != -ENOENT && user == geteuid())
		die(CMD_INPUT, "%s: %s", path, strerror(-err));
}

/* seep-UID: of whom it should be; false: it has another name. */
static bool
user_of(const char *name, uid_t *ret)
{
	char again[FOLDER_PATH_BYTES], *end;
	unsigned long user = strtoul(name + strlen("seep-"), &end, 10);

	folder_default((uid_t)user, again);
	*ret = (uid_t)user;
	return strcmp(again + sizeof(FOLDER_SHM), name) == 0;
}

/* What one entry of /dev/shm is to this user; root lists those of all. */
static void
list_entry(struct listing *l, const char *name)
{
	bool is_root = geteuid() == 0;
	char path[sizeof(FOLDER_SHM "/") + NAME_MAX];
	struct stat st;
	uid_t user;

	(void)snprintf(path, sizeof(path), FOLDER_SHM "/%s", name);
	if (user_of(name, &user)) {
		if (is_root)
			list_default(l, user, path);
		return; /* list_all() knows that of this user */
	}
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    (is_root ||
	        (st.st_uid == geteuid() && folder_is_note(name, st.st_uid))))
		(void)list_folder(l, path);
}

static void
list_shm(struct listing *l)
{
	struct dirent **names;
	int n = scandir(FOLDER_SHM, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (strncmp(names[i]->d_name, "seep-", 5) == 0)
			list_entry(l, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static void
list_all(struct listing *l)
{
	const char *folder = getenv("SEEP_DIR");
	char own[FOLDER_PATH_BYTES];
	int err;

	if (!folder || !*folder) {
		folder_default(geteuid(), own);
		if (geteuid() != 0)
			list_default(l, geteuid(), own);
		list_shm(l);
		if (l->complaints > COMPLAINTS)
			die_warn("%zu more directories in " FOLDER_SHM
			         " belong to others than they are named after",
			    l->complaints - COMPLAINTS);
		return;
	}
	err = list_folder(l, folder);
	if (err < 0)
		die(CMD_INPUT, "%s: %s (from SEEP_DIR)", folder,
		    strerror(-err));
	if (!l->pids)
		warn_of_unfit(folder);
}

struct ls_options {
	bool prune, pids;
};

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct ls_options o = {0};
	struct listing l = {0};
	int err;

	(void)opts_parse(self, argc, argv, &o);
	if (o.prune && o.pids)
		die(CMD_USAGE, "ls: --prune and --pids do not go together");
	l.prune = o.prune;
	l.pids = o.pids;
	list_all(&l);
	if (l.shown == 0 && !l.pids)
		(void)printf("no segments\n");
	if (l.prune)
		prune(&l);
	for (size_t i = 0; i < l.dead_count; i++) {
		free(l.dead[i].folder);
		free(l.dead[i].name);
	}
	free(l.dead);
	err = output_flush();
	return l.answer ? l.answer : err;
}

static const struct opts_option rows[] = {
    {"prune", 0, OPTS_FLAG, offsetof(struct ls_options, prune), 0, NULL,
        "remove what no living process uses"},
    {"pids", 0, OPTS_FLAG, offsetof(struct ls_options, pids), 0, NULL,
        "only the pid of each running process, a tab and its name, for "
        "scripts"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0}, {0}};

const struct cmd cmd_ls = {
    .name = "ls",
    .summary = "list the processes that are or were traced",
    .operands = "",
    .about = "Lists the processes that are or were traced: the segments in "
             "SEEP_DIR or /dev/shm/seep-UID; for root, of all users. Sizes are "
             "bytes; SIZE is what the file occupies.",
    .options = options,
    .run = run,
};
