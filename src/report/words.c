/* words.c - numbers of the format as words, numbers of bytes as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words.h"

#include <inttypes.h>
#include <string.h>

#include "trace/codec.h"

static const char *
word(const char *const *words, size_t count, uint64_t i)
{
	return i < count && words[i] ? words[i] : "unknown";
}

#define WORD(table, i) word(table, sizeof(table) / sizeof((table)[0]), i)

const char *
words_kind(uint8_t kind)
{
	static const char *const kinds[] = {
	    [SEG_SITE_HEAP] = "heap", [SEG_SITE_USER] = "user"};

	return WORD(kinds, kind);
}

const char *
words_api(uint8_t api)
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
	};

	return WORD(apis, api);
}

const char *
words_end(enum process_end end)
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

const char *
words_ended(const struct process *p)
{
	if (p->end == PROCESS_GONE)
		return "ended"; /* by _exit or by a signal */
	return words_end(p->end);
}

const char *
words_mode(uint32_t mode)
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

const char *
words_state(uint32_t state)
{
	static const char *const states[] = {[SEG_BORN] = "born",
	    [SEG_ALIVE] = "recording",
	    [SEG_INERT] = "inert"};

	return WORD(states, state);
}

const char *
words_cross_check(enum cross_check a)
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

const char *
words_medium(uint32_t medium)
{
	static const char *const media[] = {
	    [SEG_MEDIUM_TMPFS] = "tmpfs", [SEG_MEDIUM_DISK] = "disk"};

	return WORD(media, medium);
}

const char *
words_snapshot(uint32_t reason)
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

const char *
words_mark(uint32_t kind)
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

const char *
words_stack(uint32_t flags)
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

const char *
words_no_frame(uint32_t flags)
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

const char *
words_count(char buffer[WORDS_MAX], uint64_t n)
{
	char *p = buffer + WORDS_MAX;
	int digits = 0;

	*--p = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		n /= 10;
		digits++;
	} while (n > 0);
	return memmove(buffer, p, (size_t)(buffer + WORDS_MAX - p));
}

const char *
words_counted(char buffer[WORDS_COUNTED], uint64_t n, const char *noun)
{
	size_t len = strlen(noun);
	char digits[WORDS_MAX];
	const char *end = "";

	if (n != 1)
		end = len > 0 && noun[len - 1] == 's' ? "es" : "s";
	(void)snprintf(buffer, WORDS_COUNTED, "%s %s%s", words_count(digits, n),
	    noun, end);
	return buffer;
}

const char *
words_was(uint64_t n)
{
	return n == 1 ? "was" : "were";
}

const char *
words_is(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

const char *
words_loss(char buffer[WORDS_LOSS], uint64_t n, const char *words)
{
	static const char children[] = "children";
	const char *noun = words, *end = words;
	char digits[WORDS_MAX];
	size_t len, kept = 0; /* of what ends with the noun */

	/* the noun is the first or second word: "events", "site ids" */
	for (int i = 0; n == 1 && i < 2 && kept == 0; i++) {
		len = strcspn(noun, " ");
		end = noun + len;
		if (len == sizeof(children) - 1 &&
		    strncmp(noun, children, len) == 0)
			kept = (size_t)(noun - words) + strlen("child");
		else if (len > 0 && end[-1] == 's')
			kept = (size_t)(end - words) - 1;
		noun = end + (*end == ' ');
	}
	(void)snprintf(buffer, WORDS_LOSS, "%s %.*s%s", words_count(digits, n),
	    (int)kept, words, kept > 0 ? end : words);
	return buffer;
}

const char *
words_bytes(char buffer[WORDS_MAX], uint64_t n)
{
	static const char *const units[] = {
	    "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)n / 1024;
	size_t i = 0;

	if (n < 1024) {
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " byte%s", n,
		    n == 1 ? "" : "s");
		return buffer;
	}
	while (value >= 1023.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		i++;
	}
	(void)snprintf(buffer, WORDS_MAX, "%.1f %s", value, units[i]);
	return buffer;
}

const char *
words_time(char buffer[WORDS_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s == 0)
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 " ms", ns / 1000000);
	else if (s < 60)
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 ".%u s", s,
		    (unsigned)(ns / 100000000 % 10));
	else if (s < 3600)
		(void)snprintf(buffer, WORDS_MAX,
		    "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(buffer, WORDS_MAX,
		    "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	else
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " d %" PRIu64 " h",
		    s / 86400, s / 3600 % 24);
	return buffer;
}
