/* folder_name.c - the folder of a service in a history. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/store.h"

#include "host/proc/procfs_group.h"
#include "kit/words/text.h"

enum {
	TEXT_MAX = 1024, /* bytes that are looked at */
	TAIL_BYTES = 40, /* of "%h" and a hash, of "%u" and a uid */
	ID_DIGITS = 12,  /* a container's id has at least so many */
};

static bool is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c && strchr("_.@:+,=-", c));
}

/* "nginx.service", "session-1.scope" */
static bool is_unit(const char *text)
{
	static const char *const kinds[] = {".service", ".scope", ".slice", ".socket", ".mount",
	    ".timer", ".target", ".swap", ".path"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text_ends_with(text, kinds[i]))
			return true;
	return false;
}

static bool is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == strlen(text) && strlen(text) >= ID_DIGITS;
}

/* What says of which kind the name is. */
static const char *ending_of(const struct folder_service *s)
{
	if (s->kind == FOLDER_UNIT)
		return is_unit(s->text) ? "" : ".service";
	if (s->kind == FOLDER_CONTAINER)
		return is_id(s->text) ? "" : "%n";
	return "";
}

/* FNV-1a, twice with different starts: for names that nobody can read anyway. */
static void put_hash(char *to, size_t bytes, const char *text)
{
	uint64_t a = UINT64_C(0xcbf29ce484222325), b = ~a;

	for (const char *p = text; *p; p++) {
		a = (a ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
		b = (b ^ (unsigned char)*p) * UINT64_C(0x9e3779b97f4a7c15);
		b ^= b >> 29;
	}
	(void)snprintf(to, bytes, "%%h%016llx%08x", (unsigned long long)a, (unsigned)(b >> 32));
}

void folder_name(const struct folder_service *s, uid_t self, char to[FOLDER_NAME_BYTES])
{
	char whole[TEXT_MAX * 3 + TAIL_BYTES], hash[TAIL_BYTES];
	bool is_program = s->kind == FOLDER_PROGRAM;
	bool first = (is_program && (is_unit(s->text) || is_id(s->text))) || s->text[0] == '.' ||
	    s->text[0] == '-';
	size_t n = 0;

	for (size_t i = 0; i < TEXT_MAX && s->text[i]; i++) {
		unsigned char c = (unsigned char)s->text[i];

		if (is_plain(c) && !(i == 0 && first))
			whole[n++] = (char)c;
		else
			n += (size_t)snprintf(whole + n, sizeof(whole) - n, "%%%02x", c);
	}
	whole[n] = '\0';
	if (n == 0)
		n = (size_t)snprintf(whole, sizeof(whole), "%%00");
	n += (size_t)snprintf(whole + n, sizeof(whole) - n, "%s", ending_of(s));
	if ((is_program || s->is_chosen) && s->uid != self)
		(void)snprintf(whole + n, sizeof(whole) - n, "%%u%u", (unsigned)s->uid);
	if (strlen(whole) < FOLDER_NAME_BYTES) {
		memcpy(to, whole, strlen(whole) + 1);
		return;
	}
	put_hash(hash, sizeof(hash), whole);
	(void)snprintf(
	    to, FOLDER_NAME_BYTES, "%.*s%s", (int)(FOLDER_NAME_BYTES - TAIL_BYTES), whole, hash);
}

/* ---- folder_service: which service a process that runs belongs to ---- */

/*
 * Whoever has cgroups of his own, as the users in user.slice, gives them any
 * name.
 */
static bool is_chosen_by_user(const struct engine_process *p)
{
	struct procfs_group g;

	return p->pid == 0 || procfs_group_of(p->pid, &g) < 0 || g.memory[0] == '\0' ||
	    strstr(g.memory, "/user.slice") != NULL;
}

void folder_service_of(const struct engine_process *p, uid_t uid, struct folder_service *ret)
{
	*ret = (struct folder_service){.text = p->service,
	    .uid = uid,
	    .kind = p->has_unit    ? FOLDER_UNIT
	        : p->has_container ? FOLDER_CONTAINER
	                           : FOLDER_PROGRAM};
	ret->is_chosen = uid != geteuid() && ret->kind != FOLDER_PROGRAM && is_chosen_by_user(p);
}
