/* cmd_ls.c - seep ls: lists segments, and removes those of ended processes. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "findings/ls_row.h"
#include "command/cmd_parts.h"
#include "print/json/report_json.h"
#include "print/text/ls_print.h"
#include "segments/find/ls_prune.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "command/shell/terminal.h"
#include "host/proc/folder.h"
#include "host/memory/foreign_ask.h"
#include "kit/os/infile.h"
#include "segments/find/proc.h"
#include "session/load/session.h"
#include "segments/find/segment_dir.h"
#include "names/find/program.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum {
	COMPLAINTS = 5,
	LIST_S = 5,        /* for all of it: others may have put it there */
	UNKNOWN_NAMED = 3, /* files whose process cannot be seen, by name */
};
#define SECOND_NS UINT64_C(1000000000)
#define PIDS_NS   (SECOND_NS / 2) /* a shell waits for this at every TAB */

/*
 * A directory, held by its descriptor, because its path may lead elsewhere
 * later.
 */
struct place {
	int dir;
	const char *path;
	uint64_t until_ns;
	struct ls_prune dead; /* what may be removed */
};

struct listing {
	struct proc_cache *cache;
	struct ls_elsewhere elsewhere;
	uint64_t until_ns;
	size_t shown, removed;
	size_t freed;            /* slots of children that have ended */
	size_t unknown;          /* files that may be in use, which we cannot find out */
	uint64_t files, slots;   /* for which there was no time */
	uint64_t chapters;       /* the same for chapters of a history */
	size_t elsewhere_unread; /* processes, likewise */
	bool prune, pids, as_json, history;
	unsigned columns;  /* of the terminal; 0: no limit */
	size_t complaints; /* about directories of other users */
	int answer;        /* of the command */
};

/* The errno of an addition to a list, which fails only without memory. */
static void must(int err)
{
	if (err < 0)
		die(CMD_INPUT, "ls: out of memory");
}

/* The deadline for one directory: it has an equal share of the time left. */
static uint64_t share(const struct listing *l, size_t left)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now >= l->until_ns)
		return now;
	return now + (l->until_ns - now) / (left ? left : 1);
}

/* It may run in another pid namespace, or be hidden, so we cannot decide. */
static void warn_of_unknown(struct listing *l, const struct place *at, const char *name)
{
	l->unknown++;
	if (l->prune && l->unknown <= UNKNOWN_NAMED)
		die_warn("%s/%s: kept, because seep cannot see whether its process "
		         "still runs (it is in another pid namespace, or hidden); "
		         "if it does not, remove the file by hand",
		    at->path, name);
}

static void show(void *context, const struct ls_row *r)
{
	struct listing *l = context;

	if (l->pids) {
		(void)printf("%u\t", ls_row_pid(r->process));
		text_print(stdout, program_started_as(&r->process->header));
		(void)putchar('\n');
		return;
	}
	l->shown++;
	if (l->as_json) {
		ls_json_process(r);
		return;
	}
	if (l->shown == 1)
		ls_print_head(l->columns);
	ls_print_process(r, l->columns);
}

static void list_segment(
    struct listing *l, struct place *at, const char *name, const struct stat *st)
{
	struct session_brief brief = {.until_ns = at->until_ns, .cache = l->cache};
	bool dead = true, unknown = false;
	struct fault where = {""};
	struct session *s = NULL;
	size_t ended = 0;
	int err;

