/* ls_history.c - seep ls: what seep watch has written down. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "session/load/history.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

struct shower {
	ls_history_show *show;
	void *context;
};

static int show_item(void *context, const struct history_item *item)
{
	const struct shower *s = context;
	struct process p = *item->process;
	const struct ls_row row = {.process = &p,
	    .owner = (uid_t)(p.owner ? p.owner - 1 : 0),
	    .stored_bytes = item->stored_bytes,
	    .folder = item->folder,
	    .name = item->chapter};

	/* it ran when the chapter ended; whether it still does is not known */
	if (p.end == PROCESS_RUNNING)
		p.end = PROCESS_UNKNOWN;
	s->show(s->context, &row);
	return 0;
}

static void warn_of_damage(const char *path, uint64_t damaged)
{
	if (damaged > 0)
		die_warn("%s: %s could not be read whole", path, WORDS_COUNTED(damaged, "chapter"));
}

static uint64_t list(const char *path, uint64_t until_ns, struct shower *s, bool may_lack)
{
	struct history_scan q = {.until_ns = until_ns};
	struct fault where = {""};
	int err = history_scan(path, &q, show_item, s, &where);

	if (may_lack && (err == -ENOENT || err == -EINVAL || err == -EACCES))
		return 0;
	if (err == -ENOTSUP)
		die(CMD_INPUT,
		    "%s: written by another version of seep (%s); use that one "
		    "to read it",
		    path, where.text);
	if (err == -EACCES)
		die(CMD_INPUT, "%s: may not be read (%s); try as its owner or as root", path,
		    where.text);
	if (err < 0)
		die(CMD_INPUT, "%s: %s", path, where.text);
	warn_of_damage(path, q.damaged);
	return q.unread;
}

uint64_t ls_history_list(const char *path, uint64_t until_ns, ls_history_show *show, void *context)
{
	struct shower s = {.show = show, .context = context};
	char own[HISTORY_PATH_BYTES];
	uint64_t unread = 0;

	if (path)
		return list(path, until_ns, &s, false);
	for (int i = 0; i < HISTORY_DEFAULTS; i++)
		if (history_default(i, own))
			unread += list(own, until_ns, &s, true);
	return unread;
}

void ls_history_hint(void)
{
	char path[HISTORY_PATH_BYTES];
	struct listing_names services;

	for (int i = 0; i < HISTORY_DEFAULTS; i++) {
		if (!history_default(i, path) || history_services(path, &services, NULL) < 0)
			continue;
		if (services.count > 0) {
			(void)printf("seep watch keeps a history of %s in ",
			    WORDS_COUNTED(services.count, "service"));
			text_print(stdout, path);
			(void)printf(": seep ls --history\n");
		}
		listing_release(&services);
	}
}
