/* test_timeline.c - the time line: written as differences, replayed to the byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "session/process/process.h"
#include "session/timeline/playback.h"
#include "session/load/session.h"
#include "follow/recorder/tail.h"
#include "session/timeline/timeline.h"
#include "follow/recorder/follow.h"
#include "recording/file/recording.h"
#include "recording/file/codec.h"

/* more than any test takes */
static struct tail_room room = {.bytes = SIZE_MAX};

enum { ARRAYS = 2, DIR_AT = SEG_HEADER_BYTES, KINDS = 4 };

/* A segment whose ledger a test can move, of any number of sites. */
struct host {
	uint8_t *bytes;
	size_t len;
	struct seg_header *header;
	struct seg_extent *dir;
	struct seg_site *sites;
	struct seg_inner *inners;
	struct seg_node *nodes;
	struct seg_row *rows[ARRAYS];
	uint32_t site_count; /* ids 1 .. site_count - 1 */
	struct segfile *file;
	uint64_t seed;
};

static uint64_t random_of(struct host *h)
{
	h->seed ^= h->seed << 13;
	h->seed ^= h->seed >> 7;
	h->seed ^= h->seed << 17;
	return h->seed;
}

static void *place(
    struct host *h, size_t *at, uint32_t entry, uint32_t kind, uint32_t owner, uint32_t row_bytes)
{
	void *p = h->bytes + *at;

	h->dir[entry] = (struct seg_extent){.kind = kind,
	    .owner = owner,
	    .row_bytes = row_bytes,
	    .count = h->site_count,
	    .offset = *at};
	*at += (size_t)h->site_count * row_bytes;
	return p;
}

static void host_init(struct host *h, uint32_t site_count)
{
	size_t row = sizeof(struct seg_site) + sizeof(struct seg_inner) + sizeof(struct seg_node) +
	    ARRAYS * sizeof(struct seg_row);
	size_t at = DIR_AT + 8192;

	memset(h, 0, sizeof(*h));
	h->seed = 88172645463325252u;
	h->site_count = site_count;
	h->len = at + site_count * row;
	h->bytes = calloc(1, h->len);
	assert_non_null(h->bytes);
	h->header = (struct seg_header *)h->bytes;
	h->dir = (struct seg_extent *)(h->bytes + DIR_AT);
	h->sites = place(h, &at, 0, SEG_EXT_SITE, 0, sizeof(*h->sites));
	h->inners = place(h, &at, 1, SEG_EXT_INNER, 0, sizeof(*h->inners));
	h->nodes = place(h, &at, 2, SEG_EXT_NODE, 0, sizeof(*h->nodes));
	for (uint32_t i = 0; i < ARRAYS; i++)
		h->rows[i] = place(h, &at, 3 + i, SEG_EXT_LEDGER, i, sizeof(struct seg_row));
	for (uint32_t i = 1; i < site_count; i++) {
		h->nodes[i] = (struct seg_node){.frame = 0x400000 + random_of(h) % 4000000,
		    .parent = (uint32_t)(random_of(h) % i)};
		for (int k = 0; k < SEG_INNER_FRAMES; k++)
			h->inners[i].frames[k] = 0x400000 + random_of(h) % 4000000;
		h->inners[i].count = SEG_INNER_FRAMES;
		h->sites[i] = (struct seg_site){
		    .node = i, .inner = i, .kind = SEG_SITE_HEAP, .api = SEG_API_MALLOC};
	}
	*h->header = (struct seg_header){.magic = SEG_MAGIC,
	    .version = SEG_VERSION,
	    .header_bytes = SEG_HEADER_BYTES,
	    .state = SEG_ALIVE,
	    .mode = SEG_MODE_ON,
	    .uuid = {7},
	    .pid = 4242,
	    .tick_ns = SEG_TICK_NS,
	    .first_id = 1,
	    .total_bytes = h->len,
	    .dir_offset = DIR_AT,
	    .dir_capacity = 16,
	    .dir_used = 3 + ARRAYS,
	    .slot_index = ~UINT32_C(0),
	    .threads = 2,
	    .exe = "/bin/host"};
	assert_int_equal(segfile_open_bytes(h->bytes, h->len, &h->file, NULL), 0);
}

