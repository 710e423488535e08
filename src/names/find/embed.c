/* embed.c - finds names for a recording, after its program has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/names.h"

#include "base/std.h"
enum {
	SECONDS = 30, /* the user waits for a prompt */
	LEVEL = 3,    /* of compression */
};

struct embed {
	struct names *names;
	bool any;
};

/* The file, and how much of it is names. */
struct target {
	struct recording_writer *writer;
	size_t bytes;
};

int embed_new(const struct names_options *options, struct embed **ret)
{
	struct names_options bounded = *options;
	struct embed *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	if (bounded.seconds == 0)
		bounded.seconds = SECONDS;
	err = names_new(&bounded, &e->names);
	if (err < 0) {
		free(e);
		return err;
	}
	*ret = e;
	return 0;
}

void embed_free(struct embed *e)
{
	if (!e)
		return;
	names_free(e->names);
	free(e);
}

void embed_add(void *context, const struct process *p)
{
	struct embed *e = context;

	/* frames without memory for their names stay without */
	(void)names_gather(e->names, p);
	e->any = true;
}

uint64_t embed_view(struct embed *e, const struct process *p)
{
	return names_view(e->names, p);
}

size_t embed_outside(const struct embed *e)
{
	struct names_gaps gaps;

	names_gaps(e->names, &gaps);
	return gaps.outside_frames;
}

static int append(void *context, const uint8_t *bytes, size_t len)
{
	struct target *t = context;

	if (len > RECORDING_NAMES_MAX - t->bytes)
		return 0; /* a reader would refuse it */
	t->bytes += len;
	return recording_append_packed(t->writer, RECORDING_NAMES, NULL, 0, bytes, len, LEVEL);
}

int embed_write(struct embed *e, struct recording_writer *w)
{
	struct target target = {.writer = w};
	int err;

	if (!e->any)
		return 0;
	err = recording_checkpoint(w);
	if (err < 0)
		return err;
	names_resolve(e->names);
	err = names_write(e->names, append, &target);
	if (err < 0)
		return recording_rollback(w) < 0 ? err : 1;
	return 0;
}
