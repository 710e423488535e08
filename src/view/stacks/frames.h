/* frames.h - names and numbers the frames of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FRAMES_H
#define SEEP_FRAMES_H

#include "base/std.h"
#include "kit/json/json_put.h"
#include "names/find/demangle.h"
#include "names/find/names.h"
#include "session/process/process.h"

/* Texts belong to the names and the session, which outlive this. */
struct frame {
	const char *function; /* demangled, qualified; NULL: not known */
	const char *brief;    /* as shorten_name() has it, if asked for */
	const char *symbol;   /* as in the file, mangled; NULL: not known */
	const char *file;     /* NULL: not known */
	const char *module;   /* path; NULL: in none */
	uint64_t offset;      /* in the module, else the address */
	uint32_t line;        /* 0: not known */
	uint32_t place;       /* the first frame of this function and line */
	uint32_t label;       /* the first of this function and module */
	uint8_t api;          /* as names_chain() says */
	uint8_t weight;       /* enum blame_weight: is it the user's own? */
	uint8_t language;     /* enum mapname_language */
	uint8_t machinery;    /* of which language; likewise, see blame.h */
	bool inlined;
	bool folded;     /* others have the same code, and may be meant */
	bool is_main;    /* the frame is in the executable */
	bool is_any;     /* label: which may have any name */
	bool is_missing; /* function is a sentence about missing frames */
	bool is_guessed; /* reached by a guess, see stacks_guessed() */
};

/* Frames of one code address: its inlined functions, innermost first. */
struct frames_span {
	const uint32_t *numbers; /* valid until the next call */
	size_t count;            /* 1 or more */
};

struct frames;

/* Borrows names; -ENOMEM. */
int frames_new(struct names *names, struct frames **ret);

/* NULL is fine. */
void frames_free(struct frames *f);

/*
 * From now on programs with different names count as one, for example two
 * builds of one program.
 */
void frames_join_programs(struct frames *f);

/*
 * From now on frame.brief is the short name of a function; before, it is the
 * function.
 */
void frames_shorten(struct frames *f);

/*
 * Call this before frames_find() for another process; `number` identifies the
 * process. -ENOMEM.
 */
int frames_begin(struct frames *f, const struct process *p, uint32_t number);

/*
 * The frames of a word of stacks_frames(), and whether it was reached by a
 * guess. -ENOMEM.
 */
int frames_find(struct frames *f, uint64_t word, bool is_guessed, struct frames_span *ret);

/* A frame that is a sentence about missing frames; the text must stay valid. */
int frames_missing(struct frames *f, const char *words, uint32_t *ret);

/*
 * Replaces a number by that of the same function without a line, for several
 * lines together. -ENOMEM.
 */
int frames_plain(struct frames *f, uint32_t *number);

/*
 * The frame with this number, from 0 on; valid until the next call that adds
 * one.
 */
const struct frame *frames_list(const struct frames *f, size_t *ret_count);

/* ---- callstack: the call stack of a site id of one process, as lines or JSON ---- */

/*
 * The stack of an id, also of a site without figures (process.bare). False: the
 * process has no such site. p may be NULL.
 */
bool callstack_find(const struct process *p, uint32_t id, uint32_t *ret);

/* One function of a stack. */
struct callstack_line {
	const struct names_frame *frame;
	const char *module; /* path; NULL: in none */
	uint64_t offset;
};

/* Calls `put` for each function, innermost first, until it returns false. */
typedef bool callstack_put(void *context, const struct callstack_line *l);
void callstack_each(
    struct names *n, const struct process *p, uint32_t stack, callstack_put *put, void *context);

/* Its name, or module+offset, or "?". */
void callstack_print_function(FILE *out, const struct callstack_line *l);

/* Has it a function that matches? */
bool callstack_matches(struct names *n, const struct process *p, uint32_t stack,
    bool (*is_match)(void *context, const char *function), void *context);

/*
 * The innermost function that is not operator new: its name, or module+offset,
 * or "?". The text belongs to the caller, for free(); NULL: out of memory.
 * ret_name is the name as it is, which belongs to `n`, or NULL if it is not known.
 */
char *callstack_function(
    struct names *n, const struct process *p, uint32_t stack, const char **ret_name);

/* One line for each function, innermost first, behind `indent`. */
void callstack_print(
    FILE *out, const char *indent, struct names *n, const struct process *p, uint32_t stack);

/* A list of objects: function, file, line, module, offset. */
void callstack_json(
    struct json *out, const char *name, struct names *n, const struct process *p, uint32_t stack);

#endif
