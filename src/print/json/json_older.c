/* json_older.c - blocks above some age, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/json_older.h"

#include "kit/json/json_put.h"

enum { NS_PER_MS = 1000000 };

void json_older_process(struct json *out, const struct older *o, const struct process *p)
{
	struct older_about a;

	if (!o)
		return;
	older_about(o, p, &a);
	json_object(out, "older");
	json_number(out, "asked_ms", a.asked_ns / NS_PER_MS);
	json_number(out, "than_ms", a.age_ns / NS_PER_MS);
	json_boolean(out, "exact", a.is_exact);
	json_boolean(out, "sampled", a.is_sampled);
	json_boolean(out, "bytes_shared_out", a.is_shared);
	json_number(out, "blocks", a.sum.blocks);
	json_number(out, "bytes", a.sum.bytes);
	json_number(out, "unknown_sites", a.unknown_sites);
	json_number(out, "unknown_blocks", a.sum.unknown_blocks);
	json_number(out, "unknown_bytes", a.sum.unknown_bytes);
	json_end(out);
}