	err = session_load_brief(at->dir, name, &brief, &s, &where);
	if (err == -ENODATA && !ls_prune_is_settled(st))
		return; /* it is just being set up */
	if (err < 0 && err != -ENODATA && err != -ENOENT) {
		die_warn("%s/%s: %s", at->path, name, where.text);
	}
	/* not a segment, or a newer one: leave it alone */
	if (err < 0 && err != -ENODATA)
		dead = err == -EBADMSG;
	for (size_t i = 0; s && i < s->count; i++) {
		const struct ls_row row = {.process = s->processes[i],
		    .owner = st->st_uid,
		    .stored_bytes = (uint64_t)st->st_blocks * 512,
		    .folder = at->path,
		    .name = name};

		show(l, &row);
		dead &= s->processes[i]->end != PROCESS_RUNNING;
		unknown |= s->processes[i]->end == PROCESS_UNKNOWN;
		ended += s->processes[i]->end != PROCESS_RUNNING &&
		    s->processes[i]->end != PROCESS_UNKNOWN;
	}
	l->slots += brief.unread;
	if (unknown)
		warn_of_unknown(l, at, name);
	/* its recorder will read it, and remove it then */
	if (l->prune && s && s->count > 0 &&
	    segment_dir_is_recorded(at->dir, s->processes[0]->header.session)) {
		dead = false;
		ended = 0;
	}
	if (dead && !unknown && brief.unread == 0)
		must(ls_prune_add(&at->dead, name, st));
	else if (l->prune && ended > 0)
		must(ls_prune_add_parent(&at->dead, name));
	session_free(s);
}

/* Headers alone are read. */
static void list_pids(struct listing *l, int dir, const char *name, uint64_t until_ns)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	struct segfile *f;
	pid_t pid;

	if (segfile_open(dir, name, &f, NULL) < 0)
		return;
	segfile_taken(f, taken);
	for (int slot = SEGFILE_OWN; slot < segfile_slots(f); slot++) {
		if (slot >= 0 && !taken[slot])
			continue;
		if (slot >= 0 && clock_ns(CLOCK_MONOTONIC) > until_ns) {
			l->slots++;
			continue;
		}
		if (segfile_header(f, slot, &h, NULL) < 0 ||
		    session_end_in(l->cache, &h, segfile_source(f), &pid) != PROCESS_RUNNING)
			continue;
		(void)printf("%d\t", (int)pid);
		text_print(stdout, program_started_as(&h));
		(void)putchar('\n');
	}
	segfile_close(f);
}

static bool is_listed(const char *name)
{
	return segfile_is_name(name) || segfile_is_beside(name) ||
	    text_ends_with(name, ".seep-snap.tmp");
}

