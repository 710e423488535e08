/* test_power.c - a recording after a loss of power, at every write. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/syscall.h>

#include "test.h"
#include "recording/file/recording.h"

/*
 * The calls by which the writer changes the disk are ours here: they are done,
 * and noted. From the notes the file is made again as a disk may have it when
 * the power fails: all that was synced, and of what came after any part, in any
 * order; a length without its bytes reads as zeros.
 */
enum op_kind { OP_WRITE, OP_CUT, OP_SYNC, OP_NAME, OP_SYNC_NAME };

struct op {
	enum op_kind kind;
	uint64_t at; /* offset, or the new length */
	size_t len;
	unsigned char *bytes;
	unsigned entries; /* whole ones when it was done */
};

enum { OPS_MAX = 4096, ENTRIES = 40, NAMES = 3 };

static struct {
	bool on;
	struct op list[OPS_MAX];
	size_t count;
	unsigned entries;
} log_;

static bool is_kind(int fd, mode_t kind)
{
	struct stat st;

	return log_.on && fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static struct op *note(enum op_kind kind)
{
	struct op *o = &log_.list[log_.count++];

	assert_true(log_.count < OPS_MAX);
	*o = (struct op){.kind = kind, .entries = log_.entries};
	return o;
}

ssize_t write(int fd, const void *bytes, size_t len);
int ftruncate(int fd, off_t len) __attribute__((nothrow));
int fsync(int fd);
int linkat(int a, const char *from, int b, const char *to, int flags) __attribute__((nothrow));
int renameat(int a, const char *from, int b, const char *to) __attribute__((nothrow));
int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
    __attribute__((nothrow));

ssize_t write(int fd, const void *bytes, size_t len)
{
	if (is_kind(fd, S_IFREG)) {
		struct op *o = note(OP_WRITE);

		o->at = (uint64_t)lseek(fd, 0, SEEK_CUR);
		o->len = len;
		o->bytes = malloc(len + 1);
		memcpy(o->bytes, bytes, len);
	}
	return syscall(SYS_write, fd, bytes, len);
}

int ftruncate(int fd, off_t len)
{
	if (is_kind(fd, S_IFREG))
		note(OP_CUT)->at = (uint64_t)len;
	return (int)syscall(SYS_ftruncate, fd, len);
}

int fsync(int fd)
{
	if (is_kind(fd, S_IFREG))
		(void)note(OP_SYNC);
	else if (is_kind(fd, S_IFDIR))
		(void)note(OP_SYNC_NAME);
	return 0; /* the disk of the test may be slow */
}

static void note_name(const char *to)
{
	const char *slash = strrchr(to, '/');

	if (log_.on && (slash ? slash[1] : to[0]) != '.')
		(void)note(OP_NAME);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	note_name(to);
	return (int)syscall(SYS_linkat, a, from, b, to, flags);
}

int renameat(int a, const char *from, int b, const char *to)
{
	note_name(to);
	return (int)syscall(SYS_renameat, a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	note_name(to);
	return (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

/* ---- one recording, as record writes it ---- */

static char folder[] = "/tmp/seep-power.XXXXXX";
static char path[64], image[64];
static bool announced;

static void add(struct recording_writer *w, enum recording_type type, unsigned number)
{
	unsigned char body[700];

	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (unsigned char)(number * 7 + i * i % 251);
	memcpy(body, &number, sizeof(number));
	assert_int_equal(recording_append(w, type, body, 4, body + 4, sizeof(body) - 4), 0);
	log_.entries++;
}

static void make_recording(bool named_early)
{
	struct recording_writer *w;

	(void)unlink(path);
	log_.count = 0;
	log_.entries = 0;
	log_.on = true;
	assert_int_equal(recording_create(path, RECORDING_REPLACE, &w), 0);
	for (unsigned i = 0; i < ENTRIES; i++) {
		add(w, RECORDING_LINE, i);
		if (i == 3 && named_early)
			assert_int_equal(recording_publish(w), 0);
	}
	assert_int_equal(recording_checkpoint(w), 0);
	for (unsigned i = 0; i < NAMES; i++)
		add(w, RECORDING_NAMES, ENTRIES + i);
	assert_int_equal(recording_finish(w), 0);
	announced = true;
	log_.on = false;
}

/* ---- the disk after the power came back ---- */

/* Length, bytes, of ops [0, end); those with a bit in `lost` left no bytes. */
static bool make_image(size_t end, const bool *lost)
{
	static unsigned char disk[1 << 20];
	uint64_t len = 0;
	bool named = false;
	int fd;

	memset(disk, 0, sizeof(disk));
	for (size_t i = 0; i < end; i++) {
		const struct op *o = &log_.list[i];

		if (o->kind == OP_NAME)
			named = named || !lost[i];
		if (o->kind == OP_CUT && !lost[i]) {
			memset(disk + o->at, 0, sizeof(disk) - o->at);
			len = o->at;
		}
		if (o->kind != OP_WRITE)
			continue;
		assert_true(o->at + o->len < sizeof(disk));
		if (!lost[i])
			memcpy(disk + o->at, o->bytes, o->len);
		if (o->at + o->len > len)
			len = o->at + o->len;
	}
	fd = open(image, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_write, fd, disk, len), len);
	close(fd);
	return named;
}

/* How many entries it has, in order and intact; is it said to be whole? */
static unsigned read_image(bool *ret_whole)
{
	struct recording *b;
	const void *bytes;
	uint32_t type;
	unsigned n = 0, number;
	size_t len;
	int err = recording_open(image, &b);

	*ret_whole = false;
	if (err < 0)
		return 0;
	while ((err = recording_next(b, &type, &bytes, &len)) == 1) {
		memcpy(&number, bytes, sizeof(number));
		assert_int_equal(number, n);
		n++;
	}
	*ret_whole = err == 0 && !recording_truncated(b);
	recording_close(b);
	return n;
}

/* What a file that is said to be whole has: all but the names, or all. */
static void check_whole(unsigned n)
{
	assert_true(n == ENTRIES || n == ENTRIES + NAMES);
}

TEST(cut_at_every_write)
{
	static const bool none[OPS_MAX];
	bool whole;

	for (int early = 0; early < 2; early++) {
		make_recording(early);
		for (size_t end = 0; end <= log_.count; end++) {
			unsigned n, least = end ? log_.list[end - 1].entries : 0;

			(void)make_image(end, none);
			n = read_image(&whole);
			/* up to the last whole entry, as RECORDING.md says */
			assert_true(n >= least || n >= ENTRIES);
			if (whole)
				check_whole(n);
		}
	}
}

/* Of what was not synced any part is there: never taken for a whole one. */
TEST(lose_any_part_of_what_was_not_synced)
{
	static bool lost[OPS_MAX];
	uint64_t random = 88172645463325252;
	bool whole;

	make_recording(true);
	for (int round = 0; round < 3000; round++) {
		size_t end, synced = 0;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		end = (size_t)(random >> 33) % (log_.count + 1);

		for (size_t i = 0; i < end; i++)
			if (log_.list[i].kind == OP_SYNC)
				synced = i;
		for (size_t i = 0; i < end; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			lost[i] = i >= synced && (random >> 33) % 3 == 0;
		}
		(void)make_image(end, lost);
		if (read_image(&whole), whole)
			check_whole(read_image(&whole));
	}
}

/* Who was told that it is written finds it, whatever was not synced. */
TEST(what_is_announced_is_on_the_disk)
{
	static bool lost[OPS_MAX];
	size_t synced = 0, named = 0;
	bool whole;

	for (int early = 0; early < 2; early++) {
		announced = false;
		make_recording(early);
		assert_true(announced);
		synced = named = 0;
		for (size_t i = 0; i < log_.count; i++) {
			if (log_.list[i].kind == OP_SYNC)
				synced = i;
			if (log_.list[i].kind == OP_SYNC_NAME)
				named = i;
		}
		for (size_t i = 0; i < log_.count; i++)
			lost[i] = log_.list[i].kind == OP_NAME ? i >= named : i >= synced;
		assert_true(make_image(log_.count, lost));
		assert_int_equal(read_image(&whole), ENTRIES + NAMES);
		assert_true(whole);
	}
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/r.seep", folder);
	(void)snprintf(image, sizeof(image), "%s/image", folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	(void)unlink(path);
	(void)unlink(image);
	return rmdir(folder);
}

TEST_GROUP(begin, end);
