/* snap.c - a copy of this process's segment, as a file of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapshot/snap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/snapshot/mark.h"
#include "collector/segment/mem.h"
#include "collector/snapshot/snapfile.h"
#include "collector/segment/tick.h"
#include "format/rows.h"
#include "format/seg_tables.h"

enum {
	RUNS = 4, /* stretches of one extent, at most */
	OUT_BYTES = 64 << 10,
	NEW_EXTENTS = 4096, /* that may be added while we write */
	PEAK_TRIES = 3,
	LIMIT_MIN = 2,
	GIVE_MAX = 16, /* older ones that are removed to make room for one */
	ARRAYS = SEG_ARRAYS + SEG_MORE_COUNT + 2, /* with those of pools and of mappings */
};

/* All that one snapshot needs; too large for the stack of a handler. */
struct snap {
	struct snapfile file;
	struct segment_table *tables[SNAP_TABLES];
	size_t table_count;
	uint64_t at; /* next byte of the file, not counting the bytes in `out` */
	uint32_t out_used;
	uint32_t entry_count, entry_room;
	int err; /* the first error; it stays */
	struct seg_header header;
	uint8_t uuid[16]; /* the header of a forked child may move meanwhile */
	uint8_t out[OUT_BYTES] __attribute__((aligned(8)));
	/* of one stretch of ids: the tables that have it, and their rows */
	const struct segment_table *from[ARRAYS];
	uint8_t rows[ARRAYS][SEG_EXTENT_STEP] __attribute__((aligned(8)));
	uint8_t again[SEG_EXTENT_STEP];
	struct seg_extent entries[];
};

static uint32_t numbers; /* given out */
static uint32_t written; /* or being written */
static uint32_t limit;
static snap_tables_fn *all_tables;

void snap_start(uint32_t most, snap_tables_fn *tables)
{
	all_tables = tables;
	numbers = 0;
	written = 0;
	limit = most;
	snapthin_start(most, config.snapshot_bytes);
}

/* ---- bytes --------------------------------------------------------------- */

static void flush(struct snap *s)
{
	if (!s->err)
		s->err = snapfile_write(&s->file, s->at, s->out, s->out_used);
	s->at += s->out_used;
	s->out_used = 0;
}

static void put(struct snap *s, const void *bytes, uint64_t len)
{
	const uint8_t *from = bytes;

	while (len) {
		uint64_t n = OUT_BYTES - s->out_used;

		if (n > len)
			n = len;
		memcpy(s->out + s->out_used, from, n);
		s->out_used += (uint32_t)n;
		from += n;
		len -= n;
		if (s->out_used == OUT_BYTES)
			flush(s);
	}
}

static void align(struct snap *s)
{
	static const uint64_t zeros;

	put(s, &zeros, -(s->at + s->out_used) & 7);
}

/* The rows in use of one extent, and their entries in the directory. */
static void put_rows(
    struct snap *s, const struct segment_table *t, uint64_t chunk, const uint8_t *rows)
{
	uint32_t count = 1u << t->rows_bits;
	uint32_t i, end, run = 0;

	for (i = 0; i < count; i = end) {
		const uint8_t *row = rows + (uint64_t)i * t->row_bytes;

		end = i + 1;
		if (rows_is_zero(row, t->row_bytes))
			continue;
		end = ++run == RUNS ? count : rows_end_of_run(rows, count, t->row_bytes, i);
		if (s->entry_count == s->entry_room) {
			s->err = s->err ? s->err : -E2BIG;
			return;
		}
		s->entries[s->entry_count++] = (struct seg_extent){
		    .kind = t->kind,
		    .owner = t->owner,
		    .row_bytes = t->row_bytes,
		    .count = end - i,
		    .first = t->first + (chunk << t->rows_bits) + i,
		    .offset = s->at + s->out_used,
		};
		put(s, row, (uint64_t)(end - i) * t->row_bytes);
		align(s);
	}
}

/* ---- tables -------------------------------------------------------------- */

/*
 * One stretch of ids in all arrays of the ledger. It is read twice, and the
 * second reading replaces everything but the frees. If the first reading saw a
 * free, its allocation was stored before, so the second reading sees the
 * allocation.
 */