static void host_release(struct host *h)
{
	segfile_close(h->file);
	free(h->bytes);
}

/* So many events: half of the sites have one size, the others many. */
static void host_run(struct host *h, uint64_t events)
{
	for (uint64_t n = 0; n < events; n++) {
		uint32_t id = 1 + (uint32_t)(random_of(h) % (h->site_count - 1));
		struct seg_row *row = &h->rows[n % ARRAYS][id];
		uint64_t size = 16 + id % 512;

		if (id % 2)
			size = 16 + random_of(h) % 1024;
		row->allocations++;
		row->allocated_bytes += size;
		/* one in a hundred sites leaks */
		if (id % 100 != 0) {
			h->rows[0][id].frees = h->rows[0][id].allocations +
			    h->rows[1][id].allocations - (h->rows[1][id].frees + id % 7);
			if ((int64_t)h->rows[0][id].frees < 0)
				h->rows[0][id].frees = 0;
			h->rows[0][id].freed_bytes = h->rows[0][id].frees * 16;
		}
	}
}

static struct codec_sum host_sum(const struct host *h, uint32_t id)
{
	struct codec_sum s = {0};

	for (int i = 0; i < ARRAYS; i++) {
		s.allocations += h->rows[i][id].allocations;
		s.allocated_bytes += h->rows[i][id].allocated_bytes;
		s.frees += h->rows[i][id].frees;
		s.freed_bytes += h->rows[i][id].freed_bytes;
	}
	return s;
}

TEST(numbers_come_back)
{
	static const int64_t some[] = {
	    0, 1, -1, 63, 64, -64, 127, 128, 1 << 20, INT64_MAX, INT64_MIN};
	enum { N = sizeof(some) / sizeof(some[0]) };
	struct codec_out out = {0};
	struct codec_in in;

	for (size_t i = 0; i < N; i++) {
		codec_put(&out, (uint64_t)some[i]);
		codec_put_signed(&out, some[i]);
	}
	in = (struct codec_in){.at = out.bytes, .end = out.bytes + out.len};
	for (size_t i = 0; i < N; i++) {
		assert_true(codec_get(&in) == (uint64_t)some[i]);
		assert_true(codec_get_signed(&in) == some[i]);
	}
	assert_false(in.bad);
	assert_true(codec_get(&in) == 0);
	assert_true(in.bad);
	codec_release(&out);
}

TEST(columns_give_the_same_sums)
{
	struct host h = {.seed = 4711};
	struct codec_sum is = {0}, back = {0};

	for (int i = 0; i < 100000; i++) {
		struct codec_sum was = is;
		int64_t column[CODEC_COLUMNS];
		bool new_peak = random_of(&h) % 3 == 0;
		unsigned shift = (unsigned)(random_of(&h) % 64);

		is.allocations += random_of(&h) >> shift;
		is.allocated_bytes += random_of(&h) >> shift;
		is.frees += random_of(&h) >> shift;
		is.freed_bytes += random_of(&h) >> shift;
		if (random_of(&h) % 2) {
			is.peak_bytes = (int64_t)(random_of(&h) >> shift);
			is.peak_blocks = -(int64_t)(random_of(&h) >> shift);
		}
		codec_encode(&was, &is, new_peak, column);
		codec_decode(&back, new_peak, column);
		assert_memory_equal(&back, &is, sizeof(is));
	}
}

