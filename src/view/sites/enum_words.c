/* enum_words.c - numbers of the format as words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/enum_words.h"

#include "recording/file/codec.h"

static const char *word(const char *const *words, size_t count, uint64_t i)
{
	return i < count && words[i] ? words[i] : "unknown";
}

#define WORD(table, i) word(table, sizeof(table) / sizeof((table)[0]), i)

const char *enum_words_kind(uint8_t kind)
{
	static const char *const kinds[] = {
	    [SEG_SITE_HEAP] = "heap",
	    [SEG_SITE_USER] = "user",
	    [SEG_SITE_MAPPING] = "mapping",
	};

	return WORD(kinds, kind);
}

const char *enum_words_api(uint8_t api)
{
	static const char *const apis[] = {
	    [SEG_API_NONE] = "unknown",
	    [SEG_API_MALLOC] = "malloc",
	    [SEG_API_CALLOC] = "calloc",
	    [SEG_API_REALLOC] = "realloc",
	    [SEG_API_REALLOCARRAY] = "reallocarray",
	    [SEG_API_MEMALIGN] = "memalign",
	    [SEG_API_ALIGNED_ALLOC] = "aligned_alloc",
	    [SEG_API_POSIX_MEMALIGN] = "posix_memalign",
	    [SEG_API_VALLOC] = "valloc",
	    [SEG_API_PVALLOC] = "pvalloc",
	    [SEG_API_NEW] = "operator new",
	    [SEG_API_NEW_ARRAY] = "operator new[]",
	    [SEG_API_MALLOCX] = "mallocx",
	    [SEG_API_RALLOCX] = "rallocx",
	    [SEG_API_XALLOCX] = "xallocx",
	};

	return WORD(apis, api);
}

const char *enum_words_end(enum process_end end)
{
	static const char *const ends[] = {
	    [PROCESS_UNKNOWN] = "unknown",
	    [PROCESS_RUNNING] = "running",
	    [PROCESS_EXITED] = "exited",
	    [PROCESS_KILLED] = "killed",
	    [PROCESS_EXEC] = "exec",
	    [PROCESS_GONE] = "unknown",
	};

	return WORD(ends, (uint64_t)end);
}

const char *enum_words_ended(const struct process *p)
{
	if (p->end == PROCESS_GONE)
		return "ended"; /* by _exit or by a signal */
	if (p->is_out_of_memory)
		return "oom";
	return enum_words_end(p->end);
}

const char *enum_words_mode(uint32_t mode)
{
	static const char *const modes[] = {
	    [SEG_MODE_NONE] = "none",
	    [SEG_MODE_ON] = "on",
	    [SEG_MODE_OFF] = "off",
	    [SEG_MODE_DORMANT] = "dormant",
	    [SEG_MODE_SAMPLED] = "sampled",
	};

	return WORD(modes, mode);
}

const char *enum_words_state(uint32_t state)
{
	static const char *const states[] = {
	    [SEG_BORN] = "born", [SEG_ALIVE] = "recording", [SEG_INERT] = "inert"};

	return WORD(states, state);
}

const char *enum_words_cross_check(enum cross_check a)
{
	switch (a) {
	case CROSS_CHECK_YES:
		return "agrees";
	case CROSS_CHECK_PARTLY:
		return "agrees in part";
	case CROSS_CHECK_NO:
		return "disagrees";
	case CROSS_CHECK_UNKNOWN:
		break;
	}
	return NULL;
}

const char *enum_words_medium(uint32_t medium)
{
	static const char *const media[] = {
	    [SEG_MEDIUM_TMPFS] = "tmpfs", [SEG_MEDIUM_DISK] = "disk"};

	return WORD(media, medium);
}

const char *enum_words_snapshot(uint32_t reason)
{
	static const char *const reasons[] = {
	    [SEG_SNAPSHOT_COMMAND] = "command",
	    [SEG_SNAPSHOT_PROGRAM] = "program",
	    [SEG_SNAPSHOT_SIGNAL] = "signal",
	    [SEG_SNAPSHOT_PERIOD] = "period",
	    [SEG_SNAPSHOT_GROWTH] = "growth",
	};

	return WORD(reasons, reason);
}

const char *enum_words_mark(uint32_t kind)
{
	static const char *const marks[] = {
	    [CODEC_MARK_START] = "start",
	    [CODEC_MARK_FORK] = "fork",
	    [CODEC_MARK_EXEC] = "exec",
	    [CODEC_MARK_EXIT] = "exit",
	    [CODEC_MARK_END] = "end",
	    [CODEC_MARK_SPAWN] = "spawn",
	};

	return WORD(marks, kind);
}

const char *enum_words_stack(uint32_t flags)
{
	if (flags & SEG_NODE_NO_ROOM)
		return "no_room";
	if (flags & STACKS_UNKNOWN)
		return "unknown";
	if (flags & SEG_NODE_EARLY)
		return "ended_early";
	if (flags & SEG_NODE_OUTER_DROPPED)
		return "outer_dropped";
	if (flags & SEG_NODE_TRUNCATED)
		return "truncated";
	if (flags & SEG_NODE_CUT)
		return "cut";
	return "complete";
}

const char *enum_words_no_frame(uint32_t flags)
{
	if (flags & SEG_NODE_NO_ROOM)
		return "(no room)";
	if (flags & STACKS_UNKNOWN)
		return "(unknown)";
	if (flags & SEG_NODE_EARLY)
		return "(stack not kept: forked child that ended early)";
	if (flags & SEG_NODE_OUTER_DROPPED)
		return "(outer frames dropped)";
	if (flags & SEG_NODE_TRUNCATED)
		return "(stack deeper than the limit)";
	if (flags & SEG_NODE_CUT)
		return "(no unwind information beyond this frame)";
	return NULL;
}

const char *enum_words_loss(char buffer[WORDS_LOSS], uint64_t n, const char *words)
{
	static const char children[] = "children";
	const char *noun = words, *end = words;
	size_t len, kept = 0; /* of what ends with the noun */

	/* the noun is the first or second word: "events", "site ids" */
	for (int i = 0; n == 1 && i < 2 && kept == 0; i++) {
		len = strcspn(noun, " ");
		end = noun + len;
		if (len == sizeof(children) - 1 && strncmp(noun, children, len) == 0)
			kept = (size_t)(noun - words) + strlen("child");
		else if (len > 0 && end[-1] == 's')
			kept = (size_t)(end - words) - 1;
		noun = end + (*end == ' ');
	}
	(void)snprintf(buffer, WORDS_LOSS, "%s %.*s%s", WORDS_COUNT(n), (int)kept, words,
	    kept > 0 ? end : words);
	return buffer;
}
