/* recording_write.c - writes the recording, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/file.h>
#include <zstd.h>

#include "recording/file/recording.h"
#include "recording/file/recording_bytes.h"
#include "kit/os/outfile.h"

enum { INDEX_ITEMS = 256 }; /* so many entries make one index */

/* The entries that have been written. */
struct state {
	uint64_t offset;
	uint64_t whole; /* the last whole entry ends here */
	uint64_t entries;
	struct recording_index_item index[INDEX_ITEMS]; /* since the last RECORDING_INDEX */
	size_t index_count;
	uint64_t last_index;
};

struct recording_writer {
	struct outfile out;
	int err; /* the first error; all later calls return it */
	struct state now;
	struct state saved; /* without the end of recording_checkpoint() */
	bool has_end;       /* that end is in the file */
	ZSTD_CCtx *zstd;
	unsigned char *packed;
	size_t packed_bytes;
	enum recording_existing existing;
	bool published;              /* the name refers to our file */
	struct recording_place last; /* entry that was appended */
};

/*
 * The lock by which a reader sees that the writer is at work: see
 * recording_is_growing().
 */
static void lock(struct recording_writer *w)
{
	if (!w->out.direct)
		(void)flock(w->out.fd, LOCK_EX | LOCK_NB);
}

static int put(struct recording_writer *w, const void *bytes, size_t len)
{
	if (w->err == 0)
		w->err = write_all(w->out.fd, bytes, len);
	if (w->err == 0)
		w->now.offset += len;
	return w->err;
}

int recording_create(
    const char *path, enum recording_existing existing, struct recording_writer **ret)
{
	struct recording_file_head head = {
	    .magic = RECORDING_MAGIC,
	    .version = RECORDING_VERSION,
	    .header_bytes = sizeof(head),
	};
	struct recording_writer *w;
	int err;

	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->out = (struct outfile){.fd = -1, .dir_fd = -1};
	w->existing = existing;
	err = outfile_open(path, (enum outfile_existing)existing, 0600, &w->out);
	if (err == 0) {
		lock(w);
		err = put(w, &head, sizeof(head));
		w->now.whole = w->now.offset;
	}
	if (err < 0) {
		recording_discard(w);
		return err;
	}
	*ret = w;
	return 0;
}

/*
 * CMD may truncate or write a file that has a name. It would find a file of
 * that name without us, too, so from then on the file is CMD's.
 */
static void check_still_ours(struct recording_writer *w)
{
	struct stat st;

	if (w->err == 0 && w->published && !w->out.direct &&
	    (fstat(w->out.fd, &st) < 0 || (uint64_t)st.st_size != w->now.offset))
		w->err = -ESTALE;
}

static int go_back(struct recording_writer *w)
{
	if (ftruncate(w->out.fd, (off_t)w->saved.offset) < 0 ||
	    lseek(w->out.fd, (off_t)w->saved.offset, SEEK_SET) < 0)
		return -errno;
	w->now = w->saved;
	w->has_end = false;
	return 0;
}

static int write_entry(struct recording_writer *w, uint32_t type, uint32_t flags, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes)
{
	static const unsigned char zeros[8];
	struct recording_entry_head e = {.type = type, .flags = flags};

	e.length = head_bytes + body_bytes;
	e.crc = recording_crc_of(recording_crc_of(0, head, head_bytes), body, body_bytes);
	e.head_crc = recording_crc_of(0, &e, RECORDING_HEAD_CRC_BYTES);
	check_still_ours(w);
	put(w, &e, sizeof(e));
	put(w, head, head_bytes);
	put(w, body, body_bytes);
	put(w, zeros, recording_padded(e.length) - e.length);
	if (w->err == 0) {
		w->last.type = type;
		w->last.crc = e.crc;
		w->last.offset = w->now.whole;
		w->last.next = w->now.offset;
		w->last.entries = w->now.entries;
		w->now.entries++;
		w->now.whole = w->now.offset;
	}
	return w->err;
}

static int write_index(struct recording_writer *w)
{
	uint64_t at = w->now.offset;
	int err;

	err = write_entry(w, RECORDING_INDEX, 0, &w->now.last_index, sizeof(w->now.last_index),
	    w->now.index, w->now.index_count * sizeof(w->now.index[0]));
	if (err < 0)
		return err;
	w->now.last_index = at;
	w->now.index_count = 0;
	return 0;
}

static int append(struct recording_writer *w, uint32_t type, uint32_t flags, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes)
{
	uint64_t at;

	if (w->err == 0 && w->has_end) {
		check_still_ours(w);
		if (w->err == 0)
			w->err = go_back(w);
	}
	if (w->err < 0)
		return w->err;
	if (w->now.index_count == INDEX_ITEMS && write_index(w) < 0)
		return w->err;
	at = w->now.offset;
	if (write_entry(w, type, flags, head, head_bytes, body, body_bytes) < 0)
		return w->err;
	w->now.index[w->now.index_count++] =
	    (struct recording_index_item){.offset = at, .type = type, .flags = flags};
	return 0;
}

int recording_append(struct recording_writer *w, enum recording_type type, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes)
{
	if (w->err == 0 &&
	    (head_bytes > RECORDING_ENTRY_MAX || body_bytes > RECORDING_ENTRY_MAX - head_bytes))
		return -EFBIG; /* nothing written: the file stays sound */
	return append(w, type, 0, head, head_bytes, body, body_bytes);
}