/* Looks, replays, compares every site; peaks, too. */
TEST(what_is_told_is_what_was_there)
{
	const struct playback_hooks hooks = {.rows = true};
	struct codec_out out = {0};
	struct seg_header header;
	struct playback *r;
	struct tail *t;
	struct host h;

	host_init(&h, 3000);
	assert_int_equal(tail_new(1, &room, &t), 0);
	assert_int_equal(playback_new(&hooks, &r), 0);
	for (int look = 0; look < 50; look++) {
		const struct playback_process *p;
		uint64_t all = 0;

		host_run(&h, random_of(&h) % 5000);
		if (look % 4 == 0) {
			h.header->peak_epoch++;
			h.header->peak_bytes += 1000;
		}
		if (look % 5 == 0) {
			struct seg_row *row = &h.rows[1][7 + look];

			row->epoch = (uint32_t)h.header->peak_epoch;
			row->snap_bytes = 12345 + look;
			row->snap_blocks = look;
		}
		out.len = 0;
		assert_int_equal(
		    tail_look(t, h.file, SEGFILE_OWN, look % 3 != 1, &out, &header), 0);
		assert_int_equal(playback_entry(r, out.bytes, out.len), 0);
		p = playback_process(r, 0);
		for (uint32_t id = 0; id < h.site_count; id++) {
			struct codec_sum want = host_sum(&h, id);
			struct codec_sum got = playback_sum(p, id);

			all += want.allocations;
			if (look % 3 == 1)
				continue;
			assert_memory_equal(&got, &want, 4 * sizeof(uint64_t));
		}
		assert_int_equal(p->totals.allocations, all);
	}
	tail_free(t);
	playback_free(r);
	codec_release(&out);
	host_release(&h);
}

TEST(columns_of_samples_give_the_same_sums)
{
	struct host h = {.seed = 815};
	struct codec_sum is = {0}, back = {0};

	for (int i = 0; i < 100000; i++) {
		struct codec_sum was = is;
		int64_t column[CODEC_WIDE_COLUMNS];
		unsigned shift = (unsigned)(random_of(&h) % 64);
		bool wide = random_of(&h) % 4 == 0;

		is.samples += random_of(&h) >> shift;
		is.variance_allocated += random_of(&h) >> shift;
		is.variance_freed += random_of(&h) >> shift >> 1;
		if (wide)
			is.variance_allocated += (seg_wide)(random_of(&h) >> shift) << 64;
		codec_encode_samples(&was, &is, column);
		/* small differences need no more than the old columns */
		if (!wide && shift > 0)
			assert_true(column[3] == 0 && column[4] == 0);
		codec_decode_samples(&back, column);
		assert_true(back.samples == is.samples &&
		    back.variance_allocated == is.variance_allocated &&
		    back.variance_freed == is.variance_freed);
	}
}

/* A sampled process looked at and played again; `row_bytes` of its samples. */
static void look_at_samples(uint64_t high, uint32_t row_bytes)
{
	static const uint64_t frames[] = {MKSEG_FRAME(1, 0x1010)};
	const struct playback_hooks hooks = {.rows = true};
	struct mkseg *m = mkseg_new();
	struct codec_out out = {0};
	struct seg_header header;
	struct segment *seg;
	struct process *p;
	struct segfile *f;
	struct playback *r;
	struct tail *t;
	uint8_t *bytes;
	double want;
	size_t len;

	mkseg_header(m)->sample_bytes = 4096;
	for (int i = 0; i < 3; i++) {
		uint32_t id = mkseg_stack(m, frames, 1);

		mkseg_book(m, 1, id, 1000, 64, 400);
		*mkseg_sample(m, 1, id) = (struct seg_sample){.samples = 10,
		    .sampled_frees = 4,
		    .variance_allocated = UINT64_MAX - 99,
		    .variance_freed = 500,
		    .variance_allocated_high = high};
	}
	mkseg_shorten(m, SEG_EXT_SAMPLE, row_bytes);
	bytes = mkseg_finish(m, &len);
	mkseg_free(m);
	assert_int_equal(segfile_open_bytes(bytes, len, &f, NULL), 0);
	assert_int_equal(tail_new(1, &room, &t), 0);
	assert_int_equal(playback_new(&hooks, &r), 0);
	assert_int_equal(tail_look(t, f, SEGFILE_OWN, true, &out, &header), 0);
	assert_int_equal(playback_entry(r, out.bytes, out.len), 0);
	assert_true(playback_sum(playback_process(r, 0), 2).variance_allocated ==
	    seg_wide_of(UINT64_MAX - 99, high));
	assert_int_equal(playback_segment(playback_process(r, 0), &seg), 0);
	assert_int_equal(process_new(seg, &p), 0);
	assert_int_equal(p->site_count, 1);
	assert_int_equal(p->sites[0].samples, 30);
	assert_int_equal(p->sites[0].figures.allocations, 3000);
	want = 3 * (double)seg_wide_of(UINT64_MAX - 599, high);
	assert_true(p->sites[0].variance_live > want * 0.999999 &&
	    p->sites[0].variance_live < want * 1.000001);
	process_free(p);
	segment_copy_free(seg);
	tail_free(t);
	playback_free(r);
	codec_release(&out);
	segfile_close(f);
	free(bytes);
}

