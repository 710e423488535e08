/* load_text.c - the entries of a recording that are lines of text. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "session/load/load_parts.h"

#include "base/std.h"
/* The value of a line "key=value"; *ret_len is 0 if there is no such line. */
static const char *value_of(const char *text, size_t len, const char *key, int *ret_len)
{
	size_t n = strlen(key);

	*ret_len = 0;
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;

		if (line > n && memcmp(text, key, n) == 0 && text[n] == '=') {
			*ret_len = line - n - 1 > 1000 ? 1000 : (int)(line - n - 1);
			return text + n + 1;
		}
		line += end ? 1 : 0;
		text += line;
		len -= line;
	}
	return "";
}

int load_untraced(struct session *s, const char *text, size_t len)
{
	const char *pid, *exe, *reason, *refused;
	int pid_len, exe_len, reason_len, refused_len = 0;

	pid = value_of(text, len, "pid", &pid_len);
	exe = value_of(text, len, "exe", &exe_len);
	reason = value_of(text, len, "reason", &reason_len);
	refused = value_of(text, len, "refused", &refused_len);
	/* it would have been traced, so the recording is incomplete */
	s->is_truncated |= refused_len > 0;
	if (refused_len > 0 && pid_len == 1 && pid[0] == '0')
		return session_note(s, "%.*s more processes were not traced: %.*s", refused_len,
		    refused, reason_len, reason);
	return session_note(s, "process %.*s (%.*s) was not traced: %.*s", pid_len, pid, exe_len,
	    exe, reason_len, reason);
}

uint64_t load_text_number(const char *text, size_t len, const char *key)
{
	char number[24];
	const char *value;
	int n;

	value = value_of(text, len, key, &n);
	if (n == 0 || n >= (int)sizeof(number))
		return 0;
	memcpy(number, value, (size_t)n);
	number[n] = '\0';
	return strtoull(number, NULL, 10);
}

/* Parts of the time line for which the recorder had no room. */
static int note_cut(struct session *s, const char *text, size_t len)
{
	uint64_t unwatched = load_text_number(text, len, "unwatched");
	uint64_t unplaced = load_text_number(text, len, "unplaced");
	int err = 0;

	if (unplaced)
		err = session_note(s,
		    "%llu module%s of a relative path %s not looked for: "
		    "functions there may have no names",
		    (unsigned long long)unplaced, unplaced == 1 ? "" : "s",
		    unplaced == 1 ? "was" : "were");
	if (err == 0 && unwatched)
		err = session_note(s,
		    "%llu process%s no time line: there was no memory to watch "
		    "more of them",
		    (unsigned long long)unwatched, unwatched == 1 ? " has" : "es have");
	if (err == 0 && load_text_number(text, len, "line_cut")) {
		s->is_truncated = true;
		err = session_note(s,
		    "the time line ends before the command: the recording had "
		    "its full size (record --max-size)");
	}
	return err;
}

int load_about(struct load *r, const char *text, size_t len)
{
	struct session *s = r->session;
	uint64_t start_ns = load_text_number(text, len, "start_ns");
	uint64_t killed = load_text_number(text, len, "oom_kills");

	if (start_ns)
		s->start_ns = start_ns;
	r->max_rss_bytes = load_text_number(text, len, "max_rss_bytes");
	r->command_pid = (uint32_t)load_text_number(text, len, "pid");
	s->command_pid = r->command_pid;
	s->leaks_asked |= load_text_number(text, len, "leaks") > 0;
	if (note_cut(s, text, len) < 0)
		return -ENOMEM;
	if (!killed)
		return 0;
	return session_note(s,
	    "the kernel's OOM killer ended %llu process%s in the memory cgroup "
	    "of the recording while it ran",
	    (unsigned long long)killed, killed == 1 ? "" : "es");
}