static void put_stretch(struct snap *s, uint64_t chunk)
{
	const struct segment_table **from = s->from;
	uint32_t n = 0, i, k;
	size_t at;

	for (at = 0; at < s->table_count && n < ARRAYS; at++) {
		const struct segment_table *t = s->tables[at];
		const uint8_t *rows;

		if (t->kind != SEG_EXT_LEDGER || !t->chunks ||
		    chunk >= LOAD_ACQUIRE(&t->chunk_high))
			continue;
		rows = LOAD_ACQUIRE(&t->chunks[chunk]);
		if (!rows)
			continue;
		memcpy(s->rows[n], rows, SEG_EXTENT_STEP);
		from[n++] = t;
	}
	cpu_order_loads();
	for (i = 0; i < n; i++) {
		struct seg_row *row = (struct seg_row *)(void *)s->rows[i];
		const struct seg_row *now = (const struct seg_row *)(void *)s->again;

		memcpy(s->again, LOAD(&from[i]->chunks[chunk]), SEG_EXTENT_STEP);
		for (k = 0; k < SEG_EXTENT_STEP / sizeof(*row); k++)
			rows_read_again(&row[k], &now[k]);
	}
	for (i = 0; i < n; i++)
		put_rows(s, from[i], chunk, s->rows[i]);
}

static void put_ledger(struct snap *s)
{
	uint64_t chunk, high = 0;
	size_t i;

	for (i = 0; i < s->table_count; i++) {
		const struct segment_table *t = s->tables[i];

		if (t->kind == SEG_EXT_LEDGER && LOAD(&t->chunk_high) > high)
			high = LOAD(&t->chunk_high);
	}
	for (chunk = 0; chunk < high && !s->err; chunk++)
		put_stretch(s, chunk);
}

/* Writes header and ledger, and again if the peak has moved meanwhile. */
static void put_peak_and_ledger(struct snap *s)
{
	const struct seg_header *h = segment.header;
	int i;

	for (i = 0; i < PEAK_TRIES && !s->err; i++) {
		s->at = SEG_HEADER_BYTES;
		s->out_used = 0;
		s->entry_count = 0;
		memcpy(&s->header, h, sizeof(s->header));
		put_ledger(s);
		if (LOAD_ACQUIRE(&h->peak_epoch) == s->header.peak_epoch &&
		    LOAD(&h->peak_bytes) == s->header.peak_bytes) {
			s->header.peak_flags = 0;
			return;
		}
		s->header.peak_flags = SEG_PEAK_MOVED;
	}
}

static void put_table(struct snap *s, const struct segment_table *t)
{
	uint64_t chunk, high = t->chunks ? LOAD_ACQUIRE(&t->chunk_high) : 0;

	for (chunk = 0; chunk < high && !s->err; chunk++) {
		const uint8_t *rows = LOAD_ACQUIRE(&t->chunks[chunk]);

		if (!rows)
			continue;
		memcpy(s->again, rows, (size_t)t->row_bytes << t->rows_bits);
		put_rows(s, t, chunk, s->again);
	}
}

/* All but the ledger, which put_ledger() has written. */
static void put_tables(struct snap *s)
{
	uint32_t k;
	size_t i;

	for (k = 0; k < TABLES_COUNT; k++) {
		for (i = 0; i < s->table_count && !s->err; i++) {
			if (s->tables[i]->kind == tables_kind(k) &&
			    tables_kind(k) != SEG_EXT_LEDGER)
				put_table(s, s->tables[i]);
		}
	}
}

/* ---- the whole ----------------------------------------------------------- */

static void put_directory(struct snap *s)
{
	struct seg_header *h = &s->header;

	h->dir_offset = s->at + s->out_used;
	h->dir_capacity = s->entry_count;
	h->dir_used = s->entry_count;
	put(s, s->entries, s->entry_count * sizeof(struct seg_extent));
	flush(s);
	h->total_bytes = s->at;
	h->used_bytes = s->at;
	h->slots_offset = 0;
	h->slot_bytes = 0;
	h->slot_count = 0;
	h->slot_index = UINT32_MAX;
	h->live_root = 0; /* addresses in a process that may be gone */
	h->spill_root = 0;
}

/* The file becomes a snapshot when its header is written. */
static void put_header(struct snap *s, const char *label, enum seg_snapshot reason)
{
	struct seg_header *h = &s->header;

	if (reason != SEG_SNAPSHOT_NONE) {
		h->snapshot_reason = reason;
		h->snapshot_number = s->file.number;
		h->snapshot_realtime_ns = tick_realtime(true);
		mark_copy_label(h->snapshot_label, sizeof(h->snapshot_label), label);
	}
	if (!s->err)
		s->err = snapfile_write(&s->file, 0, h, sizeof(*h));
}

static struct snapthin thin_of(struct snap *s)
{
	return (struct snapthin){
	    .file = &s->file, .uuid = s->uuid, .buffer = s->out, .buffer_bytes = sizeof(s->out)};
}