TEST(a_sampled_process_is_played_again)
{
	look_at_samples(0, sizeof(struct seg_sample));
	look_at_samples(7, sizeof(struct seg_sample));
	look_at_samples(0, SEG_SAMPLE_OLD_BYTES);
}

/* Earlier versions said that there are three columns, and wrote one. */
TEST(samples_without_variances_are_read)
{
	const struct playback_hooks hooks = {.rows = true};
	struct codec_out out = {0}, body = {0};
	struct codec_sum got;
	struct playback *r;

	codec_put(&body, 1);
	codec_put_item(&out, CODEC_PROCESS, &body);
	codec_put(&body, CODEC_SAMPLES);
	codec_put(&body, 2);
	codec_put(&body, 1); /* ids 1 and 2 */
	codec_put(&body, 1);
	for (int column = 0; column < CODEC_COLUMNS + 1; column++) {
		codec_put_signed(&body, column == CODEC_COLUMNS ? 5 : 100);
		codec_put_signed(&body, column == CODEC_COLUMNS ? 6 : 200);
	}
	codec_put_item(&out, CODEC_LEDGER, &body);
	assert_int_equal(playback_new(&hooks, &r), 0);
	assert_int_equal(playback_entry(r, out.bytes, out.len), 0);
	got = playback_sum(playback_process(r, 0), 2);
	assert_int_equal(got.allocations, 200);
	assert_int_equal(got.samples, 6);
	assert_true(got.variance_allocated == 0);
	playback_free(r);
	codec_release(&out);
	codec_release(&body);
}

TEST(the_replayed_state_is_the_segment)
{
	const struct playback_hooks hooks = {.rows = true};
	struct process *live, *told;
	struct codec_out out = {0};
	struct seg_header header;
	struct segment *seg;
	struct playback *r;
	struct tail *t;
	struct host h;

	host_init(&h, 1000);
	assert_int_equal(tail_new(1, &room, &t), 0);
	assert_int_equal(playback_new(&hooks, &r), 0);
	for (int i = 0; i < 5; i++) {
		host_run(&h, 2000);
		h.header->peak_epoch++;
		h.header->peak_bytes = 1u << (20 + i);
		for (uint32_t id = 1; id < h.site_count; id += 3) {
			h.rows[0][id].epoch = (uint32_t)h.header->peak_epoch;
			h.rows[0][id].snap_bytes = (int64_t)id * i;
			h.rows[0][id].snap_blocks = i;
		}
		out.len = 0;
		assert_int_equal(tail_look(t, h.file, SEGFILE_OWN, true, &out, &header), 0);
		assert_int_equal(playback_entry(r, out.bytes, out.len), 0);
	}
	assert_int_equal(segfile_read(h.file, SEGFILE_OWN, &seg, NULL), 0);
	assert_int_equal(process_new(seg, &live), 0);
	segment_copy_free(seg);
	assert_int_equal(playback_segment(playback_process(r, 0), &seg), 0);
	assert_int_equal(process_new(seg, &told), 0);
	segment_copy_free(seg);
	assert_int_equal(live->site_count, told->site_count);
	assert_memory_equal(&live->totals, &told->totals, sizeof(live->totals));
	for (size_t i = 0; i < live->site_count; i++) {
		uint64_t a[64], b[64];
		uint32_t flags;
		size_t n;

		assert_memory_equal(&live->sites[i].figures, &told->sites[i].figures,
		    sizeof(live->sites[i].figures));
		n = stacks_frames(live->stacks, live->sites[i].stack, a, 64, &flags);
		assert_int_equal(
		    stacks_frames(told->stacks, told->sites[i].stack, b, 64, &flags), n);
		assert_memory_equal(a, b, n * sizeof(*a));
	}
	process_free(live);
	process_free(told);
	tail_free(t);
	playback_free(r);
	codec_release(&out);
	host_release(&h);
}

