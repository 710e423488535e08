/* mutations.c - recordings and segments, changed by structure, read in full. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: mutations [-n CASES] [-s SEED] [-c CASE [-w FILE]] FILE...
 *        mutations -x DIR FILE...
 *
 * FILEs are sound recordings, snapshots and segments. Half of the cases, or as
 * many as there are, put 0, 1, -1, 2^31 and 2^63 into known fields, one after
 * the other; the rest is by chance. Processes forked from this one read the
 * cases, a hundred each: they make of the input all that the command can make,
 * and run one command on it. That must come to an end by itself, with a
 * documented status, soon and in little memory. Speaks TAP. -c: only this case, -w: and
 * its bytes go to FILE. -x: only writes what is in FILEs, as inputs for the
 * fuzzers, to DIR/fuzz_segment/, fuzz_line/ and fuzz_names/.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/cmd.h"
#include "lib/twist.h"
#include "lib/whole.h"
#include "kit/os/fault.h"
#include "recording/file/recording.h"

enum {
	MEMORY_MIB = 512,
	SECONDS = 10, /* of CPU, for one case */
	SEEDS_MAX = 32,
	UNTOLD = 90, /* statuses of a case: what was wrong with it */
	WORDLESS = 91,
	UNKNOWN_STATUS = 92,
	TOO_MUCH = 93,
	BATCH = 100, /* cases in one process */
	SHOWN_MAX = 5,
	BASE64_MAX = 4096,
};

pid_t __real_fork(void);
_Noreturn void __wrap_exit(int status);

/* What the processes of the cases tell this one. */
struct shared {
	size_t now;      /* the case being read */
	size_t readable; /* cases in which there was something to report */
	long memory_kib; /* of the largest process */
	double seconds;  /* of the longest case */
};

struct run {
	struct shape seeds[SEEDS_MAX];
	size_t known[SEEDS_MAX]; /* changes of known fields */
	size_t count, known_sum;
	size_t cases;
	uint64_t seed;
	int said; /* what a case writes to stderr */
	struct shared *shared;
};

/* ---- a command inside this process ---- */

static jmp_buf command_end;
static int command_status;

/* Linked with --wrap=exit: die() comes here. */
void __wrap_exit(int status)
{
	command_status = status;
	longjmp(command_end, 1);
}

