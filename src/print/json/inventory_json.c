/* inventory_json.c - who held how much at the last look, from a recording, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/leaks_json.h"

#include "findings/by_type.h"
#include "names/find/program.h"
#include "kit/json/json_put.h"

enum { NS_PER_MS = 1000000 };

static void put_sum(
    struct json *out, const char *blocks, const char *bytes, const struct inventory_sum *s)
{
	json_number(out, blocks, s->blocks);
	json_number(out, bytes, s->bytes);
}

static void put_part(struct json *out, const char *name, const struct inventory_sum *s)
{
	JSON_OBJECT(out, name, {"blocks", s->blocks}, {"bytes", s->bytes});
}

/* ---- sites ---- */

static int by_retained(const void *a, const void *b, void *context)
{
	const struct inventory_site *sites = context;
	const struct inventory_site *x = &sites[*(const uint32_t *)a];
	const struct inventory_site *y = &sites[*(const uint32_t *)b];

	if (x->retained.bytes != y->retained.bytes)
		return x->retained.bytes > y->retained.bytes ? -1 : 1;
	if (x->live.bytes != y->live.bytes)
		return x->live.bytes > y->live.bytes ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

int inventory_json_order(const struct inventory *v, uint32_t **ret)
{
	uint32_t *order = calloc(v->site_count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->site_count; i++)
		order[i] = i;
	if (v->site_count > 0)
		qsort_r(order, v->site_count, sizeof(*order), by_retained, v->sites);
	*ret = order;
	return 0;
}

static void put_site(struct json *out, const struct inventory_site *x)
{
	json_object(out, NULL);
	json_number_or_null(out, "id", x->id, x->id);
	json_text(out, "function", x->function);
	put_sum(out, "live_blocks", "live_bytes", &x->live);
	put_sum(out, "retained_blocks", "retained_bytes", &x->retained);
	json_text(out, "held_by", x->held);
	json_end(out);
}

static int put_sites(struct json *out, const struct inventory *v)
{
	uint32_t *order;
	int err = inventory_json_order(v, &order);

	if (err < 0)
		return err;
	json_rows(out, "sites");
	for (size_t i = 0; i < v->site_count; i++)
		put_site(out, &v->sites[order[i]]);
	json_end(out);
	free(order);
	return 0;
}

void inventory_json_site(struct json *out, const struct process *p, uint32_t id)
{
	const struct inventory_site *x =
	    p && p->inventory ? inventory_find(p->inventory, id) : NULL;

	if (!x)
		return;
	put_sum(out, "retained_blocks", "retained_bytes", &x->retained);
	json_text(out, "held_by", x->held);
}

/* ---- holders ---- */

static void put_holders(struct json *out, const struct inventory *v, const char *key)
{
	json_rows(out, "retained");
	for (size_t i = 0; i < v->holder_count; i++) {
		const struct inventory_holder *x = &v->holders[i];

		json_object(out, NULL);
		json_number(out, "retained_blocks", x->retained.blocks);
		json_number(out, "retained_bytes", x->retained.bytes);
		json_text(out, key, x->way);
		json_end(out);
	}
	json_end(out);
}

static int put_process(struct json *out, const struct process *p, const struct inventory_json *j)
{
	const struct inventory *v = p->inventory;
	const struct inventory_site *site;
	int err = 0;

	json_object(out, NULL);
	json_number(out, "pid", p->header.pid);
	json_text(out, "program", program_name(&p->header));
	json_hex(out, "uuid", p->header.uuid, sizeof(p->header.uuid));
	json_boolean(out, "at_exit", v->at_exit);
	json_number(out, "seen_ms", v->time_ns / NS_PER_MS);
	json_number(out, "taken_ms", v->taken_ns / NS_PER_MS);
	json_boolean(out, "left_out", v->is_short);
	json_boolean(out, "blocks_unknown", v->is_partial);
	put_sum(out, "blocks", "bytes", &v->all);
	put_sum(out, "unheld_blocks", "unheld_bytes", &v->unheld);
	if (j->id) {
		site = inventory_find(v, j->id);
		json_key(out, "held");
		if (site)
			put_site(out, site);
		else
			json_null(out, NULL);
	}
	if (j->retained) {
		put_holders(out, v, "words");
		err = put_sites(out, v);
	}
	json_end(out);
	return err;
}

int inventory_json_write(FILE *out, const struct inventory_json *j)
{
	struct json to;
	int err = 0;

	to = json_begin(out, j->version);
	json_rows(&to, "processes");
	for (size_t i = 0; i < j->session->count && err == 0; i++) {
		const struct process *p = j->session->processes[i];

		if (!p->inventory || !p->inventory->has_holders)
			continue;
		err = put_process(&to, p, j);
	}
	return json_finish(&to, err);
}

/* ---- for a page ---- */

static void put_types(struct json *out, const struct inventory *v)
{
	const struct inventory_sum none = {0};

	json_object(out, "census");
	json_number(out, "taken_ms", (v->taken_ns / NS_PER_MS));
	put_sum(out, "blocks", "bytes", &v->counted);
	json_boolean(out, "blocks_unknown", v->is_partial);
	put_part(out, "untyped", &v->untyped);
	put_part(out, "filtered", &none);
	json_rows(out, "types");
	for (size_t i = 0; i < v->type_count; i++) {
		const struct inventory_type *x = &v->types[i];

		json_object(out, NULL);
		json_shown(out, "type", x->name);
		json_text(out, "basis", by_type_basis_key((int)x->basis));
		json_text(out, "container", x->container);
		put_sum(out, "blocks", "bytes", &x->live);
		json_end(out);
	}
	json_end(out);
	json_end(out);
}

int inventory_json_page(struct json *out, const struct process *p, const struct inventory *v)
{
	int err = 0;

	if (v->has_holders) {
		json_object(out, "held");
		json_number(out, "pid", p->header.pid);
		put_sum(out, "blocks", "bytes", &v->all);
		put_holders(out, v, "way");
		err = put_sites(out, v);
		json_end(out);
	}
	if (err == 0 && v->has_types)
		put_types(out, v);
	return err;
}