TEST(any_cut_or_flipped_byte_is_survived)
{
	const struct playback_hooks hooks = {.rows = true};
	struct codec_out out = {0};
	struct seg_header header;
	struct tail *t;
	struct host h;

	host_init(&h, 40);
	assert_int_equal(tail_new(1, &room, &t), 0);
	for (int i = 0; i < 3; i++) {
		host_run(&h, 100);
		assert_int_equal(tail_look(t, h.file, SEGFILE_OWN, true, &out, &header), 0);
	}
	for (size_t i = 0; i < out.len; i++) {
		uint8_t was = out.bytes[i];
		struct segment *seg;
		struct playback *r;

		assert_int_equal(playback_new(&hooks, &r), 0);
		(void)playback_entry(r, out.bytes, i);
		playback_free(r);
		assert_int_equal(playback_new(&hooks, &r), 0);
		out.bytes[i] = (uint8_t)(was ^ (1u << (i % 8)));
		(void)playback_entry(r, out.bytes, out.len);
		out.bytes[i] = was;
		if (playback_count(r) > 0 && playback_segment(playback_process(r, 0), &seg) == 0)
			segment_copy_free(seg);
		playback_free(r);
	}
	tail_free(t);
	codec_release(&out);
	host_release(&h);
}

/* ---- an hour ---- */

static void put_time(struct codec_out *out, uint64_t us)
{
	struct codec_out body = {0};

	codec_put(&body, us);
	codec_put_item(out, CODEC_TIME, &body);
	codec_release(&body);
}

static void check_course(const char *path, const struct host *h, uint64_t events)
{
	struct session *s;

	assert_int_equal(session_load(path, &s, NULL), 0);
	assert_int_equal(s->count, 1);
	assert_false(s->is_truncated);
	assert_int_equal(s->processes[0]->totals.allocations, events);
	assert_true(s->processes[0]->point_count > 100);
	assert_int_equal(
	    s->processes[0]->points[s->processes[0]->point_count - 1].allocations, events);
	(void)h;
	session_free(s);
}

/*
 * A simulated clock, the intervals and the allowance of seep record: returns
 * the bytes of the recording.
 */
static uint64_t record_simulated(uint32_t sites, uint64_t seconds, uint64_t events)
{
	char path[] = "/tmp/test_timeline.XXXXXX";
	int fd = mkstemp(path);
	struct recording_segment end = {.end_kind = RECORDING_END_EXITED};
	uint64_t line_bytes = 0, now = 0, flushed = 0, done = 0;
	struct recording_writer *w;
	struct codec_out out = {0};
	struct seg_header header;
	struct stat st;
	struct tail *t;
	struct host h;
	void *bytes;
	size_t len;

	assert_true(fd >= 0);
	close(fd);
	host_init(&h, sites);
	assert_int_equal(tail_new(1, &room, &t), 0);
	assert_int_equal(recording_create(path, RECORDING_REPLACE, &w), 0);
	while (now < seconds * 1000000000) {
		uint64_t due, before = recording_size(w);

		now += follow_interval(now);
		due = (uint64_t)((double)events * (double)now / ((double)seconds * 1e9));
		due = due < events ? due : events;
		host_run(&h, due - done);
		done = due;
		put_time(&out, now / 1000);
		assert_int_equal(
		    tail_look(t, h.file, SEGFILE_OWN,
		        line_bytes < follow_allowance(now, tail_sites(t)), &out, &header),
		    0);
		if (now - flushed < 1000000000)
			continue;
		assert_int_equal(
		    recording_append_packed(w, RECORDING_LINE, out.bytes, out.len, NULL, 0, 3), 0);
		line_bytes += recording_size(w) - before;
		out.len = 0;
		flushed = now;
	}
	if (out.len > 0)
		assert_int_equal(
		    recording_append_packed(w, RECORDING_LINE, out.bytes, out.len, NULL, 0, 3), 0);
	assert_int_equal(segfile_compact(h.file, SEGFILE_OWN, &bytes, &len, NULL), 0);
	assert_int_equal(
	    recording_append_packed(w, RECORDING_SEGMENT, &end, sizeof(end), bytes, len, 3), 0);
	free(bytes);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(stat(path, &st), 0);
	printf("# %u sites, %llu s, %llu allocations: %.1f MB\n", sites,
	    (unsigned long long)seconds, (unsigned long long)events, (double)st.st_size / 1e6);
	check_course(path, &h, done);
	unlink(path);
	tail_free(t);
	codec_release(&out);
	host_release(&h);
	return (uint64_t)st.st_size;
}