/* "@" stands for the input; --no-cache and -o /dev/null are added. */
static const char *const commands[][6] = {
    {"report", "@"},
    {"report", "@", "--format=json"},
    {"report", "@", "--table", "--allocs", "--merge"},
    {"report", "@", "--growth", "--skip-wrappers"},
    {"report", "@", "--format=html"},
    {"report", "@", "--snapshots"},
    {"report", "@", "--rss"},
    {"report", "@", "--growth", "--sort=holds"},
    {"diff", "@", "@"},
    {"diff", "@", "@", "--format=json"},
    {"check", "@"},
    {"check", "@", "-q", "--format=sarif"},
    {"check", "@", "-q", "--format=junit"},
    {"export", "@", "--format=pprof"},
    {"export", "@", "--format=heaptrack"},
    {"export", "@", "--format=massif"},
    {"export", "@", "--format=callgrind"},
    {"dump", "@"},
    {"dump", "@", "--format=jsonl", "--stacks"},
    {"dump", "@", "--format=mmleak", "--from=0.01"},
    {"dump", "@", "--last"},
    {"dump", "@", "--last", "--format=csv"},
    {"report", "@", "--at=0.01", "--format=json"},
    {"report", "@", "--lifetimes"},
    {"report", "@", "--temporary", "--within=1"},
    {"who", "0x7f1cdc000c30", "@"},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int run_command(size_t n, char *path)
{
	const char *const *words = commands[n % COMMANDS];
	static char no_cache[] = "--no-cache", to[] = "-o/dev/null";
	char *argv[10];
	int argc = 0;

	for (size_t i = 0; i < 6 && words[i]; i++) {
		argv[argc] = words[i][0] == '@' ? path : strdup(words[i]);
		if (!argv[argc++])
			abort();
	}
	argv[argc++] = no_cache;
	argv[argc++] = to;
	argv[argc] = NULL;
	if (setjmp(command_end) == 0) {
		const struct cmd *c = cmd_find(argv[0]);

		command_status = c ? c->run(c, argc, argv) : CMD_USAGE;
	}
	return command_status;
}

static bool is_documented(size_t n, int status)
{
	const char *const *words = commands[n % COMMANDS];

	/* it has no reading of pages, or no event log */
	static const char *const needs[] = {
	    "--rss", "--sort=holds", "dump", "--at=0.01", "--lifetimes", "--within=1", "who"};

	for (size_t i = 0; i < 6 && words[i]; i++)
		for (size_t k = 0; k < sizeof(needs) / sizeof(needs[0]); k++)
			if (status == CMD_USAGE && !strcmp(words[i], needs[k]))
				return true;
	if (!strcmp(words[0], "who") && status == 1)
		return true; /* nobody knows the block */
	return status == CMD_OK || status == CMD_INPUT ||
	    (status == CMD_YES && !strcmp(words[0], "check"));
}

/* ---- one case ---- */

/* Everything that can be made of it; the end of the process where not. */
static bool read_case(size_t n, struct whole_file *f)
{
	struct fault where = {""};
	struct session *s;
	bool readable = false;
	int status;

	if (session_load(f->path, &s, &where) == 0) {
		readable = true;
		whole_session(s, WHOLE_ALL, n, n % 4 != 0);
		session_free(s);
	} else if (!where.text[0]) {
		_exit(WORDLESS);
	}
	status = run_command(n, f->path);
	if (!is_documented(n, status)) {
		(void)dprintf(STDERR_FILENO, "%s: status %d\n", commands[n % COMMANDS][0], status);
		_exit(UNKNOWN_STATUS);
	}
	if (!readable && status != CMD_INPUT)
		_exit(UNTOLD);
	return readable;
}

static double seconds_of(const struct rusage *used)
{
	return (double)used->ru_utime.tv_sec + (double)used->ru_stime.tv_sec +
	    (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
}

static void note_cost(struct shared *s, const struct rusage *before, const struct rusage *after)
{
	double seconds = seconds_of(after) - seconds_of(before);

	if (seconds > s->seconds)
		s->seconds = seconds;
	if (after->ru_maxrss > s->memory_kib)
		s->memory_kib = after->ru_maxrss;
	if (after->ru_maxrss > MEMORY_MIB * 1024L)
		_exit(TOO_MUCH);
}

/* The bytes of case n: the same for the same seed and files. */
static void make_case(const struct run *r, size_t n, struct codec_out *ret)
{
	struct chance c = {r->seed + n};
	size_t quota = r->cases / 2 < r->known_sum ? r->cases / 2 : r->known_sum;
	size_t which, i = 0;
	struct shape s;

	if (n < quota) {
		/* all of them, or as many, evenly chosen */
		which = (size_t)((unsigned __int128)n * r->known_sum / quota);
		while (which >= r->known[i])
			which -= r->known[i++];
		shape_copy(&s, &r->seeds[i]);
		(void)twist_known(&s, which);
	} else {
		shape_copy(&s, &r->seeds[chance_below(&c, r->count)]);
		twist_random(&s, &r->seeds[chance_below(&c, r->count)], &c);
	}
	shape_write(&s, ret);
	shape_release(&s);
}

static void show_said(int fd)
{
	char text[4096];
	off_t end = lseek(fd, 0, SEEK_END);
	off_t from = end > 65536 ? end - 65536 : 0;
	ssize_t n;

	(void)fflush(stdout);
	while ((n = pread(fd, text, sizeof(text), from)) > 0) {
		from += n;
		if (write(STDOUT_FILENO, text, (size_t)n) < n)
			break;
	}
}

static void show_bytes(const struct codec_out *bytes)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (bytes->len > BASE64_MAX)
		return;
	(void)printf("# input, base64: ");
	for (size_t i = 0; i < bytes->len; i += 3) {
		size_t left = bytes->len - i;
		uint32_t x = (uint32_t)bytes->bytes[i] << 16;

		x |= left > 1 ? (uint32_t)bytes->bytes[i + 1] << 8 : 0;
		x |= left > 2 ? bytes->bytes[i + 2] : 0u;
		(void)printf("%c%c%c%c", digits[x >> 18], digits[x >> 12 & 63],
		    left > 1 ? digits[x >> 6 & 63] : '=', left > 2 ? digits[x & 63] : '=');
	}
	(void)printf("\n");
}

/* In the child: cases up to `end`, until one goes wrong. */
static _Noreturn void read_cases(const struct run *r, size_t n, size_t end)
{
	const struct itimerval cpu = {{0, 0}, {SECONDS, 0}};
	struct rusage before, after;

	(void)dup2(r->said, STDERR_FILENO);
	for (; n < end; n++) {
		struct codec_out bytes;
		struct whole_file f;

		r->shared->now = n;
		make_case(r, n, &bytes);
		whole_open(&f, bytes.bytes, bytes.len);
		codec_release(&bytes);
		(void)getrusage(RUSAGE_SELF, &before);
		(void)setitimer(ITIMER_PROF, &cpu, NULL);
		(void)alarm(SECONDS * 12); /* asleep, not busy */
		r->shared->readable += read_case(n, &f);
		(void)getrusage(RUSAGE_SELF, &after);
		note_cost(r->shared, &before, &after);
		/* what die() left open, and the input */
		(void)close_range((unsigned)r->said + 1, ~0U, 0);
	}
	_exit(0);
}

static const char *verdict(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM
		    ? "takes too long"
		    : strsignal(WTERMSIG(status));
	switch (WEXITSTATUS(status)) {
	case 0:
		return NULL;
	case TOO_MUCH:
		return "takes too much memory";
	case UNTOLD:
		return "cannot be read, and the command did not say so";
	case WORDLESS:
		return "cannot be read, and nothing says why";
	case UNKNOWN_STATUS:
		return "a status that is not documented";
	default:
		return "a sanitizer, or an exit from inside";
	}
}

static void show_failure(const struct run *r, size_t n, const char *why, int status)
{
	struct codec_out bytes;

	(void)printf("# case %zu: %s (status %#x)\n", n, why, (unsigned)status);
	show_said(r->said);
	make_case(r, n, &bytes);
	show_bytes(&bytes);
	codec_release(&bytes);
}

/* Some cases in one process; gives the number of the next one. */
static size_t judge(const struct run *r, size_t n, size_t end, size_t *failed)
{
	const char *why;
	int status;
	pid_t pid;

	if (ftruncate(r->said, 0) < 0 || lseek(r->said, 0, SEEK_SET) < 0)
		abort();
	(void)fflush(NULL);
	pid = __real_fork();
	if (pid == 0)
		read_cases(r, n, end);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	why = verdict(status);
	if (!why)
		return end;
	if (++*failed <= SHOWN_MAX)
		show_failure(r, r->shared->now, why, status);
	return r->shared->now + 1;
}

/* ---- all of them ---- */

static void add_seed(struct run *r, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct codec_out all = {0};
	uint8_t piece[4096];
	size_t n;

	if (!file || r->count == SEEDS_MAX) {
		(void)fprintf(
		    stderr, "mutations: %s: %s\n", path, file ? "too many files" : strerror(errno));
		_exit(2);
	}
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		codec_put_bytes(&all, piece, n);
	(void)fclose(file);
	if (!shape_parse(&r->seeds[r->count], all.bytes, all.len)) {
		(void)fprintf(stderr, "mutations: %s: neither a recording nor a segment\n", path);
		_exit(2);
	}
	codec_release(&all);
	r->known[r->count] = twist_known_count(&r->seeds[r->count]);
	r->known_sum += r->known[r->count];
	r->count++;
}

static void write_case(const struct run *r, size_t n, const char *path)
{
	FILE *file = fopen(path, "wb");
	struct codec_out bytes;

	make_case(r, n, &bytes);
	if (!file || fwrite(bytes.bytes, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
		perror(path);
	codec_release(&bytes);
}

static void write_seed(const char *dir, const char *fuzzer, size_t file, size_t entry, int first,
    const struct codec_out *content, size_t skip)
{
	char path[4096];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s/%zu-%zu%c", dir, fuzzer, file, entry,
	    first < 0 ? 's' : '0' + first);
	out = fopen(path, "wb");
	if (!out)
		abort();
	if (first >= 0)
		(void)putc(first, out);
	if (content->len > skip)
		(void)fwrite(content->bytes + skip, 1, content->len - skip, out);
	if (fclose(out) != 0)
		abort();
}

/* fuzz_names takes its first byte for what follows: items, or the cache. */
static int write_seeds(const struct run *r, const char *dir)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct shape *s = &r->seeds[i];

		for (size_t k = 0; k < s->count; k++) {
			const struct shape_entry *e = &s->entries[k];
			const struct codec_out *c = &e->content;

			if (s->is_segment)
				write_seed(dir, "fuzz_segment", i, k, -1, c, 0);
			else if (e->type == RECORDING_SEGMENT)
				write_seed(dir, "fuzz_segment", i, k, -1, c,
				    sizeof(struct recording_segment));
			else if (e->type == RECORDING_LINE)
				write_seed(dir, "fuzz_line", i, k, -1, c, 0);
			for (int first = 0; e->type == RECORDING_NAMES && first < 3; first++)
				write_seed(dir, "fuzz_names", i, k, first, c, 0);
		}
	}
	return 0;
}

