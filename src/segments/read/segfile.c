/* segfile.c - a segment file: one process, and forked children in slots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/segfile.h"

#include "base/hash.h"
#include "format/seg_log.h"
#include "host/memory/foreign_ask.h"
#include "kit/words/text.h"

enum { LINES_AT_ONCE = 512 };

struct segfile {
	struct source source;
	uint64_t own_limit;  /* bytes of the own segment */
	uint64_t slots_at;   /* of struct seg_slots */
	uint64_t first_slot; /* of slot 0 */
	uint64_t large_bytes, small_bytes;
	uint64_t large_count, slot_count;
	uint64_t early_at; /* of line 0 */
	uint64_t early_count;
	struct seg_header own; /* values that children have from their parent */
};

/* How many of at most `count` slots of this size fit into *room. */
static uint64_t fit_slots(uint64_t *room, uint64_t count, uint64_t bytes)
{
	uint64_t n;

	if (count == 0 || bytes < SEG_HEADER_BYTES || bytes % 8 != 0)
		return 0;
	n = *room / bytes < count ? *room / bytes : count;
	*room -= n * bytes;
	return n;
}

/*
 * Slots that are out of bounds are ignored; the file's own segment still
 * counts.
 */
static void find_slots(struct segfile *f, const struct seg_header *h)
{
	struct seg_slots slots;
	uint64_t room;

	if (h->slots_offset == 0 || h->slots_offset % 8 != 0)
		return;
	if (source_read(&f->source, h->slots_offset, &slots, sizeof(slots)) < 0)
		return;
	room = f->source.size - h->slots_offset; /* read above: not negative */
	if (slots.magic != SEG_SLOT_MAGIC || slots.count > SEG_SLOTS ||
	    slots.large_count > slots.count || slots.first_offset < sizeof(slots) ||
	    slots.first_offset > room)
		return;
	room -= slots.first_offset;
	f->slots_at = h->slots_offset;
	f->first_slot = h->slots_offset + slots.first_offset;
	f->large_bytes = slots.slot_bytes;
	f->small_bytes = slots.small_bytes;
	f->large_count = fit_slots(&room, slots.large_count, slots.slot_bytes);
	f->slot_count = f->large_count;
	if (f->large_count == slots.large_count) /* else the file is cut */
		f->slot_count +=
		    fit_slots(&room, slots.count - slots.large_count, slots.small_bytes);
	f->own_limit = h->slots_offset;
	if (slots.early_offset >= sizeof(slots) && slots.early_offset % 8 == 0 &&
	    slots.early_count <= SEG_EARLY &&
	    slots.early_offset + slots.early_count * sizeof(struct seg_early) <=
	        slots.first_offset) {
		f->early_at = h->slots_offset + slots.early_offset;
		f->early_count = slots.early_count;
	}
}

static int segfile_new(const struct source *source, struct segfile **ret, struct fault *where)
{
	struct seg_header h;
	struct segfile *f;
	int err;

	err = segment_copy_read_header(source, 0, source->size, &h, where);
	if (err < 0)
		return err;
	f = calloc(1, sizeof(*f));
	if (!f)
		return fault_set(where, -ENOMEM, "out of memory");
	f->source = *source;
	f->own_limit = source->size;
	f->own = h;
	find_slots(f, &h);
	*ret = f;
	return 0;
}

static const char *why_not_open(int err)
{
	switch (err) {
	case -EINVAL:
		return "not a regular file";
	case -ELOOP:
		return "a symbolic link of another user, or too many of them";
	case -ETIMEDOUT:
		return "its file system does not answer";
	case -EREMOTE:
		return "it is on a file system on which no collector writes";
	default:
		return strerror(-err);
	}
}

/* The source has been opened, or not; the segfile owns it from here on. */
static int segfile_take(int err, struct source *source, struct segfile **ret, struct fault *where)
{
	if (err < 0)
		return fault_set(where, err, "%s", why_not_open(err));
	err = segfile_new(source, ret, where);
	if (err < 0)
		source_release(source);
	return err;
}

int segfile_open(int dir, const char *path, struct segfile **ret, struct fault *where)
{
	struct source source;
	int err = source_open(dir, path, &source);

	return segfile_take(err, &source, ret, where);
}

int segfile_open_entry(const char *path, struct segfile **ret, struct fault *where)
{
	struct source source;
	int err = source_open_entry(path, &source);

	return segfile_take(err, &source, ret, where);
}

int segfile_open_of(pid_t pid, const char *path, struct segfile **ret, struct fault *where)
{
	struct source source;
	int err = foreign_file_open(pid, path, &source);

	return segfile_take(err, &source, ret, where);
}

int segfile_open_bytes(const void *bytes, size_t len, struct segfile **ret, struct fault *where)
{
	struct source source;

	source_memory(bytes, len, &source);
	return segfile_new(&source, ret, where);
}

