/* events_out.c - the events of a process as other tools write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/events_out.h"

#include "format/seg_log.h"

static const struct events_out_writer *const writers[] = {
    [EVENTS_OUT_MEMTRAIL] = &events_out_memtrail,
    [EVENTS_OUT_MMLEAK] = &events_out_mmleak,
    [EVENTS_OUT_HEAPTRACK] = &events_out_heaptrack,
};

int events_out_new(FILE *out, const struct view *v, uint32_t process, enum events_out_format format,
    const char *version, struct events_out **ret)
{
	const struct process *p = v->session->processes[process];
	struct events_out *o = calloc(1, sizeof(*o));
	uint32_t *by_site = calloc(p->site_count + 1, sizeof(*by_site));

	if (!o || !by_site) {
		free(o);
		free(by_site);
		return -ENOMEM;
	}
	for (size_t i = 0; i < v->site_count; i++)
		if (v->sites[i].process == process)
			by_site[v->sites[i].site] = (uint32_t)i + 1;
	*o = (struct events_out){.out = out,
	    .view = v,
	    .process = p,
	    .number = process,
	    .version = version,
	    .writer = writers[format],
	    .by_site = by_site,
	    .live = {.item_bytes = sizeof(struct events_out_block)},
	    .ms = UINT64_MAX};
	*ret = o;
	return 0;
}

void events_out_free(struct events_out *o)
{
	if (!o)
		return;
	o->writer->release(o);
	keyed_release(&o->live);
	free(o->by_site);
	free(o);
}

uint64_t events_out_left_out(const struct events_out *o)
{
	return o->left_out;
}

uint64_t events_out_written(const struct events_out *o)
{
	return o->written;
}

static int begin(struct events_out *o)
{
	if (o->has_begun)
		return 0;
	o->has_begun = true;
	return o->writer->begin(o);
}

void events_out_begin(struct events_out *o)
{
	(void)begin(o);
}

/* False: the view does not want it. */
static bool find_site(const struct events_out *o, uint32_t id, uint32_t *ret)
{
	const struct process *p = o->process;
	const struct process_id *found = process_find_id(p, id);

	*ret = EVENTS_OUT_NOWHERE;
	if (!found) /* it is newer than what was read of the process */
		return true;
	if (o->by_site[found->site] == 0)
		return false;
	*ret = o->by_site[found->site] - 1;
	return true;
}

/* ---- blocks ---- */

static uint64_t key_of(uint64_t address, uint32_t name)
{
	return address ? address : name;
}

static int remove_block(struct events_out *o, struct events_out_block *b)
{
	const struct events_out_block gone = *b;

	keyed_remove(&o->live, b);
	o->stamp++;
	o->written++;
	return o->writer->go(o, &gone);
}

/*
 * Among threads the order is exact to about 10 ms, so a block may come while
 * another one has its address: that one's free comes later, or both the
 * allocation and the free of the new block belong before it. Instead of the
 * address the new block gets a number that no address is.
 */
static uint64_t key_beside(uint32_t name)
{
	return UINT64_C(1) << 63 | name;
}

static int put_free(struct events_out *o, uint64_t address, uint32_t name)
{
	struct events_out_block *b = keyed_find(&o->live, key_of(address, name));

	if (!b || b->name != name)
		b = keyed_find(&o->live, key_beside(name));
	if (b && b->name == name)
		return remove_block(o, b);
	o->left_out++;
	return 0;
}

static int put_alloc(struct events_out *o, const struct events_event *e)
{
	uint64_t key = key_of(e->address, e->name);
	struct events_out_block *b = keyed_find(&o->live, key);
	uint32_t site;
	int err = 0;

	if (key == 0 || !find_site(o, e->site, &site))
		return 0;
	if (b && b->name != e->name) {
		key = key_beside(e->name);
		b = keyed_find(&o->live, key);
	}
	if (b)
		err = remove_block(o, b);
	b = keyed_put(&o->live, key);
	if (!b)
		return -ENOMEM;
	*b = (struct events_out_block){.key = key, .size = e->size, .name = e->name, .site = site};
	o->stamp++;
	o->written++;
	return err < 0 ? err : o->writer->come(o, b);
}

static int put_time(struct events_out *o, const struct events_event *e)
{
	uint64_t ms = e->tick < UINT64_MAX / LOG_TICK_NS ? e->tick * (LOG_TICK_NS / 1000000) : 0;

	/* threads differ by up to 10 ms, but a file's time never goes back */
	if (!o->writer->at || (o->ms != UINT64_MAX && ms <= o->ms))
		return 0;
	o->ms = ms;
	return o->writer->at(o, ms);
}

int events_out_put(void *out, const struct events_event *e)
{
	struct events_out *o = out;
	int err;

	if (memcmp(e->process->uuid, o->process->header.uuid, 16) != 0)
		return 0;
	err = begin(o);
	if (err == 0)
		err = put_time(o, e);
	if (err == 0 && (e->kind == EVENTS_FREE || e->kind == EVENTS_REALLOC))
		err = put_free(o, e->old_address, e->name);
	if (err == 0 && (e->kind == EVENTS_ALLOC || e->kind == EVENTS_REALLOC))
		err = put_alloc(o, e);
	o->left_out += e->kind == EVENTS_INHERITED || e->kind == EVENTS_UNLOGGED;
	if (err < 0)
		return err;
	return ferror(o->out) ? -EIO : 0;
}
