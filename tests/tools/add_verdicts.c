/* add_verdicts.c - a copy of a recording, with verdicts that a test has made up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/load/session.h"
#include "recording/file/recording.h"
#include "recording/parts/verdicts.h"

/*
 * usage: add_verdicts RECORDING RESULT
 * Lines on stdin, words with spaces between:
 *   process PID [FIELD=NUMBER]...     begins the verdicts of a process;
 *                                     #1 is the first one, whatever its pid
 *   site ID [FIELD=NUMBER]...         one row of it; type=NAME is a text
 *   inventory FILE                    of the process: bytes as of
 *                                     recording/parts/inventory.h
 * Fields are called as in recording/parts/verdicts.h; class 1 is a leak, 2 possible.
 * blocks and bytes of a site are made of direct and indirect ones.
 */
enum { SITES_MAX = 1000, LINE_MAX_BYTES = 4096 };

struct field {
	const char *name;
	void *at;
	size_t bytes; /* 1: a bool */
};

static struct verdict_site sites[SITES_MAX];
static struct verdicts verdicts;
static uint8_t uuid[16];
static bool is_open;

static void die(const char *what, const char *which)
{
	(void)fprintf(stderr, "add_verdicts: %s: %s\n", what, which);
	exit(1);
}

static void set(const struct field *fields, const char *word)
{
	for (const struct field *f = fields; f->name; f++) {
		size_t n = strlen(f->name);
		uint64_t value;

		if (strncmp(word, f->name, n) != 0 || word[n] != '=')
			continue;
		value = strtoull(word + n + 1, NULL, 0);
		memcpy(f->at, &value, f->bytes); /* little endian */
		return;
	}
	die("no such field", word);
}

static void set_process(const char *word)
{
	const struct field fields[] = {
	    {"reason", &verdicts.reason, 4},
	    {"looks", &verdicts.looks, 4},
	    {"at_exit", &verdicts.at_exit, 1},
	    {"stopped", &verdicts.stopped, 1},
	    {"heads_only", &verdicts.heads_only, 1},
	    {"begin_ns", &verdicts.begin_ns, 8},
	    {"end_ns", &verdicts.end_ns, 8},
	    {"blocks", &verdicts.blocks, 8},
	    {"bytes", &verdicts.bytes, 8},
	    {"refused_blocks", &verdicts.refused_blocks, 8},
	    {"ignored_blocks", &verdicts.ignored_blocks, 8},
	    {"ignored_bytes", &verdicts.ignored_bytes, 8},
	    {"swapped_bytes", &verdicts.swapped_bytes, 8},
	    {"unreadable_bytes", &verdicts.unreadable_bytes, 8},
	    {"device_bytes", &verdicts.device_bytes, 8},
	    {"ring_bytes", &verdicts.ring_bytes, 8},
	    {"pause_ns", &verdicts.pause_ns, 8},
	    {NULL, NULL, 0},
	};

	set(fields, word);
}

static void set_site(struct verdict_site *s, const char *word)
{
	const struct field fields[] = {
	    {"class", &s->class, 4},
	    {"notes", &s->notes, 4},
	    {"first_birth", &s->first_birth, 4},
	    {"last_birth", &s->last_birth, 4},
	    {"direct_blocks", &s->direct_blocks, 8},
	    {"direct_bytes", &s->direct_bytes, 8},
	    {"cycle_blocks", &s->cycle_blocks, 8},
	    {"cycle_bytes", &s->cycle_bytes, 8},
	    {"indirect_blocks", &s->indirect_blocks, 8},
	    {"indirect_bytes", &s->indirect_bytes, 8},
	    {"held_again", &s->held_again, 8},
	    {"freed_late", &s->freed_late, 8},
	    {NULL, NULL, 0},
	};

	if (strncmp(word, "type=", 5) == 0)
		s->type = strdup(word + 5);
	else
		set(fields, word);
	s->blocks = s->direct_blocks + s->indirect_blocks;
	s->bytes = s->direct_bytes + s->indirect_bytes;
}

/* Appends what has been read, if there is something. */
static void flush(struct recording_writer *w)
{
	uint8_t *bytes;
	size_t len;

	if (!is_open)
		return;
	verdicts.sites = sites;
	if (verdicts_encode(&verdicts, &bytes, &len) < 0 ||
	    recording_append_packed(w, RECORDING_VERDICTS, uuid, sizeof(uuid), bytes, len, 3) < 0)
		die("cannot write", "verdicts");
	free(bytes);
	memset(sites, 0, sizeof(sites));
	verdicts = (struct verdicts){0};
	is_open = false;
}

static void begin_process(const struct session *s, const char *pid)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		if (pid[0] == '#' ? i + 1 != strtoul(pid + 1, NULL, 10)
		                  : p->header.pid != strtoul(pid, NULL, 10))
			continue;
		memcpy(uuid, p->header.uuid, sizeof(uuid));
		is_open = true;
	}
	if (!is_open)
		die("no such process", pid);
}

/* Any bytes, so that a test can have damaged ones. */
static void add_inventory(struct recording_writer *w, const char *path)
{
	FILE *f = fopen(path, "re");
	static uint8_t bytes[64 << 10];
	size_t len = f ? fread(bytes, 1, sizeof(bytes), f) : 0;

	if (!f || !is_open ||
	    recording_append_packed(w, RECORDING_INVENTORY, uuid, sizeof(uuid), bytes, len, 3) < 0)
		die("cannot add", path);
	(void)fclose(f);
}

static void take_line(struct recording_writer *w, const struct session *s, char *line)
{
	char *rest, *word = strtok_r(line, " \n", &rest);
	char *id = word ? strtok_r(NULL, " \n", &rest) : NULL;
	struct verdict_site *site = NULL;

	if (!word)
		return;
	if (id && strcmp(word, "process") == 0) {
		flush(w);
		begin_process(s, id);
	} else if (id && strcmp(word, "inventory") == 0) {
		add_inventory(w, id);
	} else if (id && strcmp(word, "site") == 0 && is_open && verdicts.count < SITES_MAX) {
		site = &sites[verdicts.count++];
		site->site = (uint32_t)strtoul(id, NULL, 10);
	} else {
		die("neither a process nor a site of one", word);
	}
	while ((word = strtok_r(NULL, " \n", &rest)) != NULL)
		if (site)
			set_site(site, word);
		else
			set_process(word);
}

static void copy(struct recording *from, struct recording_writer *to)
{
	const void *bytes;
	uint32_t type;
	size_t len;

	while (recording_next(from, &type, &bytes, &len) == 1)
		if (recording_append_packed(to, (enum recording_type)type, NULL, 0, bytes, len, 3) <
		    0)
			die("cannot write", "an entry");
}

int main(int argc, char **argv)
{
	struct recording_writer *w;
	char line[LINE_MAX_BYTES];
	struct recording *from;
	struct fault where;
	struct session *s;

	if (argc != 3)
		die("usage", "add_verdicts RECORDING RESULT");
	if (session_load(argv[1], &s, &where) < 0)
		die(argv[1], where.text);
	if (recording_open(argv[1], &from) < 0 ||
	    recording_create(argv[2], RECORDING_REPLACE, &w) < 0)
		die("cannot open", argv[2]);
	copy(from, w);
	while (fgets(line, sizeof(line), stdin))
		take_line(w, s, line);
	flush(w);
	if (recording_finish(w) < 0)
		die("cannot write", argv[2]);
	recording_close(from);
	session_free(s);
	return 0;
}
