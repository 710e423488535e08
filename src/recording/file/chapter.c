/* chapter.c - writes chapters: recordings that take turns in a folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/chapter.h"

#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "kit/os/clock.h"

enum { TRIES = 100 }; /* of numbers that somebody else takes meanwhile */

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

struct chapter {
	struct chapter_name name;
	char *path; /* in its last form */
	int dir_fd;
	uint64_t began_ns; /* CLOCK_BOOTTIME */
	struct recording_writer *writer;
};

/* ---- what a folder has ---- */

BY(by_number, struct chapter_entry, UP(name.number) ?: strcmp(x->text, y->text))

static int list(DIR *dir, struct chapter_entry **ret, size_t *ret_count)
{
	struct chapter_entry *all = NULL, *to;
	size_t count = 0, room = 0;
	struct chapter_name name;
	struct dirent *e;
	struct stat st;

	while ((e = readdir(dir))) {
		if (!chapter_name_read(e->d_name, &name) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (room_make(&all, &room, count, sizeof(*all)) < 0) {
			free(all);
			return -ENOMEM;
		}
		to = &all[count++];
		*to = (struct chapter_entry){
		    .name = name, .bytes = (uint64_t)st.st_blocks * 512, .changed_s = st.st_mtime};
		chapter_name_write(&name, to->text); /* the same */
	}
	if (count > 1)
		qsort(all, count, sizeof(*all), by_number);
	*ret = all;
	*ret_count = count;
	return 0;
}

static int list_at(int dir_fd, struct chapter_entry **ret, size_t *ret_count)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	err = list(dir, ret, ret_count);
	(void)closedir(dir);
	return err;
}

int chapter_list(const char *folder, struct chapter_entry **ret, size_t *ret_count)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = list_at(fd, ret, ret_count);
	close(fd);
	return err;
}

/* ---- writing ---- */

static int next_number(int dir_fd, uint64_t *ret)
{
	struct chapter_entry *all = NULL;
	size_t count = 0;
	int err = list_at(dir_fd, &all, &count);

	if (err < 0)
		return err;
	*ret = count ? all[count - 1].name.number + 1 : 1;
	free(all);
	return 0;
}