static void list_file(struct listing *l, struct place *at, const char *name)
{
	struct stat st;

	if (fstatat(at->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return; /* gone in between, or none of ours */
	if (text_ends_with(name, ".seg"))
		must(ls_elsewhere_skip(&l->elsewhere, st.st_dev, st.st_ino));
	if (l->pids && text_ends_with(name, ".seg"))
		list_pids(l, at->dir, name, at->until_ns);
	else if (l->pids)
		return;
	else if (segfile_is_name(name))
		list_segment(l, at, name, &st);
	else if (l->prune && name[0] == '.' && text_ends_with(name, ".seep-snap.tmp"))
		must(ls_prune_temporary(&at->dead, name, &st));
	else if (l->prune && name[0] != '.' && segfile_is_beside(name))
		must(ls_prune_control(&at->dead, name, &st));
}

/* Programs that found no place for a segment left a line here. */
static void list_refused(const struct listing *l, int dir, const char *path)
{
	struct refused_last last;
	size_t n = l->pids ? 0 : refused_look(dir, &last);
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	if (n == 0)
		return;
	die_warn("%s: %s%s %s not traced, the last one %s (pid %d): %s, %s "
	         "ago%s",
	    path, WORDS_COUNTED(n, "program"), last.is_more ? " or more" : "", words_was(n),
	    last.name, (int)last.pid, last.why,
	    WORDS_TIME(now_ns > last.at_ns ? now_ns - last.at_ns : 0),
	    l->prune ? "" : " (seep ls --prune forgets that)");
	if (l->prune && !last.is_recorded)
		(void)unlinkat(dir, SEG_REFUSED_NAME, 0);
}

/* `dir` is closed. */
static void list_place(struct listing *l, int dir, const char *path, uint64_t until_ns)
{
	struct place at = {.dir = dir, .path = path, .until_ns = until_ns};
	struct listing_names names = {0};
	struct stat st;
	size_t freed;
	int err;

	err = fstat(dir, &st) < 0 ? -errno : 0;
	if (err == 0)
		err = listing_read(dir, is_listed, &names);
	if (err < 0)
		die(CMD_INPUT, "%s: %s", path, strerror(-err));
	at.dead = (struct ls_prune){.dir = dir, .path = path, .owner = st.st_uid, .say = die_warn};
	l->files += names.refused;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.names[i];

		/* the first is always read: the machine may be busy */
		if (i > 0 && clock_ns(CLOCK_MONOTONIC) > until_ns)
			l->files +=
			    segfile_is_name(name) && (!l->pids || text_ends_with(name, ".seg"));
		else
			list_file(l, &at, name);
	}
	list_refused(l, dir, path);
	if (l->prune) {
		l->removed += ls_prune_run(&at.dead, &freed);
		l->freed += freed;
		folder_remove_note(path);
	}
	listing_release(&names);
	ls_prune_release(&at.dead);
	(void)close(dir);
}

/* Then the collector uses another place, and says so in its header. */
static void warn_of_unfit(const char *folder)
{
	char why[FOLDER_TEXT_BYTES], own[FOLDER_PATH_BYTES], neither[FOLDER_TEXT_BYTES];

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
 * Prints what is wrong with the default directory of a user. Anybody can make
 * as many of these as he likes, so root sees only some of the messages.
 */
static void warn_of_default(struct listing *l, uid_t user, const char *path, bool is_shared)
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

/* A directory that another user has made is not listed as this user's. */
static void list_default(struct listing *l, uid_t user, const char *path, uint64_t until_ns)
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
	/* the name may refer to another directory by now */
	if (dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == user)
		list_place(l, dir, path, until_ns); /* closes it */
	else if (dir >= 0)
		(void)close(dir);
	if (err && err != ENOENT && user == geteuid())
		die(CMD_INPUT, "%s: %s", path, strerror(err));
}

/* The user in a name seep-UID; false: it is another name. */
static bool user_of(const char *name, uid_t *ret)
{
	char again[FOLDER_PATH_BYTES], *end;
	unsigned long user = strtoul(name + strlen("seep-"), &end, 10);

	folder_default((uid_t)user, again);
	*ret = (uid_t)user;
	return strcmp(again + sizeof(FOLDER_SHM), name) == 0;
}

/* Is it seep-UID, or a note beside it? The collector makes no others. */
static bool is_user_folder(const char *name)
{
	return strncmp(name, "seep-", 5) == 0 && name[5] >= '0' && name[5] <= '9';
}

static bool is_shown_folder(const char *name)
{
	return name[0] != '.';
}

/*
 * The note of a process that found its directory taken; below /run/seep, the
 * directory of a service (RuntimeDirectory=seep/NAME).
 */
static void list_other(
    struct listing *l, const char *name, const char *path, bool is_note, uint64_t until)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir < 0)
		return;
	if (fstat(dir, &st) == 0 && (!is_note || folder_is_note(name, st.st_uid)) &&
	    (geteuid() == 0 || st.st_uid == geteuid()))
		list_place(l, dir, path, until); /* closes it */
	else
		(void)close(dir);
}

/* One entry of a base; `left` entries remain, this one included. */
static void list_entry(struct listing *l, const char *base, const char *name, size_t left)
{
	char path[PATH_MAX];
	uid_t user;

	if (snprintf(path, sizeof(path), "%s/%s", base, name) >= (int)sizeof(path))
		return;
	if (!user_of(name, &user))
		list_other(l, name, path, strcmp(base, FOLDER_RUN) != 0, share(l, left));
	else if (geteuid() == 0 || user == geteuid())
		list_default(l, user, path, share(l, left));
}

/*
 * A base has a directory for each user: /dev/shm, /run/seep, SEEP_BASE. Root
 * lists those of all users.
 */
