/* cmd_ls.c - seep ls: the segments lying about, and their removal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
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
#include "reader/proc.h"
#include "util/clock.h"
#include "reader/folder.h"
#include "reader/listing.h"
#include "reader/losses.h"
#include "reader/session.h"
#include "report/words.h"
#include "util/text.h"

enum {
	HALF_BORN_S = 10,    /* nobody takes longer to set up a segment */
	HALF_WRITTEN_S = 60, /* nor to write a snapshot */
	COMPLAINTS = 5,
	LIST_S = 5,       /* for all of it: others may have put it there */
	UNKNOWN_TOLD = 3, /* files whose process cannot be seen, by name */
};
#define SECOND_NS UINT64_C(1000000000)
#define PIDS_NS   (SECOND_NS / 2) /* a shell waits for this at every TAB */

/* A file that may be removed if nobody maps it. */
struct candidate {
	char *name;
	uint64_t device, inode;
};

/* A directory, held by its descriptor: the path may lead elsewhere by now. */
struct place {
	int dir;
	const char *path;
	uint64_t until_ns;
	struct stat st;
	struct candidate *dead;
	size_t dead_count;
};

struct listing {
	struct proc_look *look;
	uint64_t until_ns, budget_ns;
	size_t shown, removed;
	size_t unknown; /* files that may be in use, where we cannot see */
	uint64_t files, slots; /* that there was no time for */
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
add_candidate(struct place *p, const char *name, const struct stat *st)
{
	struct candidate *all =
	    reallocarray(p->dead, p->dead_count + 1, sizeof(*all));
	struct candidate c = {
	    .name = strdup(name), .device = st->st_dev, .inode = st->st_ino};

	if (!all || !c.name)
		die(CMD_INPUT, "ls: out of memory");
	p->dead = all;
	/* cppcheck-suppress nullPointerRedundantCheck ; die() ends it */
	all[p->dead_count++] = c;
}

/*
 * The end of the time for one directory: an equal part of what is left, or a
 * sixteenth of all, if that is more.
 */
static uint64_t
share(const struct listing *l, size_t left)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), part;

	if (now >= l->until_ns)
		return now;
	part = (l->until_ns - now) / (left ? left : 1);
	if (part < l->budget_ns / 16)
		part = l->budget_ns / 16;
	return now + part < l->until_ns ? now + part : l->until_ns;
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
		text_print(stdout, word);
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
	text_print(stdout,
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

/* Whose it is, where it is not ours. */
static void
print_owner(uid_t uid)
{
	const struct passwd *who;

	if (uid == geteuid())
		return;
	who = getpwuid(uid);
	(void)fputs("user ", stdout);
	if (who)
		text_print(stdout, who->pw_name);
	else
		(void)printf("%u", (unsigned)uid);
	(void)fputs(": ", stdout);
}

static void
print_process(struct listing *l, const struct process *p, const struct stat *st,
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
	    words_bytes(kb, (uint64_t)st->st_blocks * 512));
	if (p->is_snapshot)
		print_snapshot(&p->header);
	print_command(&p->header);
	(void)putchar('\n');
	if (p->header.state == SEG_INERT)
		print_inert(&p->header);
	print_thinned(p);
	(void)printf("%8s  ", "");
	print_owner(st->st_uid);
	text_print(stdout, folder);
	(void)putchar('/');
	text_print(stdout, name);
	(void)putchar('\n');
}

/* It may run in another pid namespace, or be hidden: not ours to judge. */
static void
tell_unknown(struct listing *l, const struct place *at, const char *name)
{
	l->unknown++;
	if (l->prune && l->unknown <= UNKNOWN_TOLD)
		die_warn("%s/%s: kept: whether its process still runs cannot "
		         "be seen from here (another pid namespace, or "
		         "hidden); if it does not, remove the file by hand",
		    at->path, name);
}

