/* shorten.c - short names of C++ and Rust functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/blame.h"
#include "kit/words/text.h"

static const char anonymous[] = "(anonymous namespace)";

/* A name that is being parsed, and the parts that were kept. */
struct shorten {
	const char *from;
	char *kept; /* as long as the name and a few more bytes */
	size_t len;
	size_t start; /* start of the function's own name in kept */
	int nesting;  /* of <> and {} that are kept */
	int angles;   /* of <> that are kept */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void keep(struct shorten *s, size_t n)
{
	memcpy(s->kept + s->len, s->from, n);
	s->len += n;
	s->from += n;
}

static void keep_text(struct shorten *s, const char *text)
{
	size_t n = strlen(text);

	memcpy(s->kept + s->len, text, n);
	s->len += n;
}

enum { DEPTH_MAX = 256 };

/*
 * Skips to after the bracket that closes the one here. Inside round, square and
 * curly brackets, < and > are operators. A bracket that is never closed ends
 * with the name.
 */
static const char *past(const char *p)
{
	char open[DEPTH_MAX];
	int depth = 0;

	for (; *p; p++) {
		const char *bracket = strchr("(<[{", *p);
		char last = '\0';

		if (depth > 0)
			last = open[depth - 1];
		if (bracket) {
			if (*p == '<' && last && last != '<')
				continue;
			if (depth == DEPTH_MAX)
				return p + strlen(p);
			open[depth++] = *p;
		} else if ((*p == ')' && last == '(') || (*p == ']' && last == '[') ||
		    (*p == '}' && last == '{') || (*p == '>' && last == '<' && p[-1] != '-')) {
			depth--;
		}
		if (depth == 0)
			return p + 1;
	}
	return p;
}

/* The longest operator that the text begins with; 0: none. */
static size_t operator_length(const char *text)
{
	/* longer operators before those that they begin with */
	static const char *const operators[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>",
	    "<=", ">=", "==", "!=", "&&", "||", "++", "--",
	    "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->", "<", ">", "=", "+", "-", "*", "/",
	    "%", "^", "&", "|", "~", "!", ","};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (text_begins_with(text, operators[i]))
			return strlen(operators[i]);
	return 0;
}

/*
 * Skips template arguments, if they are here, with or without a space before.
 */
static void keep_arguments(struct shorten *s)
{
	const char *from = s->from + (*s->from == ' ');

	if (*from != '<')
		return;
	keep_text(s, from == s->from ? "<...>" : " <...>");
	s->from = past(from);
}

/* "operator" and what it is called by: (), <<=, new[], "" _x, unsigned long */
static void keep_operator(struct shorten *s)
{
	size_t n;

	keep(s, strlen("operator"));
	n = operator_length(s->from);
	if (n > 0) {
		keep(s, n);
		keep_arguments(s);
		return;
	}
	/* new, delete[], a literal, or a type: up to the parameters */
	while (*s->from && *s->from != '(' && !text_begins_with(s->from, "[abi:")) {
		if (*s->from == '<')
			keep_arguments(s);
		else
			keep(s, 1);
	}
}

/* Skips parameters and what may follow them. */
static void drop_parameters(struct shorten *s)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
	bool more = true;

	s->from = past(s->from);
	while (more) {
		more = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (!text_begins_with(s->from, words[i]))
				continue;
			s->from += strlen(words[i]);
			more = true;
		}
	}
}

static bool ends(const struct shorten *s, const char *with)
{
	size_t n = strlen(with);

	return s->len >= n && memcmp(s->kept + s->len - n, with, n) == 0;
}

/* Rust's types inside <T as Trait>: [u8], (), fn(u32), [T; 4] */
static bool is_type(const struct shorten *s)
{
	return s->angles > 0 &&
	    ((*s->from == '(' && !ends(s, "lambda")) ||
	        (*s->from == '[' && !text_begins_with(s->from, "[abi:")));
}

/* Rust's f::<u32>; <impl T> and <lambda> are names. */
static bool is_turbofish(const struct shorten *s)
{
	return *s->from == '<' && ends(s, "::") && !text_begins_with(s->from, "<impl") &&
	    !text_begins_with(s->from, "<lambda") && !text_begins_with(s->from, "<unnamed");
}

static void step(struct shorten *s)
{
	char c = *s->from, last = '\0';

	if (s->len > 0)
		last = s->kept[s->len - 1];
	if (text_begins_with(s->from, "operator") && !is_word(last) && !is_word(s->from[8])) {
		keep_operator(s);
	} else if (text_begins_with(s->from, "__cxx11::") && !is_word(last)) {
		s->from += strlen("__cxx11::"); /* nobody writes it */
	} else if (text_begins_with(s->from, anonymous)) {
		keep(s, sizeof(anonymous) - 1);
	} else if (is_type(s)) {
		keep(s, (size_t)(past(s->from) - s->from));
	} else if (c == '(') {
		drop_parameters(s);
	} else if (is_turbofish(s) ||
	    (c == '<' && (is_word(last) || (last && strchr("}>]=!+-*/%^&|~,", last))))) {
		keep_text(s, "<...>");
		s->from = past(s->from);
	} else if (c == '[' || (text_begins_with(s->from, " [") && s->angles == 0)) {
		s->from = past(s->from + (c == ' '));
	} else {
		/* <T as Trait> and {lambda(int)#1} are parts of a name */
		s->nesting += c == '<' || c == '{';
		s->nesting -= (c == '>' || c == '}') && s->nesting > 0;
		s->angles += c == '<';
		s->angles -= c == '>' && last != '-' && s->angles > 0;
		keep(s, 1);
		if (c == ' ' && s->nesting == 0)
			s->start = s->len;
	}
}

char *shorten_name(const char *name)
{
	size_t len = strlen(name);
	/* "<>" of two bytes may become five */
	struct shorten s = {.from = name, .kept = malloc(len * 3 + 8)};

	if (!s.kept)
		return NULL;
	while (*s.from && s.len < len * 3)
		step(&s);
	while (s.len > s.start && s.kept[s.len - 1] == ' ')
		s.len--;
	if (s.len == s.start) { /* the name is of a form that we do not know */
		memcpy(s.kept, name, len + 1);
		return s.kept;
	}
	memmove(s.kept, s.kept + s.start, s.len - s.start);
	s.kept[s.len - s.start] = '\0';
	return s.kept;
}