static void list_base(struct listing *l, const char *base)
{
	const bool is_run = strcmp(base, FOLDER_RUN) == 0;
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};

	if (dir < 0)
		return;
	l->complaints = 0;
	if (listing_read(dir, is_run ? is_shown_folder : is_user_folder, &names) == -ENOMEM)
		die(CMD_INPUT, "ls: out of memory");
	l->files += names.refused;
	for (size_t i = 0; i < names.count; i++)
		list_entry(l, base, names.names[i], names.count - i);
	listing_release(&names);
	(void)close(dir);
	if (l->complaints > COMPLAINTS)
		die_warn("%zu more directories in %s do not belong to the user "
		         "whose id is in their name",
		    l->complaints - COMPLAINTS, base);
}

/* DIR of the command line must have segments. */
static void check_named(const char *folder)
{
	char *names = NULL, version[PATH_MAX];
	size_t len = 0;
	pid_t pid;
	int err = foreign_file_list(0, folder, &names, &len);

	free(names);
	if (err == 0 && len > 0)
		return;
	if (err < 0 && input_is_pid(folder, &pid))
		die(CMD_USAGE,
		    "ls: takes a directory, not a PID; of one process: seep "
		    "report %s",
		    folder);
	if (err < 0)
		die(CMD_INPUT, "%s: %s", folder, strerror(-err));
	(void)snprintf(version, sizeof(version), "%s/.version", folder);
	if (access(version, F_OK) == 0)
		die(CMD_USAGE, "ls: %s is a history of seep watch: seep ls --history %s", folder,
		    folder);
	die(CMD_INPUT, "%s: there is no segment in it", folder);
}

static void list_all(struct listing *l, const char *named)
{
	const char *folder = named ? named : getenv("SEEP_DIR");
	const char *base = getenv("SEEP_BASE");
	int dir;

	if (!folder || !*folder) {
		list_base(l, FOLDER_SHM);
		list_base(l, FOLDER_RUN);
		if (base && base[0] == '/' && strcmp(base, FOLDER_SHM) != 0 &&
		    strcmp(base, FOLDER_RUN) != 0)
			list_base(l, base);
		must(ls_elsewhere_list(
		    &l->elsewhere, l->cache, l->until_ns, show, l, &l->elsewhere_unread));
		return;
	}
	/* with --prune there may be rests of segments */
	if (named && !l->prune)
		check_named(named);
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die(CMD_INPUT, "%s: %s%s", folder, strerror(errno),
		    named ? "" : " (from SEEP_DIR)");
	list_place(l, dir, folder, l->until_ns);
	if (!l->pids && !named)
		warn_of_unfit(folder);
}

/* Says what is missing in the list. */
static void warn_of_unread(const struct listing *l)
{
	size_t more = l->unknown > UNKNOWN_NAMED ? l->unknown - UNKNOWN_NAMED : 0;
	char files[WORDS_COUNTED_MAX], slots[WORDS_MAX];

	if (l->files || l->slots)
		die_warn("%s and %s more forked child%s were not read, because "
		         "the list takes %s at most (seep report FILE reads all "
		         "of one)",
		    words_counted(files, l->files, "more file"), words_count(slots, l->slots),
		    l->slots == 1 ? "" : "ren", l->pids ? "0.5 s" : "5 s");
	if (l->chapters > 0)
		die_warn("%s not read, because the list takes 5 s at most",
		    words_counted(files, l->chapters, "older chapter"));
	if (l->elsewhere_unread > 0)
		die_warn("processes whose segments are in other directories "
		         "were not all looked for, because the list takes %s "
		         "at most",
		    l->pids ? "0.5 s" : "5 s");
	if (l->prune && more > 0)
		die_warn("%s %s kept for the same reason", words_counted(files, more, "more file"),
		    words_is(more));
}

enum ls_format { LS_TEXT, LS_JSON };

struct ls_options {
	bool prune, pids, history;
	int format; /* enum ls_format */
};

