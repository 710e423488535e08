/* inventory_json.c - who held how much at the last look, from a recording, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/inventory_json.h"

#include <errno.h>
#include <stdlib.h>

#include "findings/by_type.h"
#include "names/find/program.h"
#include "kit/json/json_put.h"

enum { SCHEMA = 1, NS_PER_MS = 1000000 };

static void put_sum(FILE *out, const char *blocks, const char *bytes, const struct inventory_sum *s)
{
	json_number(out, blocks, s->blocks);
	json_number(out, bytes, s->bytes);
}

static void put_part(FILE *out, const char *name, const struct inventory_sum *s)
{
	json_key(out, name);
	(void)fprintf(out, "{\"blocks\":%llu,\"bytes\":%llu}", (unsigned long long)s->blocks,
	    (unsigned long long)s->bytes);
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

static void put_site(FILE *out, const struct inventory_site *x)
{
	(void)fputs("{\"id\":", out);
	if (x->id)
		(void)fprintf(out, "%u", x->id);
	else
		(void)fputs("null", out);
	json_text(out, "function", x->function);
	put_sum(out, "live_blocks", "live_bytes", &x->live);
	put_sum(out, "retained_blocks", "retained_bytes", &x->retained);
	json_text(out, "held_by", x->held);
	(void)putc('}', out);
}

static int put_sites(FILE *out, const struct inventory *v)
{
	uint32_t *order;
	int err = inventory_json_order(v, &order);

	if (err < 0)
		return err;
	json_key(out, "sites");
	(void)putc('[', out);
	for (size_t i = 0; i < v->site_count; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		put_site(out, &v->sites[order[i]]);
	}
	(void)putc(']', out);
	free(order);
	return 0;
}

void inventory_json_site(FILE *out, const struct process *p, uint32_t id)
{
	const struct inventory_site *x =
	    p && p->inventory ? inventory_find(p->inventory, id) : NULL;

	if (!x)
		return;
	put_sum(out, "retained_blocks", "retained_bytes", &x->retained);
	json_text(out, "held_by", x->held);
}

/* ---- holders ---- */

static void put_holders(FILE *out, const struct inventory *v, const char *key)
{
	json_key(out, "retained");
	(void)putc('[', out);
	for (size_t i = 0; i < v->holder_count; i++) {
		const struct inventory_holder *x = &v->holders[i];

		(void)fprintf(out, "%s\n{\"retained_blocks\":%llu", i ? "," : "",
		    (unsigned long long)x->retained.blocks);
		json_number(out, "retained_bytes", x->retained.bytes);
		json_text(out, key, x->way);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}

static int put_process(FILE *out, const struct process *p, const struct inventory_json *j)
{
	const struct inventory *v = p->inventory;
	const struct inventory_site *site;
	int err = 0;

	(void)fprintf(out, "\n{\"pid\":%u", p->header.pid);
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
			(void)fputs("null", out);
	}
	if (j->retained) {
		put_holders(out, v, "words");
		err = put_sites(out, v);
	}
	(void)putc('}', out);
	return err;
}

int inventory_json_write(FILE *out, const struct inventory_json *j)
{
	const char *comma = "";
	int err = 0;

	(void)fprintf(out, "{\"schema\":%d", SCHEMA);
	json_text(out, "seep", j->version);
	json_key(out, "processes");
	(void)putc('[', out);
	for (size_t i = 0; i < j->session->count && err == 0; i++) {
		const struct process *p = j->session->processes[i];

		if (!p->inventory || !p->inventory->has_holders)
			continue;
		(void)fputs(comma, out);
		comma = ",";
		err = put_process(out, p, j);
	}
	(void)fputs("]}\n", out);
	return err < 0 ? err : ferror(out) ? -EIO : 0;
}

/* ---- for a page ---- */

static void put_types(FILE *out, const struct inventory *v)
{
	const struct inventory_sum none = {0};

	json_key(out, "census");
	(void)fprintf(out, "{\"taken_ms\":%llu", (unsigned long long)(v->taken_ns / NS_PER_MS));
	put_sum(out, "blocks", "bytes", &v->counted);
	json_boolean(out, "blocks_unknown", v->is_partial);
	put_part(out, "untyped", &v->untyped);
	put_part(out, "filtered", &none);
	json_key(out, "types");
	(void)putc('[', out);
	for (size_t i = 0; i < v->type_count; i++) {
		const struct inventory_type *x = &v->types[i];

		(void)fputs(i ? ",\n{\"type\":" : "\n{\"type\":", out);
		json_shown(out, x->name);
		json_text(out, "basis", by_type_basis_key((int)x->basis));
		json_text(out, "container", x->container);
		put_sum(out, "blocks", "bytes", &x->live);
		(void)putc('}', out);
	}
	(void)fputs("]}", out);
}

int inventory_json_page(FILE *out, const struct process *p)
{
	const struct inventory *v = p->inventory;
	int err = 0;

	if (v->has_holders) {
		json_key(out, "held");
		(void)fprintf(out, "{\"pid\":%u", p->header.pid);
		put_sum(out, "blocks", "bytes", &v->all);
		put_holders(out, v, "way");
		err = put_sites(out, v);
		(void)putc('}', out);
	}
	if (err == 0 && v->has_types)
		put_types(out, v);
	return err;
}
