/* baseline.c - leaks that are known and accepted, kept in a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/baseline.h"

#include "kit/data/room.h"
#include "view/stacks/fingerprint.h"
#include "view/sites/enum_words.h"
#include "kit/os/infile.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

#define MAGIC "seep-baseline "

enum {
	MAX_ITEMS = 1 << 22, /* lines of a file; a line has 20 bytes or more */
	MAX_LINE_BYTES = 64 << 10,
};

void baseline_release(struct baseline *b)
{
	for (size_t i = 0; i < b->count; i++)
		free(b->items[i].text);
	free(b->items);
	*b = (struct baseline){0};
}

static int append(struct baseline *b, const struct baseline_item *fresh)
{
	if (room_make(&b->items, &b->room, b->count, sizeof(*b->items)) < 0)
		return -ENOMEM;
	b->items[b->count++] = *fresh;
	return 0;
}

int baseline_add(struct baseline *b, const struct baseline_item *item)
{
	struct baseline_item copy = *item;
	int err;

	copy.text = strdup(item->text);
	err = copy.text ? append(b, &copy) : -ENOMEM;
	if (err < 0)
		free(copy.text);
	return err;
}

BY(by_hash, struct baseline_item, UP(hash) ?: strcmp(x->text, y->text))

/* Combines entries that have the same fingerprint. */
void baseline_sort(struct baseline *b)
{
	size_t kept = 0;

	if (b->count == 0)
		return;
	qsort(b->items, b->count, sizeof(*b->items), by_hash);
	for (size_t i = 1; i < b->count; i++) {
		struct baseline_item *to = &b->items[kept];
		const struct baseline_item *from = &b->items[i];

		if (from->hash != to->hash) {
			b->items[++kept] = *from;
			continue;
		}
		to->bytes = capped_sum(to->bytes, from->bytes);
		to->blocks = capped_sum(to->blocks, from->blocks);
		to->variance += from->variance;
		free(from->text);
	}
	b->count = kept + 1;
}

static int compare_hash(const void *key, const void *item)
{
	uint64_t a = *(const uint64_t *)key;
	uint64_t b = ((const struct baseline_item *)item)->hash;

	return (a > b) - (a < b);
}

struct baseline_item *baseline_find(const struct baseline *b, uint64_t hash)
{
	if (b->count == 0)
		return NULL;
	return bsearch(&hash, b->items, b->count, sizeof(*b->items), compare_hash);
}

/* ---- files ---- */

/* Reads a number at *at, and the blank after it. */
static bool number(char **at, int base, uint64_t *ret)
{
	char *end;

	if (!strchr("0123456789abcdef", **at) || **at == '\0')
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, base);
	if (errno != 0 || (*end != ' ' && *end != '\0'))
		return false;
	*at = *end == ' ' ? end + 1 : end;
	return true;
}

static int parse_line(struct baseline *b, char *line)
{
	struct baseline_item item = {0};

	if (strcspn(line, " ") != 16 || !number(&line, 16, &item.hash) ||
	    !number(&line, 10, &item.bytes) || !number(&line, 10, &item.blocks))
		return -EBADMSG;
	if (b->count >= MAX_ITEMS)
		return -EFBIG;
	item.text = line;
	return baseline_add(b, &item);
}

static int check_magic(const char *line, const char *path, struct fault *where)
{
	char *end;

	if (strncmp(line, MAGIC, strlen(MAGIC)) != 0)
		return fault_set(where, -EBADMSG,
		    "%s:1: not a baseline of seep (make one with "
		    "--write-baseline)",
		    path);
	if (strtoul(line + strlen(MAGIC), &end, 10) != FINGERPRINT_VERSION || *end != '\0')
		return fault_set(where, -ENOTSUP,
		    "%s:1: this baseline was written by another version of "
		    "seep; write a new one with --write-baseline",
		    path);
	return 0;
}

/*
 * Reads one line without its end. False: there are no more, or *ret_err is
 * -EBADMSG.
 */
static bool next_line(FILE *in, char *line, int *ret_err)
{
	size_t n;

	if (!fgets(line, MAX_LINE_BYTES, in))
		return false;
	n = strlen(line);
	if (n == 0 || (line[n - 1] != '\n' && !feof(in)))
		*ret_err = -EBADMSG; /* it contains a NUL, or is too long */
	while (n > 0 && strchr("\r\n", line[n - 1]))
		line[--n] = '\0';
	return true;
}

static int load(struct baseline *b, FILE *in, const char *path, struct fault *where)
{
	char *line = malloc(MAX_LINE_BYTES);
	unsigned count = 0;
	int err = line ? 0 : -ENOMEM;

	while (err == 0 && next_line(in, line, &err)) {
		if (++count == 1)
			err = check_magic(line, path, where);
		else if (err == 0 && line[0] != '\0' && line[0] != '#')
			err = parse_line(b, line);
		if (err == -EBADMSG && count > 1)
			(void)fault_set(where, err,
			    "%s:%u: a line has a fingerprint of 16 digits, "
			    "bytes, blocks and a text",
			    path, count);
	}
	free(line);
	if (err == 0 && ferror(in))
		return fault_set(where, -EIO, "%s: cannot be read", path);
	if (err == 0 && count == 0)
		return fault_set(where, -EBADMSG, "%s: it is empty", path);
	if (err == -ENOMEM || err == -EFBIG)
		return fault_set(where, err, "%s: %s", path, strerror(-err));
	return err;
}

int baseline_load(struct baseline *b, const char *path, struct fault *where)
{
	int err, fd = infile_open_text(path);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (!in)
		return fault_set(where, fd < 0 ? fd : -errno, "%s: %s", path,
		    fd == -EINVAL ? "not a file" : strerror(fd < 0 ? -fd : errno));
	err = load(b, in, path, where);
	(void)fclose(in);
	baseline_sort(b);
	return err;
}

static int by_text(const void *a, const void *b)
{
	const struct baseline_item *x = *(struct baseline_item *const *)a;
	const struct baseline_item *y = *(struct baseline_item *const *)b;
	int order = strcmp(x->text, y->text);

	return order ? order : by_hash(x, y);
}

void baseline_write(FILE *out, const struct baseline *b, const char *const *notes)
{
	struct baseline_item **order = calloc(b->count + 1, sizeof(struct baseline_item *));

	(void)fprintf(out, MAGIC "%d\n", FINGERPRINT_VERSION);
	for (; *notes; notes++)
		(void)fprintf(out, "# %s\n", *notes);
	for (size_t i = 0; order && i < b->count; i++)
		order[i] = &b->items[i];
	/* without memory for sorting, any order will do */
	if (order)
		qsort(order, b->count, sizeof(struct baseline_item *), by_text);
	for (size_t i = 0; i < b->count; i++) {
		const struct baseline_item *item = order ? order[i] : &b->items[i];

		(void)fprintf(out, "%016" PRIx64 " %" PRIu64 " %" PRIu64 " ", item->hash,
		    item->bytes, item->blocks);
		text_print(out, item->text);
		(void)putc('\n', out);
	}
	free(order);
}
