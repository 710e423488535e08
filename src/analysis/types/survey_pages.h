/* survey_pages.h - memory of modules, for the search for vtables; pages are kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SURVEY_PAGES_H
#define SEEP_SURVEY_PAGES_H

#include "host/memory/foreign.h"
#include "host/proc/roots.h"
#include "analysis/types/vtable.h"

struct survey_pages;

/* Borrows both; `files` was opened with foreign_options.with_files. -ENOMEM. */
int survey_pages_new(
    struct foreign *files, const struct roots_areas *areas, struct survey_pages **ret);
void survey_pages_free(struct survey_pages *p);

/* false: some of it is not there. */
bool survey_pages_read(struct survey_pages *p, uint64_t address, void *to, size_t bytes);

/* Only for modules. Valid as long as p. */
struct vtable_memory survey_pages_memory(struct survey_pages *p);

/* -ETIMEDOUT and the like, if the process could not be read any more; or 0. */
int survey_pages_failure(const struct survey_pages *p);

#endif
