/* dropin.c - the drop-in of seep service: UNIT.d/50-seep.conf. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/dropin.h"

#include "kit/words/text.h"

#ifndef SEEP_VERSION
#define SEEP_VERSION "0.1"
#endif

/*
 * The first two lines are comments. The second one has a sum of the first, and
 * then one of each line behind it, so that a line that was changed can be named:
 *
 *	# Written by seep 0.1 for redis-server.service.
 *	# seep service disable removes it. Sums of the lines: 5f2ce1a3 ...
 *	[Service]
 */
#define FIRST "# Written by seep "
#define SUMS  "# seep service disable removes it. Sums of the lines:"

enum { LINES_MAX = 64 };

/* ---- text ---- */

void dropin_fit(struct dropin_plan *p, const struct unit *u)
{
	p->has_own_root =
	    unit_get(u, "RootDirectory")[0] == '/' || unit_get(u, "RootImage")[0] == '/';
	p->needs_write = !p->has_own_root && unit_has_mount_namespace(u);
	p->needs_exec = unit_get(u, "NoExecPaths")[0] != '\0';
}

/* NAME=VALUE, of which `tail` may have specifiers. */
static int put_variable(FILE *out, const char *name, const char *value, const char *tail)
{
	char *one = quoting_quote(value, false), *two = NULL;
	bool has_tail = tail && *tail;

	if (has_tail)
		two = quoting_quote(tail, true);
	if (!one || (has_tail && !two)) {
		free(one);
		free(two);
		return -ENOMEM;
	}
	/* two words in quotes that touch are one word */
	(void)fprintf(out, "Environment=\"%s=%.*s%s%s\n", name, (int)(strlen(one) - 2), one + 1,
	    has_tail ? ":" : "\"", has_tail ? two + 1 : "");
	free(one);
	free(two);
	return 0;
}

/* "-": a path that does not exist is no error. */
static int put_path(FILE *out, const char *key, const char *path)
{
	char *quoted = quoting_quote(path, false);

	if (!quoted)
		return -ENOMEM;
	(void)fprintf(out, "%s=\"-%s\n", key, quoted + 1);
	free(quoted);
	return 0;
}

static int put_paths(FILE *out, const struct dropin_plan *p)
{
	char dir[PATH_MAX];
	int err = 0;

	(void)snprintf(
	    dir, sizeof(dir), "%.*s", (int)(text_base(p->library) - p->library - 1), p->library);
	if (p->needs_write)
		err = put_path(out, "ReadWritePaths", p->base);
	if (err == 0 && p->has_own_root)
		err = put_path(out, "BindPaths", p->base);
	if (err == 0 && p->has_own_root)
		err = put_path(out, "BindReadOnlyPaths", dir);
	if (err == 0 && p->needs_exec)
		err = put_path(out, "ExecPaths", dir);
	return err;
}

static int put_number(FILE *out, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return value ? put_variable(out, name, text, NULL) : 0;
}

static int put_settings(FILE *out, const struct dropin_plan *p)
{
	bool has_more = p->companions && *p->companions;
	char *libraries;
	int err;

	if (asprintf(&libraries, "%s%s%s", p->library, has_more ? ":" : "",
	        has_more ? p->companions : "") < 0)
		return -ENOMEM;
	(void)fputs("[Service]\n", out);
	err = put_variable(out, "LD_PRELOAD", libraries, p->preload);
	free(libraries);
	if (err == 0 && p->base && *p->base)
		err = put_variable(out, "SEEP_BASE", p->base, NULL);
	if (err == 0 && p->only && *p->only)
		err = put_variable(out, "SEEP_ONLY", p->only, NULL);
	if (err == 0 && p->is_dormant)
		err = put_variable(out, "SEEP_MODE", "dormant", NULL);
	if (err == 0 && p->no_deepbind)
		err = put_variable(out, "SEEP_DEEPBIND", "clear", NULL);
	if (err == 0)
		err = put_number(out, "SEEP_SAMPLE", p->sample_bytes);
	if (err == 0)
		err = put_number(out, "SEEP_DEPTH", p->depth);
	return err < 0 ? err : put_paths(out, p);
}

/* FNV-1a, of a line without its end. */
static uint32_t sum_of(const char *line, size_t len)
{
	uint32_t sum = UINT32_C(2166136261);

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (uint8_t)line[i]) * UINT32_C(16777619);
	return sum;
}

char *dropin_text(const struct dropin_plan *p, const char *unit)
{
	char first[512], *settings = NULL, *text = NULL;
	size_t len, whole;
	FILE *out = open_memstream(&settings, &len);
	int err;

	if (!out)
		return NULL;
	err = put_settings(out, p);
	if (fclose(out) != 0 || err < 0) {
		free(settings);
		return NULL;
	}
	out = open_memstream(&text, &whole);
	if (!out) {
		free(settings);
		return NULL;
	}
	(void)snprintf(first, sizeof(first), FIRST SEEP_VERSION " for %s.", unit);
	(void)fprintf(out, "%s\n" SUMS " %08" PRIx32, first, sum_of(first, strlen(first)));
	for (const char *at = settings; *at;) {
		size_t n = strcspn(at, "\n");

		(void)fprintf(out, " %08" PRIx32, sum_of(at, n));
		at += n + (at[n] == '\n');
	}
	(void)fprintf(out, "\n%s", settings);
	free(settings);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- is it ours? ---- */

static enum dropin_state changed(struct fault *where, size_t line, const char *text, size_t len)
{
	char shown[96];

	(void)snprintf(shown, sizeof(shown), "%.*s", len > 80 ? 80 : (int)len, text);
	(void)fault_set(where, -EINVAL, "line %zu is not what seep wrote: %s", line, shown);
	return DROPIN_CHANGED;
}

enum dropin_state dropin_judge(const char *text, struct fault *where)
{
	const char *sums = strchr(text, '\n'), *at, *end;
	size_t line = 3;

	if (!text_begins_with(text, FIRST) || !sums || !text_begins_with(sums + 1, SUMS)) {
		(void)fault_set(where, -EINVAL, "seep did not write it");
		return DROPIN_FOREIGN;
	}
	at = text;
	end = sums;
	sums += sizeof(SUMS); /* behind the colon */
	text = strchr(sums, '\n');
	if (!text)
		return changed(where, 2, "", 0);
	/* `at` is a line, `sums` the place of its sum */
	for (size_t i = 0;; i++) {
		char expected[16];

		(void)snprintf(
		    expected, sizeof(expected), " %08" PRIx32, sum_of(at, (size_t)(end - at)));
		if (strncmp(sums, expected, strlen(expected)) != 0)
			return changed(where, i == 0 ? 1 : line - 1, at, (size_t)(end - at));
		sums += strlen(expected);
		at = i == 0 ? text + 1 : end + 1;
		end = strchr(at, '\n');
		if (!end)
			break;
		line++;
	}
	if (*at)
		return changed(where, line, at, strlen(at));
	if (*sums != '\n') {
		(void)fault_set(where, -EINVAL, "lines that seep wrote are missing");
		return DROPIN_CHANGED;
	}
	return DROPIN_OURS;
}

int dropin_look(const char *path, enum dropin_state *ret, char **ret_text, struct fault *where)
{
	char *text = NULL;
	int err = unit_file_text(path, UNIT_FILE_BYTES, &text);

	*ret = DROPIN_NONE;
	if (err == -ENOENT || err == -ENOTDIR)
		return 0;
	if (err < 0)
		return err;
	*ret = dropin_judge(text, where);
	if (ret_text)
		*ret_text = text;
	else
		free(text);
	return 0;
}
