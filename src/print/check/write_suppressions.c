/* write_suppressions.c - suppressions for the sites that a check has found. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "view/stacks/fingerprint.h"
#include "print/check/write.h"
#include "kit/data/dict.h"
#include "view/stacks/blame.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { FRAMES = 12 }; /* enough to identify a place; valgrind takes 24 */

/* valgrind's name of an allocation function. */
static const char *valgrind_api(uint8_t api)
{
	switch (api) {
	case SEG_API_NEW:
		return "_Znw*";
	case SEG_API_NEW_ARRAY:
		return "_Zna*";
	case SEG_API_ALIGNED_ALLOC:
	case SEG_API_POSIX_MEMALIGN:
		return "*mem*align*";
	default:
		return enum_words_api(api);
	}
}

/* Without the version that a dynamic symbol may have. */
static void print_symbol(FILE *out, const char *name)
{
	char *plain = strndup(name, strcspn(name, "@"));

	(void)fputs("   fun:", out);
	text_print(out, plain ? plain : name);
	free(plain);
}

/*
 * "..." stands for frames that others may see differently: usually, inlined
 * functions are no frames for valgrind, and libc's functions have other names
 * there.
 */
static void valgrind_entry(FILE *out, const struct check_site *x)
{
	const struct frame *frames = x->view->frames;
	uint32_t n = x->site->frame_count, told = 0;
	bool dots = false;

	(void)fprintf(out, "{\n   seep-%016" PRIx64 "\n   Memcheck:Leak\n", x->fingerprint);
	(void)fprintf(out, "   fun:%s\n", valgrind_api(x->site->api));
	for (uint32_t i = 0; i < n && told < FRAMES; i++) {
		const struct frame *f = &frames[x->site->frames[i]];
		const char *name = f->symbol ? f->symbol : f->function;

		if (f->is_missing || (f->inlined && i + 1 < n) || blame_is_system(f->module)) {
			if (!dots)
				(void)fputs("   ...\n", out);
			dots = true;
			continue;
		}
		dots = false;
		told++;
		if (name) {
			print_symbol(out, name);
		} else {
			(void)fputs("   obj:*", out);
			text_print(out, f->module ? text_base(f->module) : "");
		}
		(void)putc('\n', out);
		if (f->is_main && f->function && strcmp(f->function, "main") == 0)
			break;
		if (x->site->repeats && x->site->repeats[i] > 1) {
			(void)fputs("   ...\n", out);
			dots = true;
		}
	}
	if (told == 0 && !dots)
		(void)fputs("   ...\n", out);
	(void)fputs("}\n", out);
}

static void lsan_entry(FILE *out, const struct check_site *x)
{
	const struct frame *frames = x->view->frames;
	const struct frame *f =
	    x->place < x->site->frame_count ? &frames[x->site->frames[x->place]] : NULL;

	if (f && f->function && !f->is_missing) {
		(void)fputs("leak:^", out);
		text_print(out, f->function);
		(void)fputs("$\n", out);
	} else if (f && f->module) {
		(void)fputs("leak:", out);
		text_print(out, text_base(f->module));
		(void)putc('\n', out);
	} else {
		(void)fputs("# no function and no module is known\n", out);
	}
}

int write_suppressions(FILE *out, const struct check *c, enum write_dialect dialect)
{
	const struct write_options brief = {0};
	struct dict told = {0};
	char sites[WORDS_COUNTED_MAX];

	(void)fprintf(out, "# %s that seep check has found.\n",
	    words_counted(sites, c->failed_count, "site"));
	for (size_t i = 0; i < c->failed_count; i++) {
		const struct check_site *x = &c->sites[i];
		uint32_t first = (uint32_t)i;
		char *text;

		/*
		 * sites that differ only in lines need one entry; two do no
		 * harm
		 */
		(void)dict_find(&told, x->fingerprint, write_same_print, c->sites, &x->fingerprint,
		    first, &first);
		if (dialect == WRITE_LSAN && first != i)
			continue;
		text = write_site(c, x, &brief);
		(void)fputs("# ", out);
		text_print(out, text ? text : "");
		(void)putc('\n', out);
		free(text);
		if (dialect == WRITE_LSAN)
			lsan_entry(out, x);
		else
			valgrind_entry(out, x);
	}
	dict_release(&told);
	return ferror(out) ? -EIO : 0;
}