/* The largest size that it can have; rows of zeros will be left out. */
static uint64_t most_bytes(void)
{
	return SEG_HEADER_BYTES + LOAD(&segment.used) - segment.layout.first +
	    sizeof(struct seg_extent) * RUNS * LOAD(&segment.dir_used);
}

/* If there is no room, removes older snapshots. */
static int find_room(struct snap *s)
{
	const struct snapthin thin = thin_of(s);
	uint64_t missing;
	int i;

	for (i = 0; i <= GIVE_MAX; i++) {
		missing = snapfile_missing(&s->file, most_bytes());
		if (!missing)
			return 0;
		if (i == GIVE_MAX || !snapthin_give(&thin, missing))
			break;
	}
	return -ENOSPC;
}

static int write_file(struct snap *s, const char *label, enum seg_snapshot reason)
{
	int err = find_room(s);

	if (!err)
		err = snapfile_create(&s->file);
	if (err)
		return err;
	s->table_count = all_tables(s->tables);
	put_peak_and_ledger(s);
	put_tables(s);
	put_directory(s);
	put_header(s, label, reason);
	if (s->err) {
		snapfile_discard(&s->file);
		return s->err;
	}
	return snapfile_publish(&s->file);
}

/* Gives the file a number, and opens the directory until it is closed. */
static int write_one(struct snap *s, const char *label, enum seg_snapshot reason)
{
	const bool is_segment = reason == SEG_SNAPSHOT_NONE;
	uint32_t number = is_segment ? 0 : ADD(&numbers, 1) + 1;
	struct snapthin thin = thin_of(s);
	int err;

	s->file.is_segment = is_segment;
	memcpy(s->uuid, segment.header->uuid, sizeof(s->uuid));
	s->file.number = number;
	s->file.pid = segment.header->pid;
	if (!s->file.pid)
		s->file.pid = (uint32_t)cpu_syscall3(SYS_getpid, 0, 0, 0);
	err = snapfile_open(&s->file);
	if (!err) {
		err = write_file(s, label, reason);
		if (!err && !is_segment)
			snapthin_added(&thin, s->at);
		snapfile_close(&s->file);
	}
	/* a failure leaves no gap, unless another snapshot has begun since */
	if (err && !is_segment)
		CAS(&numbers, &number, number - 1);
	return err;
}

static int take(const char *label, enum seg_snapshot reason)
{
	uint64_t extents = LOAD(&segment.dir_used) + NEW_EXTENTS;
	uint64_t bytes = sizeof(struct snap) + extents * RUNS * sizeof(struct seg_extent);
	struct snap *s = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err;

	if (sys_failed(s))
		return -ENOMEM;
	own_memory_add(s, bytes, OWN_MEMORY_FOR_NOW);
	s->entry_room = (uint32_t)(extents * RUNS);
	err = write_one(s, label, reason);
	if (!err)
		err = (int)s->file.number;
	own_memory_remove(s, bytes);
	sys_munmap(s, bytes);
	return err;
}

/*
 * A handler that leaves by siglongjmp, or a cancellation, would leave our
 * descriptor open. So signals are blocked, except those that a fault of this
 * thread or a sandbox raises.
 */
static uint64_t hold_signals(void)
{
	static const uint8_t faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	uint64_t all = ~UINT64_C(0), old = 0;
	size_t i;

	for (i = 0; i < sizeof(faults); i++)
		all &= ~(UINT64_C(1) << (faults[i] - 1));
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof(old));
	return old;
}

int snap_take(const char *label, enum seg_snapshot reason)
{
	uint64_t signals;
	int err;

	/* with a limit of 0 or 1 nothing is removed, so more are refused */
	if (ADD(&written, 1) >= limit && limit < LIMIT_MIN) {
		ADD(&written, (uint32_t)-1);
		segment_count(SEG_SNAPSHOTS_REFUSED, 1);
		return -EDQUOT;
	}
	tick_read();
	mark_put(SEG_MARK_TAKEN, label);
	signals = hold_signals();
	err = take(label, reason);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&signals, 0, sizeof(signals));
	if (err > 0) {
		segment_count(SEG_SNAPSHOTS, 1);
		return err;
	}
	ADD(&written, (uint32_t)-1);
	STORE(&segment.header->snapshot_error, (uint32_t)-err);
	segment_count(SEG_SNAPSHOTS_FAILED, 1);
	return err;
}

int snap_write_segment(void)
{
	uint64_t signals = hold_signals();
	int err = take("", SEG_SNAPSHOT_NONE);

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&signals, 0, sizeof(signals));
	return err;
}
