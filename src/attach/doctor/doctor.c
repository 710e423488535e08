/* doctor.c - the list of findings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/data/room.h"

static void release(struct doctor_finding *f)
{
	free(f->group);
	free(f->check);
	free(f->text);
	free(f->advice);
}

void doctor_release(struct doctor_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		release(&r->list[i]);
	free(r->list);
	*r = (struct doctor_report){0};
}

size_t doctor_count(const struct doctor_report *r, enum doctor_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->list[i].state == state;
	return n;
}

void doctor_add(struct doctor_report *r, enum doctor_state state, const char *check,
    const char *advice, const char *fmt, ...)
{
	struct doctor_finding f = {.state = state,
	    .group = strdup(r->group ? r->group : ""),
	    .check = strdup(check),
	    .advice = strdup(advice ? advice : "")};
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&f.text, fmt, ap) < 0)
		f.text = NULL;
	va_end(ap);
	if (!f.group || !f.check || !f.advice || !f.text ||
	    room_make(&r->list, &r->room, r->count, sizeof(f)) < 0) {
		r->is_cut = true;
		release(&f);
		return;
	}
	r->list[r->count++] = f;
}