TEST(an_hour_of_a_busy_server_is_small)
{
	if (getenv("SEEP_FULL"))
		assert_true(record_simulated(5000, 3600, 50000000) < 20000000);
	else /* a tenth of it, with the allowance of the first minutes */
		assert_true(record_simulated(5000, 360, 5000000) < 7000000);
}

TEST(many_sites_are_bounded_too)
{
	if (getenv("SEEP_FULL"))
		assert_true(record_simulated(200000, 3600, 50000000) < 150000000);
	else
		assert_true(record_simulated(50000, 60, 2000000) < 15000000);
}

/* Versions up to November 2026 wrote 2 before 1 when slots ran short. */
TEST(processes_may_begin_in_any_order)
{
	static const uint64_t numbers[] = {7, 3, 9, 1, 8};
	const struct playback_hooks hooks = {.rows = true};
	struct codec_out line = {0}, body = {0};
	struct playback *r;

	for (size_t i = 0; i < 5; i++) {
		body.len = 0;
		codec_put(&body, numbers[i]);
		codec_put_item(&line, CODEC_PROCESS, &body);
		for (int n = 0; n < 4; n++)
			codec_put_signed(&body, (int64_t)numbers[i] * 100);
		codec_put_item(&line, CODEC_TOTALS, &body);
	}
	assert_int_equal(playback_new(&hooks, &r), 0);
	assert_int_equal(playback_entry(r, line.bytes, line.len), 0);
	assert_int_equal(playback_count(r), 5);
	for (size_t i = 0; i < 5; i++) {
		const struct playback_process *p = playback_process(r, i);

		assert_int_equal(p->totals.allocations, p->number * 100);
		assert_true(i == 0 || playback_process(r, i - 1)->number < p->number);
	}
	/* one that begins twice is damaged */
	line.len = body.len = 0;
	codec_put(&body, 3);
	codec_put_item(&line, CODEC_PROCESS, &body);
	assert_int_equal(playback_entry(r, line.bytes, line.len), -EBADMSG);
	playback_free(r);
	codec_release(&line);
	codec_release(&body);
}

/* A process takes five bytes there and 9,000 here. */
TEST(a_small_line_cannot_ask_for_much_memory)
{
	enum { MANY = 60000 };
	const struct playback_hooks hooks = {.rows = true};
	struct codec_out line = {0};
	struct playback *r;

	for (uint64_t i = 1; i <= MANY; i++) {
		struct codec_out body = {0};

		codec_put(&body, i);
		codec_put_item(&line, CODEC_PROCESS, &body);
		codec_release(&body);
	}
	assert_int_equal(playback_new(&hooks, &r), 0);
	assert_int_equal(playback_entry(r, line.bytes, line.len), -EFBIG);
	assert_in_range(playback_count(r), 5000, 15000);
	playback_free(r);
	codec_release(&line);
}
