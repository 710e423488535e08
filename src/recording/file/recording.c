/* recording.c - reads a recording; docs/RECORDING.md has the bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/recording.h"

#include <sys/file.h>
#include <zstd.h>

#include "recording/file/recording_bytes.h"
#include "kit/os/infile.h"

enum { HEADER_MAX = 4096 };

struct recording {
	int fd;
	uint64_t size;
	uint64_t offset;
	uint64_t entries;
	uint64_t start; /* of the first entry */
	unsigned char *buffer;
	size_t buffer_bytes;
	unsigned char *unpacked;
	size_t unpacked_bytes;
	ZSTD_DCtx *zstd;
	bool ended;
	bool truncated;
	bool resumed; /* some entries were left out */
	/* entries of other types are passed over; 0: none is */
	uint32_t only, also;
	uint32_t without; /* these types are passed over, a bit for each */
};

static int check_file_head(struct recording *b)
{
	struct recording_file_head h;
	int err;

	if (b->size < sizeof(h.magic))
		return -EINVAL;
	memset(&h, 0, sizeof(h));
	err = recording_read_at(b->fd, &h.magic, sizeof(h.magic), 0);
	if (err < 0)
		return err == -ENODATA ? -EINVAL : err;
	if (h.magic != RECORDING_MAGIC)
		return -EINVAL;
	err = recording_read_at(b->fd, &h, sizeof(h), 0);
	if (err < 0)
		return err == -ENODATA ? -EBADMSG : err;
	if (h.version < 1 || h.version > RECORDING_VERSION || h.features != 0)
		return -ENOTSUP;
	if (h.header_bytes < sizeof(h) || h.header_bytes > HEADER_MAX || h.header_bytes % 8 != 0)
		return -EBADMSG;
	b->start = h.header_bytes;
	b->offset = b->start;
	return 0;
}

static int open_file(const char *path, bool is_given, struct recording **ret)
{
	struct recording *b;
	struct stat st;
	int err;

	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->fd = is_given ? infile_open(AT_FDCWD, path) : infile_open_entry(AT_FDCWD, path);
	if (b->fd < 0 || fstat(b->fd, &st) < 0) {
		err = b->fd < 0 ? b->fd : -errno;
		goto out;
	}
	b->size = (uint64_t)st.st_size;
	err = check_file_head(b);
	/*
	 * reading holes takes as long as reading bytes, and holes cost the
	 * author nothing
	 */
	if (err == 0 && !holes_allow(b->fd, 0, b->size, b->size))
		err = -EBADMSG;
	if (err < 0)
		goto out;
	*ret = b;
	return 0;
out:
	recording_close(b);
	return err;
}

int recording_open(const char *path, struct recording **ret)
{
	return open_file(path, true, ret);
}

int recording_open_entry(const char *path, struct recording **ret)
{
	return open_file(path, false, ret);
}

void recording_close(struct recording *b)
{
	if (!b)
		return;
	if (b->fd >= 0)
		close(b->fd);
	ZSTD_freeDCtx(b->zstd);
	free(b->buffer);
	free(b->unpacked);
	free(b);
}

/* 1: all of it was read; 0: the file has become shorter; <0: error. */
static int read_at(struct recording *b, void *to, size_t len, uint64_t offset)
{
	int err = recording_read_at(b->fd, to, len, offset);

	if (err == -ENODATA) {
		b->truncated = true;
		return 0;
	}
	return err < 0 ? err : 1;
}

/* 1: head is an entry that fits the file; 0: it is cut off; <0: damaged. */
static int read_head(struct recording *b, struct recording_entry_head *head)
{
	int got;

	if (b->offset > b->size || b->size - b->offset < sizeof(*head)) {
		b->truncated = true;
		return 0;
	}
	got = read_at(b, head, sizeof(*head), b->offset);
	if (got != 1)
		return got;
	if (recording_crc_of(0, head, RECORDING_HEAD_CRC_BYTES) != head->head_crc)
		return -EBADMSG;
	if (head->length > RECORDING_ENTRY_MAX)
		return -EBADMSG;
	if (b->size - b->offset - sizeof(*head) < head->length) {
		b->truncated = true;
		return 0;
	}
	return 1;
}

static int read_payload(struct recording *b, const struct recording_entry_head *head)
{
	int err, got;

	err = recording_make_room(&b->buffer, &b->buffer_bytes, head->length);
	if (err < 0)
		return err;
	got = read_at(b, b->buffer, head->length, b->offset + sizeof(*head));
	if (got != 1)
		return got;
	if (recording_crc_of(0, b->buffer, head->length) != head->crc)
		return -EBADMSG;
	return 1;
}

/* Bytes behind the end entry were not written by us, so they are an error. */
static int check_end(const struct recording *b, const struct recording_entry_head *head)
{
	struct recording_entry_end end;

	if (head->length < RECORDING_END_V1_BYTES)
		return -EBADMSG;
	memcpy(&end, b->buffer, RECORDING_END_V1_BYTES);
	if (end.file_bytes != b->offset || (end.entries != b->entries && !b->resumed))
		return -EBADMSG;
	if (b->offset + sizeof(*head) + recording_padded(head->length) != b->size)
		return -EBADMSG;
	return 0;
}

static int unpack(struct recording *b, size_t len, const void **ret_bytes, size_t *ret_len)
{
	unsigned long long size = ZSTD_getFrameContentSize(b->buffer, len);
	size_t n;
	int err;

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
	    size > RECORDING_ENTRY_MAX || !recording_may_unpack(len, size))
		return -EBADMSG;
	if (!b->zstd)
		b->zstd = ZSTD_createDCtx();
	if (!b->zstd)
		return -ENOMEM;
	err = recording_make_room(&b->unpacked, &b->unpacked_bytes, (size_t)size);
	if (err < 0)
		return err;
	n = ZSTD_decompressDCtx(b->zstd, b->unpacked, (size_t)size, b->buffer, len);
	if (ZSTD_isError(n) || n != size)
		return -EBADMSG;
	*ret_bytes = b->unpacked;
	*ret_len = n;
	return 1;
}