void segfile_close(struct segfile *f)
{
	if (!f)
		return;
	source_release(&f->source);
	free(f);
}

const struct source *segfile_source(const struct segfile *f)
{
	return &f->source;
}

struct live_key segfile_key(const struct segfile *f, int slot, const uint8_t uuid[16])
{
	struct live_key k = {.device = f->source.device, .inode = f->source.inode, .slot = slot};

	memcpy(k.uuid, uuid, sizeof(k.uuid));
	return k;
}

int segfile_slots(const struct segfile *f)
{
	return (int)(f->slot_count + f->early_count);
}

bool segfile_is_early(const struct segfile *f, int slot)
{
	return slot >= 0 && (uint64_t)slot >= f->slot_count;
}

/* Has the child of this line had any event? */
static bool is_counting(const struct seg_early *e)
{
	return (e->state == SEG_EARLY_COUNTING || e->state == SEG_EARLY_EXITED) &&
	    (e->allocations || e->frees);
}

/*
 * The first line that may be in use. A process without children has never
 * touched the pages of the lines, and one system call tells.
 */
static uint64_t first_line(const struct segfile *f)
{
	off_t data;

	if (f->early_count == 0 || f->source.fd < 0)
		return 0;
	data = lseek(f->source.fd, (off_t)f->early_at, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? f->early_count : 0;
	return ((uint64_t)data - f->early_at) / sizeof(struct seg_early);
}

void segfile_taken(const struct segfile *f, uint8_t ret[SEGFILE_SLOTS])
{
	struct seg_early lines[LINES_AT_ONCE];

	memset(ret, 0, SEGFILE_SLOTS);
	if (f->slot_count > 0 &&
	    source_read(&f->source, f->slots_at + offsetof(struct seg_slots, taken), ret,
	        f->slot_count) < 0)
		memset(ret, 0, f->slot_count);
	for (uint64_t i = first_line(f); i < f->early_count; i += LINES_AT_ONCE) {
		uint64_t n = f->early_count - i;

		n = n < LINES_AT_ONCE ? n : LINES_AT_ONCE;
		if (source_read(&f->source, f->early_at + i * sizeof(lines[0]), lines,
		        n * sizeof(lines[0])) < 0)
			return;
		for (uint64_t k = 0; k < n; k++)
			ret[f->slot_count + i + k] = is_counting(&lines[k]);
	}
}

uint64_t segfile_taken_at(const struct segfile *f, int slot, size_t *ret_bytes)
{
	if (segfile_is_early(f, slot)) {
		*ret_bytes = sizeof(struct seg_early);
		return f->early_at + ((uint64_t)slot - f->slot_count) * sizeof(struct seg_early);
	}
	*ret_bytes = 1;
	return f->slots_at + offsetof(struct seg_slots, taken) + (uint64_t)slot;
}

/* ---- children in their first events ---- */

static int read_early(const struct segfile *f, int slot, struct seg_early *ret, struct fault *where)
{
	size_t bytes;

	if (slot >= segfile_slots(f) ||
	    source_read(&f->source, segfile_taken_at(f, slot, &bytes), ret, sizeof(*ret)) < 0 ||
	    !is_counting(ret))
		return fault_set(where, -ENODATA, "slot %d is free", slot);
	return 0;
}

/*
 * The result is the same each time a child is read, and differs between
 * children.
 */
static void early_uuid(const struct segfile *f, const struct seg_early *e, uint8_t ret[16])
{
	uint64_t mix[2];

	memcpy(mix, f->own.uuid, sizeof(mix));
	mix[0] = hash_mix(mix[0], e->start_monotonic_ns);
	mix[1] = hash_mix(mix[1] ^ e->pid, mix[0]);
	memcpy(ret, mix, sizeof(mix));
}

static void early_header(const struct segfile *f, const struct seg_early *e, struct seg_header *h)
{
	const struct seg_header *own = &f->own;
	uint64_t since = e->start_monotonic_ns > own->start_monotonic_ns
	    ? e->start_monotonic_ns - own->start_monotonic_ns
	    : 0;

	*h = (struct seg_header){
	    .magic = SEG_MAGIC,
	    .version = own->version,
	    .header_bytes = own->header_bytes,
	    .state = SEG_ALIVE,
	    .mode = own->mode,
	    .medium = own->medium,
	    .pid = e->pid,
	    .ppid = e->ppid,
	    .pid_ns = own->pid_ns,
	    .sequence = e->sequence,
	    .start_monotonic_ns = e->start_monotonic_ns,
	    .start_realtime_ns = own->start_realtime_ns + since,
	    .tick_ns = own->tick_ns,
	    .first_id = 1,
	    .max_frames = own->max_frames,
	    .slot_index = ~UINT32_C(0),
	    .peak_bytes = e->peak_bytes,
	    .peak_epoch = 1,
	    .threads = 1,
	    .command_truncated = own->command_truncated,
	    .place_refused = own->place_refused,
	    .place_detail = own->place_detail,
	    .end_kind = e->state == SEG_EARLY_EXITED ? SEG_END_EXITED : SEG_END_NONE,
	};
	h->counts[SEG_EARLY_STACKS] = e->allocations;
	early_uuid(f, e, h->uuid);
	if (e->sequence == own->sequence + 1)
		memcpy(h->parent_uuid, own->uuid, sizeof(h->parent_uuid));
	memcpy(h->boot_id, own->boot_id, sizeof(h->boot_id));
	memcpy(h->session, own->session, sizeof(h->session));
	memcpy(h->exe, own->exe, sizeof(h->exe));
	memcpy(h->command, own->command, sizeof(h->command));
	memcpy(h->start_dir, own->start_dir, sizeof(h->start_dir));
	memcpy(h->place_asked, own->place_asked, sizeof(h->place_asked));
}

/* Row 1 of a new extent with two rows; NULL: out of memory. */
static void *early_row(struct segment *seg, enum seg_kind kind, uint32_t row_bytes)
{
	const struct seg_extent x = {.kind = kind, .row_bytes = row_bytes, .count = 2};
	struct segment_rows *rows = segment_copy_add(seg, &x);

	return rows ? rows->rows + row_bytes : NULL;
}

/* One site, whose stack is a single marker. */
static int early_site(struct segment *seg, const struct seg_early *e)
{
	struct seg_node *node = early_row(seg, SEG_EXT_NODE, sizeof(*node));
	struct seg_inner *inner = early_row(seg, SEG_EXT_INNER, sizeof(*inner));
	struct seg_site *site = early_row(seg, SEG_EXT_SITE, sizeof(*site));
	struct seg_row *row = early_row(seg, SEG_EXT_LEDGER, sizeof(*row));
	bool sane = e->frees <= e->allocations && e->freed_bytes <= e->allocated_bytes;

	if (!node || !inner || !site || !row)
		return -ENOMEM;
	node->flags = SEG_NODE_EARLY;
	inner->is_filled = 1;
	site->node = site->inner = 1;
	site->kind = SEG_SITE_HEAP;
	row->allocations = e->allocations;
	row->allocated_bytes = e->allocated_bytes;
	row->frees = sane ? e->frees : e->allocations;
	row->freed_bytes = sane ? e->freed_bytes : e->allocated_bytes;
	row->snap_bytes = (int64_t)e->peak_bytes;
	row->snap_blocks = (int64_t)(e->allocations - row->frees);
	row->epoch = 1;
	return 0;
}

static int read_early_segment(
    const struct segfile *f, int slot, struct segment **ret, struct fault *where)
{
	struct segment *seg;
	struct seg_early e;
	int err;

	err = read_early(f, slot, &e, where);
	if (err < 0)
		return err;
	seg = calloc(1, sizeof(*seg));
	if (!seg)
		return fault_set(where, -ENOMEM, "out of memory");
	early_header(f, &e, &seg->header);
	seg->peak_stable = true;
	err = early_site(seg, &e);
	if (err < 0) {
		segment_copy_free(seg);
		return fault_set(where, err, "out of memory");
	}
	*ret = seg;
	return 0;
}

/* ---- slots ---- */

static int find_slot(
    const struct segfile *f, int slot, uint64_t *ret_base, uint64_t *ret_limit, struct fault *where)
{
	uint64_t n = (uint64_t)slot;
	uint8_t taken;
	size_t bytes;
	int err;

	if (slot == SEGFILE_OWN) {
		*ret_base = 0;
		*ret_limit = f->own_limit;
		return 0;
	}
	if (slot < 0 || n >= f->slot_count)
		return fault_set(where, -ENODATA, "no slot %d", slot);
	err = source_read(&f->source, segfile_taken_at(f, slot, &bytes), &taken, sizeof(taken));
	if (err < 0)
		return fault_set(where, err, "slot %d cannot be read", slot);
	if (taken == 0)
		return fault_set(where, -ENODATA, "slot %d is free", slot);
	if (n < f->large_count) {
		*ret_base = f->first_slot + n * f->large_bytes;
		*ret_limit = f->large_bytes;
	} else {
		*ret_base = f->first_slot + f->large_count * f->large_bytes +
		    (n - f->large_count) * f->small_bytes;
		*ret_limit = f->small_bytes;
	}
	return 0;
}

int segfile_window(const struct segfile *f, int slot, uint64_t *ret_base, uint64_t *ret_limit)
{
	return find_slot(f, slot, ret_base, ret_limit, NULL);
}

static void add_count(const struct segfile *f, size_t at, uint64_t *count)
{
	uint64_t n;

	if (source_read(&f->source, f->slots_at + at, &n, sizeof(n)) < 0)
		return;
	if (__builtin_add_overflow(*count, n, count))
		*count = UINT64_MAX;
}

/* Children that found no slot could not count this in a header of their own. */
static void add_untraced(const struct segfile *f, int slot, struct seg_header *h)
{
	if (slot != SEGFILE_OWN || f->slots_at == 0)
		return;
	add_count(f, offsetof(struct seg_slots, untraced), &h->counts[SEG_CHILDREN_UNTRACED]);
	if (f->early_count)
		add_count(f, offsetof(struct seg_slots, unlisted), &h->counts[SEG_CHILDREN_EARLY]);
}

int segfile_header(const struct segfile *f, int slot, struct seg_header *ret, struct fault *where)
{
	uint64_t base, limit;
	struct seg_early e;
	int err;

	if (segfile_is_early(f, slot)) {
		err = read_early(f, slot, &e, where);
		if (err == 0)
			early_header(f, &e, ret);
		return err;
	}
	err = find_slot(f, slot, &base, &limit, where);
	if (err < 0)
		return err;
	err = segment_copy_read_header(&f->source, base, limit, ret, where);
	if (err == 0)
		add_untraced(f, slot, ret);
	return err;
}

static int read_slot(
    const struct segfile *f, int slot, bool with_rest, struct segment **ret, struct fault *where)
{
	uint64_t base, limit;
	int err;

	if (segfile_is_early(f, slot))
		return read_early_segment(f, slot, ret, where);
	err = find_slot(f, slot, &base, &limit, where);
	if (err < 0)
		return err;
	err = with_rest ? segment_copy_read(&f->source, base, limit, ret, where)
	                : segment_copy_read_ledger(&f->source, base, limit, ret, where);
	if (err == 0)
		add_untraced(f, slot, &(*ret)->header);
	return err;
}

int segfile_read(const struct segfile *f, int slot, struct segment **ret, struct fault *where)
{
	return read_slot(f, slot, true, ret, where);
}

int segfile_read_ledger(
    const struct segfile *f, int slot, struct segment **ret, struct fault *where)
{
	return read_slot(f, slot, false, ret, where);
}

int segfile_compact(
    const struct segfile *f, int slot, void **ret, size_t *ret_len, struct fault *where)
{
	struct segment *seg;
	int err;

	err = segfile_read(f, slot, &seg, where);
	if (err < 0)
		return err;
	err = segment_copy_compact(seg, ret, ret_len);
	segment_copy_free(seg);
	if (err < 0)
		return fault_set(where, err, "out of memory");
	return 0;
}

bool segfile_is_beside(const char *name)
{
	return text_ends_with(name, ".ctl") || text_ends_with(name, ".seg.log");
}

void segfile_remove_beside(int dir, const char *name)
{
	static const char *const ends[] = {".ctl", ".log", ".log.ctl"};
	char path[NAME_MAX + 16];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", name, ends[i]);
		(void)unlinkat(dir, path, 0);
	}
}

