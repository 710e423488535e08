/* doctor_program.c - can this executable be traced? */
/* SPDX-License-Identifier: Apache-2.0 */

#include "base/cpu/elf_machine.h"

#include "base/std.h"
#include "attach/doctor/doctor_parts.h"
#include "kit/words/text.h"

#define BIT(kind) (1U << (kind))

/* Kinds of inspect.h, by the check whose answer they are. */
static const struct {
	const char *check;
	uint32_t kinds;
	uint32_t hide; /* if one of these was found, it says nothing */
	const char *fine;
} checks[] = {
    {"machine", BIT(INSPECT_MACHINE), 0, "a 64-bit program for " CPU_NAME},
    {"linkage", BIT(INSPECT_STATIC), BIT(INSPECT_MACHINE), "dynamically linked"},
    {"privileges", BIT(INSPECT_SECURE), BIT(INSPECT_MACHINE),
        "its start gives it no privileges, so the loader obeys LD_PRELOAD"},
    {"libc", BIT(INSPECT_LIBC) | BIT(INSPECT_VERSION) | BIT(INSPECT_OLD_LIBC),
        BIT(INSPECT_MACHINE) | BIT(INSPECT_STATIC), NULL},
    {"sanitizer", BIT(INSPECT_SANITIZER),
        BIT(INSPECT_MACHINE) | BIT(INSPECT_STATIC) | BIT(INSPECT_LIBC), "no sanitizer"},
    {"malloc", BIT(INSPECT_OWN_MALLOC) | BIT(INSPECT_OWN_PART) | BIT(INSPECT_INSIDE),
        BIT(INSPECT_MACHINE) | BIT(INSPECT_STATIC) | BIT(INSPECT_LIBC) | BIT(INSPECT_SANITIZER),
        "its malloc can be replaced"},
    {"language", BIT(INSPECT_GO), UINT32_MAX, ""},
    {"place", BIT(INSPECT_PLACE), UINT32_MAX, ""},
};

static enum doctor_state state_of(enum inspect_kind kind)
{
	switch (kind) {
	case INSPECT_OWN_PART:
	case INSPECT_INSIDE:
	case INSPECT_GO:
		return DOCTOR_WARN;
	default:
		return DOCTOR_FAIL;
	}
}

static void add_fine(struct doctor_report *r, const struct inspect *in, size_t i)
{
	if (checks[i].fine)
		doctor_add(r, DOCTOR_OK, checks[i].check, NULL, "%s", checks[i].fine);
	else if (in->libc[0])
		doctor_add(r, DOCTOR_OK, checks[i].check, NULL, "%s is new enough", in->libc);
	else
		doctor_add(r, DOCTOR_WARN, checks[i].check,
		    "run it once with seep record, which says what happened",
		    "the program does not name glibc's libc.so.6, or it was not found");
}

/* Does the allocator have a library beside ours? */
static void check_allocator(struct doctor_report *r, const struct inspect *in, bool is_recorded)
{
	static const char *const both[][2] = {
	    {"libjemalloc", "libseep-cxx.so and libseep-jemalloc.so"},
	    {"libtcmalloc", "libseep-cxx.so and libseep-tcmalloc.so"},
	};
	const char *companions = "libseep-cxx.so";

	if (!in->allocator[0])
		return;
	for (size_t i = 0; i < 2; i++)
		if (text_begins_with(in->allocator, both[i][0]))
			companions = both[i][1];
	if (is_recorded)
		doctor_add(r, DOCTOR_OK, "allocator", NULL,
		    "%s has an operator new of its own; seep record preloads %s for it",
		    in->allocator, companions);
	else
		doctor_add(r, DOCTOR_WARN, "allocator", "add them to LD_PRELOAD behind libseep.so",
		    "%s has an operator new of its own, which only %s sees", in->allocator,
		    companions);
}

void doctor_program(struct doctor_report *r, const struct inspect *in, bool is_recorded)
{
	uint32_t found = 0;

	if (strcmp(in->path, in->program) != 0 && in->path[0])
		doctor_add(r, DOCTOR_OK, "script", NULL,
		    "%s is a script, so its interpreter %s is looked at; what that starts is not",
		    in->path, in->program);
	else
		doctor_add(r, DOCTOR_OK, "executable", NULL, "%s", in->program);
	if (!in->is_read) {
		doctor_add(r, DOCTOR_WARN, "readable",
		    "make it readable, or run doctor as its owner",
		    "%s is no ELF file, or cannot be read, so nothing is known of it", in->program);
		return;
	}
	for (unsigned i = 0; i < in->note_count; i++)
		found |= BIT(in->notes[i].kind);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		for (unsigned k = 0; k < in->note_count; k++)
			if (checks[i].kinds & BIT(in->notes[k].kind))
				doctor_add(r, state_of(in->notes[k].kind), checks[i].check,
				    in->notes[k].advice, "%s", in->notes[k].text);
		if (!(found & checks[i].kinds) && !(found & checks[i].hide) &&
		    checks[i].hide != UINT32_MAX)
			add_fine(r, in, i);
	}
	if (in->kind != INSPECT_STATIC && in->kind != INSPECT_MACHINE)
		check_allocator(r, in, is_recorded);
}

static int look(struct doctor_report *r, void *context)
{
	static struct inspect in;
	const struct inspect_how how = {0};
	int err = inspect_find(context, NULL, &in);

	if (err < 0)
		return err;
	inspect_program(&in, in.program, &how);
	doctor_program(r, &in, true);
	return 0;
}

int doctor_command(struct doctor_report *r, const char *command)
{
	char copy[4096];
	int err;

	if (strlen(command) >= sizeof(copy))
		return -ENOENT;
	strcpy(copy, command);
	r->group = "program";
	err = doctor_apart(r, command, look, copy);
	return err == -ETIMEDOUT ? 0 : err;
}
