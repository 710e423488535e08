/* site_metrics.c - metrics of the sites that hold most. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/metrics.h"

#include "view/stacks/fingerprint.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "follow/history/store.h"

struct site {
	char service[FOLDER_NAME_BYTES];
	uint64_t fingerprint;
	uint64_t live_bytes, live_blocks;
	char place[256]; /* the function that heads it */
};

struct sites {
	unsigned top;
	struct site *list;
	size_t count, room;
};

struct sites *site_metrics_new(unsigned top)
{
	struct sites *s = calloc(1, sizeof(*s));

	if (s)
		s->top = top;
	return s;
}

void site_metrics_free(struct sites *s)
{
	if (s)
		free(s->list);
	free(s);
}

BY(by_fingerprint, struct site, UP(fingerprint))

static int by_bytes(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->live_bytes > y->live_bytes ? -1
	    : x->live_bytes < y->live_bytes  ? 1
	                                     : by_fingerprint(a, b);
}

/* Two stacks may share a fingerprint; a series has its name once. */
static size_t join_equal(struct site *list, size_t count)
{
	size_t n = 0;

	qsort(list, count, sizeof(*list), by_fingerprint);
	for (size_t i = 0; i < count; i++) {
		struct site *to = n > 0 ? &list[n - 1] : NULL;

		if (!to || to->fingerprint != list[i].fingerprint) {
			list[n++] = list[i];
			continue;
		}
		to->live_bytes = capped_sum(to->live_bytes, list[i].live_bytes);
		to->live_blocks = capped_sum(to->live_blocks, list[i].live_blocks);
	}
	return n;
}

static int keep_top(struct sites *s, struct site *list, size_t count)
{
	count = join_equal(list, count);
	qsort(list, count, sizeof(*list), by_bytes);
	for (size_t i = 0; i < count && i < s->top; i++) {
		if (room_make(&s->list, &s->room, s->count, sizeof(*s->list)) < 0)
			return -ENOMEM;
		s->list[s->count++] = list[i];
	}
	return 0;
}

/* The first function of "add < handle < main". */
static void set_place(struct site *site, const char *text)
{
	const char *end = strstr(text, " < ");
	size_t len = end ? (size_t)(end - text) : strlen(text);

	(void)snprintf(site->place, sizeof(site->place), "%.*s", (int)len, text);
}

int site_metrics_add(struct sites *s, const char *service, const struct session *session,
    struct names *names, struct suppress *suppress)
{
	const struct view_options options = {
	    .metric = VIEW_LIVE, .group = true, .merge = true, .suppress = suppress};
	struct fingerprints *prints = NULL;
	struct site *list = NULL;
	struct fingerprint *print = malloc(sizeof(*print));
	struct view *v = NULL;
	int err = print ? view_new(session, names, &options, &v) : -ENOMEM;

	if (err == 0)
		err = fingerprints_new(v, &prints);
	if (err == 0) {
		list = calloc(v->site_count + 1, sizeof(*list));
		err = list ? 0 : -ENOMEM;
	}
	for (size_t i = 0; err == 0 && i < v->site_count; i++) {
		const struct view_site *site = &v->sites[i];
		const struct process_figures *f = &site->figures.all;

		fingerprints_site(prints, site, print);
		list[i] = (struct site){.fingerprint = print->hash,
		    .live_bytes = f->live_bytes,
		    .live_blocks = f->live_blocks};
		(void)snprintf(list[i].service, sizeof(list[i].service), "%s", service);
		set_place(&list[i], print->text);
	}
	if (err == 0)
		err = keep_top(s, list, v->site_count);
	fingerprints_free(prints);
	view_free(v);
	free(list);
	free(print);
	return err;
}

static void put_family(const struct sites *s, struct metrics *m, bool blocks)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct site *x = &s->list[i];
		char hash[17];

		(void)snprintf(hash, sizeof(hash), "%016" PRIx64, x->fingerprint);
		metrics_put(m, blocks ? x->live_blocks : x->live_bytes, "service", x->service,
		    "site", hash, "function", x->place, METRICS_LAST);
	}
}

void site_metrics_write(const struct sites *s, FILE *out)
{
	struct metrics m = {.out = out};

	metrics_family(&m, "seep_site_live_bytes", METRICS_GAUGE,
	    "Live bytes of the sites that hold most; site is the fingerprint "
	    "of seep check.");
	put_family(s, &m, false);
	metrics_family(
	    &m, "seep_site_live_blocks", METRICS_GAUGE, "Live blocks of the same sites.");
	put_family(s, &m, true);
}