static void end_text(const struct listing *l)
{
	if (l->shown == 0 && l->history)
		(void)printf("nothing in the history\n");
	else if (l->shown == 0 && !l->pids && l->files == 0)
		(void)printf("no segments\n");
	if (!l->history && !l->pids && !l->prune)
		ls_history_hint();
	if (l->prune)
		(void)printf("%s removed\n", WORDS_COUNTED(l->removed, "file"));
	if (l->freed > 0)
		(void)printf("%s of ended children given back\n", WORDS_COUNTED(l->freed, "slot"));
}

static void end_json(const struct listing *l)
{
	const struct ls_json_end e = {
	    .unread_files = l->files + l->elsewhere_unread + l->chapters,
	    .unread_children = l->slots,
	    .pruned = l->prune,
	    .removed = l->removed,
	    .freed = l->freed,
	};

	ls_json_end(&e);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct ls_options o = {0};
	struct listing l = {0};
	int err, count;

	count = opts_parse(self, argc, argv, &o);
	if (o.history && (o.prune || o.pids))
		die(CMD_USAGE, "ls: --history cannot be combined with --prune and --pids");
	l.history = o.history;
	if (o.prune && o.pids)
		die(CMD_USAGE, "ls: --prune and --pids cannot be combined");
	l.prune = o.prune;
	if (o.pids && o.format == LS_JSON)
		die(CMD_USAGE, "ls: --pids and --format cannot be combined");
	l.pids = o.pids;
	l.as_json = o.format == LS_JSON;
	l.columns = terminal_columns(STDOUT_FILENO);
	l.until_ns = clock_ns(CLOCK_MONOTONIC) + (l.pids ? PIDS_NS : LIST_S * SECOND_NS);
	l.cache = proc_cache_new();
	if (!l.cache)
		die(CMD_INPUT, "ls: out of memory");
	proc_cache_until(l.cache, l.until_ns);
	if (l.as_json)
		ls_json_begin();
	if (l.history)
		l.chapters = ls_history_list(count > 0 ? argv[1] : NULL, l.until_ns, show, &l);
	else
		list_all(&l, count > 0 ? argv[1] : NULL);
	proc_cache_free(l.cache);
	ls_elsewhere_release(&l.elsewhere);
	if (l.as_json)
		end_json(&l);
	else
		end_text(&l);
	warn_of_unread(&l);
	err = output_flush();
	return l.answer ? l.answer : err;
}

static const struct opts_option rows[] = {
    {"prune", 0, OPTS_FLAG, offsetof(struct ls_options, prune), 0, NULL,
        "remove files that no process uses, and give back the room of forked "
        "children that have ended"},
    {"pids", 0, OPTS_FLAG, offsetof(struct ls_options, pids), 0, NULL,
        "print the pid of each running process, a tab and its name, "
        "for scripts"},
    {"history", 0, OPTS_FLAG, offsetof(struct ls_options, history), 0, NULL,
        "list the processes in the history DIR of seep watch (default "
        "/var/lib/seep for root, else $XDG_STATE_HOME/seep) instead"},
    {"format", 0, OPTS_WORD, offsetof(struct ls_options, format), 0, "text|json",
        "for people (the default), or for programs"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0}, {0}};

const struct cmd cmd_ls = {
    .name = "ls",
    .summary = "list the processes that are or were traced",
    .operands = "[DIR]",
    .about =
        "Lists the processes that are or were traced. They are found by their "
        "segments in DIR or SEEP_DIR, or, if neither is given, in /dev/shm/seep-UID, "
        "/run/seep/seep-UID and SEEP_BASE/seep-UID, and in the memory maps of running processes, also of those in other "
        "mount namespaces; root sees those of all users. LIVE and PEAK are bytes; SIZE is what the file occupies. It "
        "takes 5 seconds at most and prints what it has not read. A process is "
        "out of sight if seep cannot see whether it runs, because it is in "
        "another pid namespace or hidden; its files are never removed.",
    .options = options,
    .run = run,
};
