/* eventlogs.c - all event logs of an input, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/session_log.h"

#include "session/events/logread.h"
#include "session/process/family.h"
#include "recording/file/recording.h"

struct reading {
	struct eventlogs_wish wish;
	struct eventlogs_result result;
	struct logcode code;
	int count;
};

/* All that is in the pool of one process. */
static int read_pool(void *context, int dir, const char *name, const struct seg_header *h)
{
	struct reading *r = context;
	struct logread *log;
	int err;

	if (h->log_state != SEG_LOG_ON)
		return 0;
	err = logread_open(dir, name, h->log_pool, h->uuid, false, &log);
	if (err == -ENOMEM)
		return err;
	r->result.is_damaged |= err < 0;
	if (err < 0)
		return 0; /* removed, or of another process by now */
	r->count++;
	r->result.is_of_pools = true;
	do {
		r->code.head.words = r->code.head.runs = 0;
		err = logread_take(log, true, &r->code);
		if (err == -ENOMEM)
			break;
		r->result.is_damaged |= err < 0;
		err = r->code.head.words ? r->wish.each(r->wish.context, &r->code) : 0;
	} while (err == 0 && r->code.head.words > 0);
	r->result.is_damaged |= logread_is_cut(log);
	logread_close(log);
	return err;
}

/* An entry that makes no sense is left out. */
static int read_entry(struct reading *r, const void *bytes, size_t len)
{
	int err = logcode_unpack(&r->code, bytes, len);

	if (err == -ENOMEM)
		return err;
	r->result.is_damaged |= err < 0;
	if (err < 0)
		return 0;
	r->count++;
	r->result.read++;
	return r->wish.each(r->wish.context, &r->code);
}

/*
 * The index behind the log's entry `log`. False: there is none that is sound and
 * belongs to this entry, so it has to be read.
 */
static bool find_index(struct recording *b, const struct recording_place *log, struct logindex *ret,
    struct recording_place *ret_place)
{
	const void *bytes;
	uint32_t type;
	size_t len;

	if (recording_peek(b, ret_place) != 1 || ret_place->type != RECORDING_LOG_INDEX)
		return false;
	return recording_next(b, &type, &bytes, &len) == 1 && type == RECORDING_LOG_INDEX &&
	    logindex_open(ret, bytes, len) == 0 && ret->head.crc == log->crc &&
	    ret->head.bytes == log->next - log->offset;
}

/*
 * Passes over the next entry by its index, if that is wanted. 1: it has; 0: it
 * is to be read; or an error. *ret_head: of the entry, as its index has it.
 */
static int pass_entry(
    struct reading *r, struct recording *b, bool *ret_has_index, struct logcode_head *ret_head)
{
	struct recording_place log, place;
	enum eventlogs_way way = EVENTLOGS_READ;
	struct logindex x;
	int err = 0;

	*ret_has_index = false;
	if (!r->wish.choose || recording_peek(b, &log) != 1 || log.type != RECORDING_LOG)
		return 0;
	recording_go_behind(b, &log);
	*ret_has_index = find_index(b, &log, &x, &place);
	if (*ret_has_index) {
		*ret_head = x.head.log;
		way = r->wish.choose(r->wish.context, &x);
	}
	if (way == EVENTLOGS_READ) {
		recording_go_to(b, &log);
		return 0;
	}
	r->count++;
	if (way == EVENTLOGS_SKIP) {
		r->result.skipped++;
		err = r->wish.skip(r->wish.context, &x);
	} else {
		r->result.dropped++;
	}
	recording_go_behind(b, &place);
	return err < 0 ? err : 1;
}

static int read_recording(void *context, struct recording *b)
{
	struct reading *r = context;
	int err, got;

	recording_only(b, RECORDING_LOG);
	if (r->wish.choose)
		recording_also(b, RECORDING_LOG_INDEX);
	do {
		struct logcode_head head;
		const void *bytes;
		bool has_index;
		uint32_t type;
		size_t len;

		got = pass_entry(r, b, &has_index, &head);
		err = 0;
		if (got != 0)
			continue;
		got = recording_next(b, &type, &bytes, &len);
		if (got == -EBADMSG) {
			r->result.is_damaged = true;
			got = recording_resume(b) ? 1 : 0;
			continue;
		}
		if (got != 1 || type != RECORDING_LOG)
			continue;
		if (has_index && (len < sizeof(head) || memcmp(bytes, &head, sizeof(head)) != 0))
			r->result.is_damaged = r->result.is_index_wrong = true;
		err = read_entry(r, bytes, len);
	} while (got == 1 && err == 0);
	return got < 0 ? got : err;
}

int eventlogs_read(const char *path, pid_t pid, const struct eventlogs_wish *wish,
    struct eventlogs_result *ret, struct fault *where)
{
	struct reading r = {.wish = *wish};
	const struct pools_visitor v = {
	    .pool = read_pool, .recording = read_recording, .context = &r};
	int err = pools_visit(path, pid, &v, where);

	logcode_release(&r.code);
	*ret = r.result;
	return err ? err : r.count;
}