static void pass_over(struct recording *b, const struct recording_entry_head *head)
{
	b->offset += sizeof(*head) + recording_padded(head->length);
	b->entries++;
}

static bool is_wanted(const struct recording *b, uint32_t type)
{
	if (type == RECORDING_END)
		return true;
	if (b->only)
		return type == b->only || type == b->also;
	return type >= 32 || !(b->without >> type & 1);
}

/* Passes over entries that nobody wants; then as read_head(). */
static int find_next(struct recording *b, struct recording_entry_head *head)
{
	int got;

	if (b->ended || b->truncated)
		return 0;
	while ((got = read_head(b, head)) > 0 && !is_wanted(b, head->type))
		pass_over(b, head);
	return got;
}

int recording_peek(struct recording *b, struct recording_place *ret)
{
	struct recording_entry_head head;
	int got = find_next(b, &head);

	if (got <= 0)
		return got;
	*ret = (struct recording_place){.offset = b->offset,
	    .next = b->offset + sizeof(head) + recording_padded(head.length),
	    .entries = b->entries,
	    .type = head.type,
	    .crc = head.crc};
	return head.type == RECORDING_END ? 0 : 1;
}

void recording_go_to(struct recording *b, const struct recording_place *p)
{
	b->offset = p->offset;
	b->entries = p->entries;
	b->truncated = false;
}

void recording_go_behind(struct recording *b, const struct recording_place *p)
{
	b->offset = p->next;
	b->entries = p->entries + 1;
	b->truncated = false;
}

int recording_next(struct recording *b, uint32_t *ret_type, const void **ret_bytes, size_t *ret_len)
{
	struct recording_entry_head head;
	int err;

	for (;;) {
		err = find_next(b, &head);
		if (err > 0)
			err = read_payload(b, &head);
		if (err <= 0)
			return err;
		if (head.type == RECORDING_END) {
			b->ended = true;
			return check_end(b, &head);
		}
		pass_over(b, &head);
		if ((head.flags & ~(uint32_t)RECORDING_ZSTD) == 0 && head.type != RECORDING_INDEX)
			break;
	}
	*ret_type = head.type;
	if (head.flags & RECORDING_ZSTD)
		return unpack(b, head.length, ret_bytes, ret_len);
	*ret_bytes = b->buffer;
	*ret_len = head.length;
	return 1;
}

void recording_only(struct recording *b, enum recording_type type)
{
	b->only = type;
}

void recording_without(struct recording *b, enum recording_type type)
{
	b->without |= 1u << type;
}

void recording_also(struct recording *b, enum recording_type type)
{
	b->also = type;
}

uint64_t recording_file_bytes(const struct recording *b)
{
	return b->size;
}

void recording_rewind(struct recording *b)
{
	b->offset = b->start;
	b->entries = 0;
	b->ended = false;
	b->truncated = false;
	b->resumed = false;
}

/* Reads the whole entry at an offset into b->buffer and checks it. */
static bool read_entry(struct recording *b, uint64_t offset, uint32_t type, size_t *ret_len)
{
	struct recording_entry_head head;
	struct recording at = *b;
	bool good;

	at.offset = offset;
	good = offset >= b->start && offset % 8 == 0 && read_head(&at, &head) == 1 &&
	    head.type == type && head.flags == 0 && read_payload(&at, &head) == 1;
	b->buffer = at.buffer; /* the file may have been replaced */
	b->buffer_bytes = at.buffer_bytes;
	*ret_len = good ? head.length : 0;
	return good;
}

/*
 * The lowest offset in this index that is above `above`, if it is below *best.
 */
static void look_into_index(
    const struct recording *b, size_t len, uint64_t above, uint64_t *best, uint64_t *ret_previous)
{
	struct recording_index_item item;

	memcpy(ret_previous, b->buffer, sizeof(*ret_previous));
	for (size_t at = 8; at + sizeof(item) <= len; at += sizeof(item)) {
		memcpy(&item, b->buffer + at, sizeof(item));
		if (item.offset > above && item.offset < *best)
			*best = item.offset;
	}
}

bool recording_resume(struct recording *b)
{
	uint64_t end_bytes =
	    sizeof(struct recording_entry_head) + sizeof(struct recording_entry_end);
	uint64_t best = b->size, previous, above = b->offset;
	struct recording_entry_end end;
	size_t len;

	if (b->size < end_bytes || !read_entry(b, b->size - end_bytes, RECORDING_END, &len) ||
	    len < sizeof(end))
		return false;
	memcpy(&end, b->buffer, sizeof(end));
	/* each index lies before the one that names it, so this loop ends */
	for (uint64_t at = end.index; at > above; at = previous) {
		if (at < best)
			best = at;
		if (!read_entry(b, at, RECORDING_INDEX, &len) || len < 8)
			break;
		look_into_index(b, len, above, &best, &previous);
		if (previous >= at)
			break;
	}
	if (best >= b->size)
		return false;
	b->offset = best;
	b->resumed = true;
	b->ended = false;
	return true;
}

bool recording_is_growing(const struct recording *b)
{
	if (flock(b->fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	(void)flock(b->fd, LOCK_UN);
	return false;
}

bool recording_truncated(const struct recording *b)
{
	return b->truncated;
}