static void
list_segment(struct listing *l, struct place *at, const char *name,
    const struct stat *st)
{
	struct session_brief brief = {
	    .until_ns = at->until_ns, .look = l->look};
	bool dead = true, unknown = false;
	struct fault where = {""};
	struct session *s = NULL;
	int err;

	err = session_load_brief(at->dir, name, &brief, &s, &where);
	if (err == -ENODATA && time(NULL) - st->st_mtime < HALF_BORN_S)
		return; /* somebody is just setting it up */
	if (err < 0 && err != -ENODATA && err != -ENOENT) {
		die_warn("%s/%s: %s", at->path, name, where.text);
	}
	/* foreign or newer: not ours to judge */
	if (err < 0 && err != -ENODATA)
		dead = err == -EBADMSG;
	for (size_t i = 0; s && i < s->count; i++) {
		print_process(l, s->processes[i], st, at->path, name);
		dead &= s->processes[i]->end != PROCESS_RUNNING;
		unknown |= s->processes[i]->end == PROCESS_UNKNOWN;
	}
	l->slots += brief.unread;
	if (unknown)
		tell_unknown(l, at, name);
	if (dead && !unknown && brief.unread == 0)
		add_candidate(at, name, st);
	session_free(s);
}

/* A control file without its segment, or a recorder's without recorder. */
static void
check_control(struct place *at, const char *name, const struct stat *st)
{
	char segment[NAME_MAX + 1];

	if (time(NULL) - st->st_mtime < HALF_BORN_S)
		return;
	(void)snprintf(segment, sizeof(segment), "%.*s",
	    (int)(strlen(name) - strlen(".ctl")), name);
	if (ends_with(segment, ".seg")) {
		struct stat other;

		if (fstatat(at->dir, segment, &other, AT_SYMLINK_NOFOLLOW) == 0)
			return;
	} else if (strncmp(name, "rec-", 4) == 0) {
		int fd = openat(at->dir, name,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		bool lives = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;

		if (fd >= 0)
			close(fd);
		if (lives)
			return;
	} else {
		return;
	}
	add_candidate(at, name, st);
}

/* Headers alone are read. */
static void
list_pids(struct listing *l, int dir, const char *name, uint64_t until_ns)
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

		if (slot >= 0 && !taken[slot])
			continue;
		if (slot >= 0 && clock_ns(CLOCK_MONOTONIC) > until_ns) {
			l->slots++;
			continue;
		}
		if (segfile_header(f, slot, &h, NULL) < 0 ||
		    session_end_in(l->look, &h, segfile_source(f), &pid) !=
		        PROCESS_RUNNING)
			continue;
		slash = strrchr(h.exe, '/');
		(void)printf("%d\t", (int)pid);
		text_print(stdout, slash ? slash + 1 : h.exe);
		(void)putchar('\n');
	}
	segfile_close(f);
}

static bool
is_segment(const char *name)
{
	return name[0] != '.' &&
	    (ends_with(name, ".seg") || ends_with(name, ".seep-snap"));
}

/* A snapshot whose process was killed while it wrote. */
static bool
is_half_written(const char *name, const struct stat *st)
{
	return name[0] == '.' && ends_with(name, ".seep-snap.tmp") &&
	    time(NULL) - st->st_mtime > HALF_WRITTEN_S;
}

static bool
is_listed(const char *name)
{
	return is_segment(name) || ends_with(name, ".ctl") ||
	    ends_with(name, ".seep-snap.tmp");
}

