/* verdict_text.h - what is lost, in plain text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_VERDICT_TEXT_H
#define SEEP_REPORT_VERDICT_TEXT_H

#include "report/layout.h"
#include "report/verdict_list.h"

struct verdict_text_options {
	unsigned top;      /* entries, 0: all */
	uint64_t pause_ns; /* of --stop; 0: it ran on */
};

/*
 * One entry for each place that loses memory, or may; then a sentence: how much
 * was looked at, and how. -EIO as ferror() tells.
 */
int verdict_text_write(const struct layout *p, const struct verdict_list *l,
    const struct verdict_text_options *o);

/* Why a process has no verdict, as the end of a sentence; never NULL. */
const char *verdict_text_reason(uint32_t reason);

/* The notes of a site as keys for programs; `i` from 0, NULL ends them. */
const char *verdict_text_note(uint32_t notes, size_t i);

#endif