/* Packs head and body as one frame into w->packed. */
static int pack(struct recording_writer *w, const void *head, size_t head_bytes, const void *body,
    size_t body_bytes, int level, size_t *ret_len)
{
	size_t bound = ZSTD_compressBound(head_bytes + body_bytes);
	ZSTD_outBuffer out;
	ZSTD_inBuffer in = {head, head_bytes, 0};
	size_t left;

	if (!w->zstd)
		w->zstd = ZSTD_createCCtx();
	if (!w->zstd || recording_make_room(&w->packed, &w->packed_bytes, bound) < 0)
		return -ENOMEM;
	out = (ZSTD_outBuffer){w->packed, bound, 0};
	(void)ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
	(void)ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
	/*
	 * the frame contains its size, so a reader knows it before it unpacks
	 */
	(void)ZSTD_CCtx_setPledgedSrcSize(w->zstd, head_bytes + body_bytes);
	left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_continue);
	if (ZSTD_isError(left) || in.pos != in.size)
		return -ENOMEM;
	in = (ZSTD_inBuffer){body, body_bytes, 0};
	left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_end);
	if (left != 0)
		return -ENOMEM;
	*ret_len = out.pos;
	return 0;
}

int recording_append_packed(struct recording_writer *w, enum recording_type type, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes, int level)
{
	size_t len;
	int err;

	if (w->err < 0)
		return w->err;
	if (head_bytes > RECORDING_ENTRY_MAX || body_bytes > RECORDING_ENTRY_MAX - head_bytes)
		return -EFBIG;
	err = pack(w, head, head_bytes, body, body_bytes, level, &len);
	if (err < 0)
		return err;
	if (!recording_may_unpack(len, head_bytes + body_bytes))
		return append(w, type, 0, head, head_bytes, body, body_bytes);
	return append(w, type, RECORDING_ZSTD, w->packed, len, NULL, 0);
}

struct recording_place recording_last(const struct recording_writer *w)
{
	return w->last;
}

uint64_t recording_size(const struct recording_writer *w)
{
	return w->now.offset;
}

int recording_clear(struct recording_writer *w)
{
	if (w->published)
		return 0;
	return outfile_clear(&w->out, (enum outfile_existing)w->existing);
}

int recording_publish(struct recording_writer *w)
{
	int err;

	if (w->published || w->out.direct)
		return 0;
	if (w->err < 0)
		return w->err;
	err = outfile_publish(&w->out, (enum outfile_existing)w->existing);
	w->published = err == 0;
	return err;
}

/*
 * CMD may have cleaned up its directory. A file without a name cannot get a new
 * one.
 */
static int copy_to_new_file(struct recording_writer *w)
{
	unsigned char bytes[65536];
	uint64_t at = 0, end = w->now.offset;
	char self[32];
	int from, err = 0;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", w->out.fd);
	from = open(self, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -errno;
	w->published = false;
	err = outfile_renew(&w->out, 0600);
	if (err == 0)
		lock(w);
	w->now.offset = 0;
	while (err == 0 && at < end) {
		size_t n = end - at < sizeof(bytes) ? end - at : sizeof(bytes);

		err = recording_read_at(from, bytes, n, at);
		if (err == 0)
			err = put(w, bytes, n);
		at += n;
	}
	close(from);
	return err;
}

static int write_end(struct recording_writer *w)
{
	struct recording_entry_end end;
	int err = w->err;

	if (err == 0 && w->now.index_count > 0)
		err = write_index(w);
	end = (struct recording_entry_end){
	    .entries = w->now.entries,
	    .file_bytes = w->now.offset,
	    .index = w->now.last_index,
	};
	if (err == 0)
		err = write_entry(w, RECORDING_END, 0, &end, sizeof(end), NULL, 0);
	return err;
}

int recording_checkpoint(struct recording_writer *w)
{
	int err;

	if (w->out.direct || w->err < 0 || w->has_end)
		return w->err;
	w->saved = w->now;
	err = write_end(w);
	w->has_end = err == 0;
	if (err == 0)
		err = recording_publish(w);
	return err;
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG;
}

int recording_rollback(struct recording_writer *w)
{
	int err;

	if (w->saved.offset == 0 || (w->err != 0 && !is_full(w->err)))
		return w->err ? w->err : -EINVAL;
	err = go_back(w);
	if (err == 0)
		w->err = 0;
	return err;
}

int recording_sync(struct recording_writer *w)
{
	int err = w->err < 0 ? w->err : outfile_sync(&w->out);

	if (err == 0 && w->published)
		err = outfile_sync_name(&w->out);
	return err;
}

int recording_recover(struct recording_writer *w)
{
	if (w->err == 0)
		return 0;
	if (!is_full(w->err) || w->out.direct)
		return w->err;
	if (ftruncate(w->out.fd, (off_t)w->now.whole) < 0 ||
	    lseek(w->out.fd, (off_t)w->now.whole, SEEK_SET) < 0)
		return -errno;
	w->now.offset = w->now.whole;
	w->err = 0;
	return 0;
}

void recording_rest(struct recording_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	w->zstd = NULL;
	free(w->packed);
	w->packed = NULL;
	w->packed_bytes = 0;
}

int recording_descriptor(const struct recording_writer *w)
{
	return w->out.fd;
}

const struct outfile *recording_outfile(const struct recording_writer *w)
{
	return &w->out;
}

int recording_finish(struct recording_writer *w)
{
	int err = w->has_end ? w->err : write_end(w);

	if (err == 0 && w->published && !outfile_is_in_place(&w->out))
		err = copy_to_new_file(w);
	/*
	 * First sync the bytes, then the name, so that a caller can rely on
	 * both.
	 */
	if (err == 0)
		err = outfile_sync(&w->out);
	if (err == 0)
		err = recording_publish(w);
	if (err == 0)
		err = outfile_sync_name(&w->out);
	recording_discard(w);
	return err;
}

void recording_discard(struct recording_writer *w)
{
	if (!w)
		return;
	outfile_close(&w->out);
	ZSTD_freeCCtx(w->zstd);
	free(w->packed);
	free(w);
}