bool segfile_is_name(const char *name)
{
	return name[0] != '.' &&
	    (text_ends_with(name, ".seg") || text_ends_with(name, ".seep-snap"));
}

/* ---- logfile: the log file beside a segment: opens it, and finds a pool in it ---- */

enum { CTL_CHILDREN = 4096 };

int logfile_open(int dir, const char *name, const char *end, int flags)
{
	char path[NAME_MAX + 16];
	struct stat st;
	int fd, err;

	(void)snprintf(path, sizeof(path), "%s.log%s", name, end);
	fd = openat(dir, path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (err == 0)
		return fd;
	(void)close(fd);
	return err;
}

int logfile_read(int fd, uint64_t at, void *to, size_t bytes)
{
	ssize_t n = pread(fd, to, bytes, (off_t)at);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EBADMSG;
}

int logfile_find_pool(int fd, uint32_t pool, uint64_t *ret_offset, uint64_t *ret_control)
{
	struct log_head first;
	int err;

	*ret_offset = *ret_control = 0;
	if (pool == 0)
		return 0;
	err = logfile_read(fd, 0, &first, sizeof(first));
	if (err < 0)
		return err;
	if (first.magic != LOG_MAGIC || pool > first.child_count || first.child_count > 65536 ||
	    first.child_bytes > (uint64_t)1 << 32 || first.child_bytes < LOG_HEAD_BYTES ||
	    first.child_offset > (uint64_t)1 << 40)
		return -EBADMSG;
	*ret_offset = first.child_offset + (pool - 1) * first.child_bytes;
	*ret_control =
	    CTL_CHILDREN + (pool - 1) * ((first.child_bytes - LOG_HEAD_BYTES) / LOG_CHUNK_BYTES);
	return 0;
}