/* The file with the name that the chapter has while it is written. */
static int create(struct chapter *c, const char *folder)
{
	char text[CHAPTER_NAME_BYTES], *part;
	struct stat st;
	int err;

	c->name.is_part = false;
	chapter_name_write(&c->name, text);
	if (fstatat(c->dir_fd, text, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	free(c->path);
	if (asprintf(&c->path, "%s/%s", folder, text) < 0) {
		c->path = NULL;
		return -ENOMEM;
	}
	c->name.is_part = true;
	chapter_name_write(&c->name, text);
	if (asprintf(&part, "%s/%s", folder, text) < 0)
		return -ENOMEM;
	err = recording_create(part, RECORDING_REFUSE, &c->writer);
	free(part);
	return err;
}

int chapter_begin(const char *folder, uint64_t start_ns, struct chapter **ret)
{
	struct chapter *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->name.start_s = (int64_t)(start_ns / S);
	c->began_ns = clock_ns(CLOCK_BOOTTIME);
	c->dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir_fd < 0)
		err = -errno;
	if (err == 0)
		err = next_number(c->dir_fd, &c->name.number);
	if (err == 0)
		err = create(c, folder);
	for (int i = 0; err == -EEXIST && i < TRIES; i++) {
		c->name.number++;
		err = create(c, folder);
	}
	if (err < 0) {
		chapter_discard(c);
		return err;
	}
	*ret = c;
	return 0;
}

struct recording_writer *chapter_writer(const struct chapter *c)
{
	return c->writer;
}

const char *chapter_path(const struct chapter *c)
{
	return c->path;
}

uint64_t chapter_number(const struct chapter *c)
{
	return c->name.number;
}

bool chapter_is_full(const struct chapter *c, const struct chapter_limits *limits)
{
	uint64_t past_ns = clock_ns(CLOCK_BOOTTIME) - c->began_ns;

	return (limits->ns && past_ns >= limits->ns) ||
	    (limits->bytes && past_ns >= limits->least_ns &&
	        recording_size(c->writer) >= limits->bytes);
}

int chapter_wait_ms(const struct chapter *c, const struct chapter_limits *limits)
{
	uint64_t past_ns = clock_ns(CLOCK_BOOTTIME) - c->began_ns, ms;

	if (!limits->ns)
		return INT_MAX;
	if (past_ns >= limits->ns)
		return 0;
	ms = (limits->ns - past_ns) / MS + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int chapter_finish(struct chapter *c)
{
	char part[CHAPTER_NAME_BYTES], done[CHAPTER_NAME_BYTES];
	int err;

	chapter_name_write(&c->name, part);
	c->name.is_part = false;
	chapter_name_write(&c->name, done);
	err = recording_finish(c->writer);
	c->writer = NULL;
	/* the number is ours, so nobody else has this name */
	if (err == 0 && renameat2(c->dir_fd, part, c->dir_fd, done, RENAME_NOREPLACE) < 0 &&
	    (errno != EINVAL || renameat(c->dir_fd, part, c->dir_fd, done) < 0))
		err = -errno;
	if (err == 0 && fsync(c->dir_fd) < 0 && errno != EINVAL)
		err = -errno;
	chapter_discard(c);
	return err;
}

void chapter_discard(struct chapter *c)
{
	if (!c)
		return;
	recording_discard(c->writer);
	if (c->dir_fd >= 0)
		close(c->dir_fd);
	free(c->path);
	free(c);
}

/* ---- chapter_name: the names of chapters: the recordings of a history ---- */

/* 0000-01-01 and 9999-12-31T23:59:59: a year has four digits. */
#define FIRST_S (-INT64_C(62167219200))
#define LAST_S  INT64_C(253402300799)

enum { NUMBER_MIN = 4, NUMBER_MAX = 18 };

void chapter_name_write(const struct chapter_name *name, char text[CHAPTER_NAME_BYTES])
{
	time_t at = name->start_s < FIRST_S ? FIRST_S
	    : name->start_s > LAST_S        ? LAST_S
	                                    : name->start_s;
	struct tm t = {0};

	(void)gmtime_r(&at, &t);
	/* the remainders say to the compiler how many digits there are */
	(void)snprintf(text, CHAPTER_NAME_BYTES, "%04d%02d%02dT%02d%02d%02dZ-%04" PRIu64 "%s",
	    (t.tm_year + 1900) % 10000, (t.tm_mon + 1) % 100, t.tm_mday % 100, t.tm_hour % 100,
	    t.tm_min % 100, t.tm_sec % 100, name->number % UINT64_C(1000000000000000000),
	    name->is_part ? CHAPTER_NAME_PART : CHAPTER_NAME_DONE);
}

static bool read_digits(const char **at, size_t count, uint64_t *ret)
{
	*ret = 0;
	for (; count > 0; count--, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(**at - '0');
	}
	return true;
}

static bool read_time(const char **at, int64_t *ret_s)
{
	static const size_t digits[] = {4, 2, 2, 2, 2, 2};
	static const char after[] = {0, 0, 'T', 0, 0, 'Z'};
	uint64_t part[6];
	struct tm t = {0};

	for (int i = 0; i < 6; i++) {
		if (!read_digits(at, digits[i], &part[i]))
			return false;
		if (after[i] && *(*at)++ != after[i])
			return false;
	}
	t.tm_year = (int)part[0] - 1900;
	t.tm_mon = (int)part[1] - 1;
	t.tm_mday = (int)part[2];
	t.tm_hour = (int)part[3];
	t.tm_min = (int)part[4];
	t.tm_sec = (int)part[5];
	*ret_s = timegm(&t);
	return true;
}

bool chapter_name_read(const char *text, struct chapter_name *ret)
{
	char again[CHAPTER_NAME_BYTES];
	struct chapter_name name = {0};
	const char *at = text;
	size_t digits;

	if (strnlen(text, CHAPTER_NAME_BYTES) == CHAPTER_NAME_BYTES ||
	    !read_time(&at, &name.start_s) || *at++ != '-')
		return false;
	digits = strspn(at, "0123456789");
	if (digits < NUMBER_MIN || digits > NUMBER_MAX || !read_digits(&at, digits, &name.number))
		return false;
	name.is_part = strcmp(at, CHAPTER_NAME_PART) == 0;
	/* 20261332T... is no time: written again it would differ */
	chapter_name_write(&name, again);
	if (strcmp(again, text) != 0)
		return false;
	*ret = name;
	return true;
}