static void
list_file(struct listing *l, struct place *at, const char *name)
{
	struct stat st;

	if (fstatat(at->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return; /* gone in between, or none of ours */
	if (l->pids && ends_with(name, ".seg"))
		list_pids(l, at->dir, name, at->until_ns);
	else if (l->pids)
		return;
	else if (is_segment(name))
		list_segment(l, at, name, &st);
	else if (l->prune && is_half_written(name, &st))
		add_candidate(at, name, &st);
	else if (l->prune && name[0] != '.' && ends_with(name, ".ctl"))
		check_control(at, name, &st);
}

/* The file that was looked at, and whose directory is its owner's as well. */
static bool
may_remove(const struct place *at, const struct candidate *c)
{
	struct stat st;

	if (fstatat(at->dir, c->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_dev != c->device ||
	    st.st_ino != c->inode)
		return false;
	if (st.st_uid == geteuid() || st.st_uid == at->st.st_uid)
		return true;
	die_warn("%s/%s: kept: it does not belong to the owner of its "
	         "directory",
	    at->path, c->name);
	return false;
}

/*
 * Mappings are looked at after the headers were read: a file that had a valid
 * header is mapped by then, or will never be again.
 */
static void
prune(struct listing *l, const struct place *at)
{
	struct proc_look *look = proc_look_new();

	for (size_t i = 0; look && i < at->dead_count; i++) {
		const struct candidate *c = &at->dead[i];
		char control[NAME_MAX + 8];

		if (proc_mapped(look, c->device, c->inode) ||
		    !may_remove(at, c))
			continue; /* a forked child still books there */
		if (unlinkat(at->dir, c->name, 0) == 0)
			l->removed++;
		else if (errno != ENOENT)
			die_warn("%s/%s: cannot be removed: %s", at->path,
			    c->name, strerror(errno));
		(void)snprintf(control, sizeof(control), "%s.ctl", c->name);
		if (ends_with(c->name, ".seg"))
			(void)unlinkat(at->dir, control, 0);
	}
	proc_look_free(look);
}

/* `dir` is closed. */
static void
list_place(struct listing *l, int dir, const char *path, uint64_t until_ns)
{
	struct place at = {.dir = dir, .path = path, .until_ns = until_ns};
	struct listing_names names = {0};
	int err;

	err = fstat(dir, &at.st) < 0 ? -errno : 0;
	if (err == 0)
		err = listing_read(dir, is_listed, &names);
	if (err < 0)
		die(CMD_INPUT, "%s: %s", path, strerror(-err));
	l->files += names.refused;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.names[i];

		/* the first is always read: the machine may be busy */
		if (i > 0 && clock_ns(CLOCK_MONOTONIC) > until_ns)
			l->files += is_segment(name) &&
			    (!l->pids || ends_with(name, ".seg"));
		else
			list_file(l, &at, name);
	}
	if (l->prune) {
		prune(l, &at);
		folder_remove_note(path);
	}
	listing_release(&names);
	for (size_t i = 0; i < at.dead_count; i++)
		free(at.dead[i].name);
	free(at.dead);
	(void)close(dir);
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
list_default(struct listing *l, uid_t user, const char *path, uint64_t until_ns)
{
	uid_t owner;
	enum folder_state state = folder_look(path, user, &owner);
	struct stat st;
	int dir, err;

	warn_of_default(l, user, path, state == FOLDER_SHARED);
	if (state == FOLDER_TAKEN || state == FOLDER_NO_DIRECTORY) {
		if (user == geteuid())
			l->answer = CMD_INPUT;
		return;
	}
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = dir < 0 ? errno : 0;
	/* it may be another one by now */
	if (dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == user)
		list_place(l, dir, path, until_ns); /* closes it */
	else if (dir >= 0)
		(void)close(dir);
	if (err && err != ENOENT && user == geteuid())
		die(CMD_INPUT, "%s: %s", path, strerror(err));
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

/* seep-UID, and the notes beside it: no others are of the collector. */
static bool
is_user_folder(const char *name)
{
	return strncmp(name, "seep-", 5) == 0 && name[5] >= '0' &&
	    name[5] <= '9';
}

/* The note of a process whose place was taken. */
static void
list_note(struct listing *l, const char *name, const char *path, uint64_t until)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir < 0)
		return;
	if (fstat(dir, &st) == 0 && folder_is_note(name, st.st_uid) &&
	    (geteuid() == 0 || st.st_uid == geteuid()))
		list_place(l, dir, path, until); /* closes it */
	else
		(void)close(dir);
}

/* One entry of /dev/shm; `left` come with it and behind it. */
static void
list_entry(struct listing *l, const char *name, size_t left)
{
	char path[sizeof(FOLDER_SHM "/") + NAME_MAX];
	uid_t user;

	(void)snprintf(path, sizeof(path), FOLDER_SHM "/%s", name);
	if (!user_of(name, &user))
		list_note(l, name, path, share(l, left));
	else if (geteuid() == 0 || user == geteuid())
		list_default(l, user, path, share(l, left));
}

/* Root lists those of all users. */
static void
list_shm(struct listing *l)
{
	int shm = open(FOLDER_SHM, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};

	if (shm < 0)
		return;
	if (listing_read(shm, is_user_folder, &names) == -ENOMEM)
		die(CMD_INPUT, "ls: out of memory");
	l->files += names.refused;
	for (size_t i = 0; i < names.count; i++)
		list_entry(l, names.names[i], names.count - i);
	listing_release(&names);
	(void)close(shm);
	if (l->complaints > COMPLAINTS)
		die_warn("%zu more directories in " FOLDER_SHM
		         " belong to others than they are named after",
		    l->complaints - COMPLAINTS);
}

static void
list_all(struct listing *l)
{
	const char *folder = getenv("SEEP_DIR");
	int dir;

	if (!folder || !*folder) {
		list_shm(l);
		return;
	}
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die(CMD_INPUT, "%s: %s (from SEEP_DIR)", folder,
		    strerror(errno));
	list_place(l, dir, folder, l->until_ns);
	if (!l->pids)
		warn_of_unfit(folder);
}

/* What is missing in the list is said. */
static void
tell_unread(const struct listing *l)
{
	if (l->files || l->slots)
		die_warn("%llu more file%s and %llu more forked child%s not "
		         "read: this takes %s at most (seep report FILE reads "
		         "all of one)",
		    (unsigned long long)l->files, l->files == 1 ? "" : "s",
		    (unsigned long long)l->slots,
		    l->slots == 1 ? " were" : "ren were",
		    l->pids ? "0.5 s" : "5 s");
	if (l->prune && l->unknown > UNKNOWN_TOLD)
		die_warn("%zu more file%s kept for the same reason",
		    l->unknown - UNKNOWN_TOLD,
		    l->unknown - UNKNOWN_TOLD == 1 ? " is" : "s are");
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
	l.until_ns =
	    clock_ns(CLOCK_MONOTONIC) + (l.pids ? PIDS_NS : LIST_S * SECOND_NS);
	l.look = proc_look_new();
	if (!l.look)
		die(CMD_INPUT, "ls: out of memory");
	list_all(&l);
	proc_look_free(l.look);
	if (l.shown == 0 && !l.pids && l.files == 0)
		(void)printf("no segments\n");
	if (l.prune)
		(void)printf("%zu file%s removed\n", l.removed,
		    l.removed == 1 ? "" : "s");
	tell_unread(&l);
	err = output_flush();
	return l.answer ? l.answer : err;
}

static const struct opts_option rows[] = {
    {"prune", 0, OPTS_FLAG, offsetof(struct ls_options, prune), 0, NULL,
        "remove files that no running process uses"},
    {"pids", 0, OPTS_FLAG, offsetof(struct ls_options, pids), 0, NULL,
        "print the pid of each running process, a tab and its name, "
        "for scripts"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0}, {0}};

const struct cmd cmd_ls = {
    .name = "ls",
    .summary = "list the processes that are or were traced",
    .operands = "",
    .about = "Lists the processes that are or were traced: the segments in "
             "SEEP_DIR or /dev/shm/seep-UID; for root, of all users. Sizes are "
             "bytes; SIZE is what the file occupies. Looks for 5 seconds at "
             "most and says what it has not read. The state is unknown where "
             "the process cannot be seen: in another pid namespace, or hidden.",
    .options = options,
    .run = run,
};