static int run_all(struct run *r, size_t from, size_t to)
{
	size_t failed = 0;

	r->shared = mmap(
	    NULL, sizeof(*r->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	r->said = memfd_create("said", MFD_CLOEXEC);
	if (r->said < 0 || r->shared == MAP_FAILED)
		abort();
	(void)printf("1..1\n# seed %llu, %zu cases, %zu changes of known "
	             "fields in %zu files\n",
	    (unsigned long long)r->seed, r->cases, r->known_sum, r->count);
	for (size_t n = from; n < to;)
		n = judge(r, n, to - n > BATCH ? n + BATCH : to, &failed);
	(void)printf("# %zu of them could be read; at most %ld MiB, %.2f s\n", r->shared->readable,
	    r->shared->memory_kib / 1024, r->shared->seconds);
	if (failed > 0)
		(void)printf("# again: -n %zu -s %llu -c CASE -w FILE\n", r->cases,
		    (unsigned long long)r->seed);
	(void)printf("%s 1 - %zu of %zu mutations are read or refused\n", failed ? "not ok" : "ok",
	    to - from - failed, to - from);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct run r = {.cases = 10000, .seed = 1};
	size_t only = SIZE_MAX;
	const char *path = NULL, *seeds = NULL;
	int letter;

	while ((letter = getopt(argc, argv, "n:s:c:w:x:")) != -1) {
		if (letter == 'n')
			r.cases = strtoull(optarg, NULL, 10);
		else if (letter == 's')
			r.seed = strtoull(optarg, NULL, 10);
		else if (letter == 'c')
			only = strtoull(optarg, NULL, 10);
		else if (letter == 'w')
			path = optarg;
		else if (letter == 'x')
			seeds = optarg;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		add_seed(&r, argv[i]);
	if (r.count == 0)
		return 2;
	if (seeds)
		return write_seeds(&r, seeds);
	if (only != SIZE_MAX && path)
		write_case(&r, only, path);
	return only == SIZE_MAX ? run_all(&r, 0, r.cases) : run_all(&r, only, only + 1);
}
