/* hanging.c - lines behind a word: all but the first are indented. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/hanging.h"

#include <stdlib.h>
#include <string.h>

bool hanging_begin(const struct layout *p, struct hanging *h)
{
	*h = (struct hanging){.page = *p};
	h->page.colour = false;
	h->page.width = p->width > 2 * HANGING_INDENT ? p->width - HANGING_INDENT : 0;
	h->page.out = open_memstream(&h->text, &h->len);
	return h->page.out != NULL;
}

void hanging_end(const struct layout *p, struct hanging *h, const char *head)
{
	struct layout narrow = h->page;
	char *wrapped = NULL, *line, *rest;
	size_t len;

	if (fclose(h->page.out) != 0)
		goto out;
	narrow.out = open_memstream(&wrapped, &len);
	if (!narrow.out)
		goto out;
	layout_paragraph(&narrow, h->text, 0);
	if (fclose(narrow.out) != 0)
		goto out;
	for (line = strtok_r(wrapped, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (head)
			(void)fprintf(p->out, "%s%-*s%s", layout_colour(p, LAYOUT_STRONG),
			    HANGING_INDENT, head, layout_colour(p, LAYOUT_PLAIN));
		else
			(void)fprintf(p->out, "%*s", HANGING_INDENT, "");
		(void)fprintf(p->out, "%s\n", line);
		head = NULL;
	}
out:
	free(wrapped);
	free(h->text);
}
