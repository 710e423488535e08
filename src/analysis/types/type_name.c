/* type_name.c - the name of a C++ type, as a typeinfo has it, in plain words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/types/survey_parts.h"

/*
 * The Itanium C++ ABI, "5.1 External Names", as far as it is about types. All
 * functions read at p->at and append to p->out; false: it is not understood, or
 * there is no room.
 */
enum { DEPTH_MAX = 32, PARTS_MAX = 256, OUT_BYTES = 4096 };

/* What "S_", "S0_" and so on stand for: text that was written before. */
struct part {
	size_t start, len;
};

struct parse {
	const char *at, *end;
	char out[OUT_BYTES];
	size_t len;
	struct part parts[PARTS_MAX];
	size_t part_count;
	char text[8 * OUT_BYTES]; /* of the parts */
	size_t text_len;
	int depth;
};

/* NOLINTBEGIN(misc-no-recursion): DEPTH_MAX bounds it, see parse_type() */
static bool parse_type(struct parse *p);

static char peek(const struct parse *p, size_t i)
{
	if (i >= (size_t)(p->end - p->at))
		return '\0';
	return p->at[i];
}

static bool take(struct parse *p, char c)
{
	if (peek(p, 0) != c)
		return false;
	p->at++;
	return true;
}

static bool put_bytes(struct parse *p, const char *text, size_t len)
{
	if (len >= sizeof(p->out) - p->len)
		return false;
	memcpy(p->out + p->len, text, len);
	p->len += len;
	return true;
}

static bool put(struct parse *p, const char *text)
{
	return put_bytes(p, text, strlen(text));
}

/* What was written from `start` on can be referred to from now on. */
static bool remember(struct parse *p, size_t start)
{
	size_t len = p->len - start;

	if (p->part_count == PARTS_MAX || len > sizeof(p->text) - p->text_len)
		return false;
	memcpy(p->text + p->text_len, p->out + start, len);
	p->parts[p->part_count++] = (struct part){p->text_len, len};
	p->text_len += len;
	return true;
}

/* ---- names ---- */

/* "3Foo", "12_GLOBAL__N_1", "3fooB5cxx11" */
static bool parse_source_name(struct parse *p)
{
	static const char nameless[] = "_GLOBAL__N_1";
	size_t n = 0;

	if (!isdigit((unsigned char)peek(p, 0)))
		return false;
	while (isdigit((unsigned char)peek(p, 0)) && n < OUT_BYTES)
		n = n * 10 + (size_t)(*p->at++ - '0');
	if (n == 0 || n > (size_t)(p->end - p->at))
		return false;
	p->at += n;
	if (n == sizeof(nameless) - 1 && memcmp(p->at - n, nameless, n) == 0)
		return put(p, "(anonymous namespace)");
	if (!put_bytes(p, p->at - n, n))
		return false;
	while (peek(p, 0) == 'B' && isdigit((unsigned char)peek(p, 1))) {
		p->at++;
		if (!put(p, "[abi:") || !parse_source_name(p) || !put(p, "]"))
			return false;
	}
	return true;
}

/* "Li5E", "Lb1E", "Lm3E"; "LN1a4enumE2E" is "(a::enum)2" */
static bool parse_literal(struct parse *p)
{
	static const char types[] = "ijlmxy";
	static const char *const ends[] = {"", "u", "l", "ul", "ll", "ull"};
	char type = peek(p, 1), first = peek(p, 2);
	const char *known = type ? strchr(types, type) : NULL;

	p->at++;
	if (type == 'b' && (first == '0' || first == '1')) {
		p->at += 2;
		return put(p, first == '1' ? "true" : "false") && take(p, 'E');
	}
	if (known)
		p->at++;
	else if (!put(p, "(") || !parse_type(p) || !put(p, ")"))
		return false;
	if (take(p, 'n') && !put(p, "-"))
		return false;
	if (!isdigit((unsigned char)peek(p, 0)))
		return false;
	while (isdigit((unsigned char)peek(p, 0)))
		if (!put_bytes(p, p->at++, 1))
			return false;
	return put(p, known ? ends[known - types] : "") && take(p, 'E');
}

/* Up to the 'E' behind the last; *is_first: no comma before the next one. */
static bool parse_arguments(struct parse *p, bool *is_first)
{
	while (!take(p, 'E')) {
		if (take(p, 'J')) {
			if (++p->depth > DEPTH_MAX || !parse_arguments(p, is_first))
				return false;
			p->depth--;
			continue;
		}
		if (!*is_first && !put(p, ", "))
			return false;
		*is_first = false;
		if (!(peek(p, 0) == 'L' ? parse_literal(p) : parse_type(p)))
			return false;
	}
	return true;
}

/* "IiSaIiEE", behind the name of a template */
static bool parse_template(struct parse *p)
{
	bool is_first = true;

	if (!take(p, 'I') || !put(p, "<") || !parse_arguments(p, &is_first))
		return false;
	if (p->len > 0 && p->out[p->len - 1] == '>' && !put(p, " "))
		return false;
	return put(p, ">");
}

/* "St", "Sa", "S_", "S1_"; *ret_is_std: the namespace alone, no type */
static bool parse_substitution(struct parse *p, bool *ret_is_std)
{
	static const struct {
		char letter;
		const char *name;
	} known[] = {
	    {'t', "std"},
	    {'a', "std::allocator"},
	    {'b', "std::basic_string"},
	    {'s', "std::string"},
	    {'i', "std::istream"},
	    {'o', "std::ostream"},
	    {'d', "std::iostream"},
	};
	size_t n = 0;

	*ret_is_std = false;
	if (!take(p, 'S'))
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!take(p, known[i].letter))
			continue;
		*ret_is_std = i == 0;
		return put(p, known[i].name);
	}
	if (!take(p, '_')) {
		for (; isalnum((unsigned char)peek(p, 0)) && n < PARTS_MAX; p->at++) {
			char c = *p->at;

			if (islower((unsigned char)c))
				return false;
			n = n * 36 + (size_t)(isdigit((unsigned char)c) ? c - '0' : c - 'A' + 10);
		}
		n++;
		if (!take(p, '_'))
			return false;
	}
	return n < p->part_count && put_bytes(p, p->text + p->parts[n].start, p->parts[n].len);
}

/* Types up to 'E' or to the end, in brackets; "v" alone is none. */
static bool parse_parameters(struct parse *p)
{
	bool is_first = true;

	if (!put(p, "("))
		return false;
	if (peek(p, 0) == 'v' && peek(p, 1) == 'E')
		p->at++;
	while (!take(p, 'E')) {
		if (!is_first && !put(p, ", "))
			return false;
		is_first = false;
		if (!parse_type(p))
			return false;
	}
	return put(p, ")");
}

/* "UliE_" is "{lambda(int)#1}", "UlvE0_" is "{lambda()#2}" */
static bool parse_lambda(struct parse *p)
{
	char number[] = "#1";
	size_t n = 1;

	p->at += 2;
	if (!put(p, "{lambda") || !parse_parameters(p))
		return false;
	if (isdigit((unsigned char)peek(p, 0)))
		n = (size_t)(*p->at++ - '0') + 2;
	number[1] = (char)('0' + n);
	return n < 10 && take(p, '_') && put(p, number) && put(p, "}");
}

/*
 * A part of a function's name. *class: where the name of the class is, for
 * "C1" and "D1", its constructor and destructor.
 */
static bool parse_function_part(struct parse *p, struct part *class)
{
	char kind = peek(p, 0), which = peek(p, 1);
	size_t start = p->len;

	if (kind == 'U' && which == 'l')
		return parse_lambda(p);
	if (kind == 'c' && which == 'l') {
		p->at += 2;
		return put(p, "operator()");
	}
	if ((kind == 'C' || kind == 'D') && which >= '0' && which <= '5') {
		p->at += 2;
		return class->len > 0 && (kind == 'C' || put(p, "~")) &&
		    put_bytes(p, p->out + class->start, class->len);
	}
	(void)take(p, 'L'); /* static */
	if (!parse_source_name(p))
		return false;
	*class = (struct part){start, p->len - start};
	return true;
}

static bool parse_encoding(struct parse *p, size_t start);

/*
 * "NK3app3Foo3runE": not a type, so all but the last part can be referred to,
 * from `start` on. "ZN3app3runEvENKUlvE_clE" is a function inside of another.
 * Template functions are not known: their parameters refer to arguments.
 */
static bool parse_function_name(struct parse *p, size_t start, bool *ret_is_const)
{
	struct part class = {0, 0};
	bool is_std, has_part = false, is_fresh = false, is_template = false;

	*ret_is_const = false;
	if (take(p, 'Z')) {
		bool is_fine = ++p->depth <= DEPTH_MAX && parse_encoding(p, start) &&
		    put(p, "::") && parse_function_name(p, start, ret_is_const);

		p->depth--;
		return is_fine;
	}
	if (!take(p, 'N')) {
		if (peek(p, 0) == 'S' &&
		    (!parse_substitution(p, &is_std) || !is_std || !put(p, "::")))
			return false;
		(void)take(p, 'L'); /* static */
		return parse_source_name(p) && peek(p, 0) != 'I';
	}
	*ret_is_const = take(p, 'K');
	for (; peek(p, 0) == 'S'; has_part = true)
		if (!parse_substitution(p, &is_std))
			return false;
	for (; !take(p, 'E'); has_part = is_fresh = true) {
		if (is_fresh && !remember(p, start))
			return false;
		is_template = peek(p, 0) == 'I';
		if (is_template ? !has_part || !parse_template(p)
		                : (has_part && !put(p, "::")) || !parse_function_part(p, &class))
			return false;
	}
	return is_fresh && !is_template;
}

/* The name, the types of parameters, and the 'E' behind them. */
static bool parse_encoding(struct parse *p, size_t start)
{
	bool is_const;

	if (!parse_function_name(p, start, &is_const))
		return false;
	if (take(p, 'E'))
		return true; /* main has no parameters in its name */
	return parse_parameters(p) && (!is_const || put(p, " const"));
}

/* "_0", "__12_": the number of a local class among those of its name */
static bool skip_number(struct parse *p)
{
	if (!take(p, '_'))
		return true;
	if (!take(p, '_')) {
		if (!isdigit((unsigned char)peek(p, 0)))
			return false;
		p->at++;
		return true;
	}
	while (isdigit((unsigned char)peek(p, 0)))
		p->at++;
	return take(p, '_');
}

/* "ZN3app3runEiE5local" is "app::run(int)::local" */
static bool parse_local(struct parse *p)
{
	size_t start = p->len;

	p->at++;
	if (!parse_encoding(p, start) || !put(p, "::"))
		return false;
	if (peek(p, 0) == 'U' && peek(p, 1) == 'l')
		return parse_lambda(p) && skip_number(p) && remember(p, start);
	if (!parse_source_name(p) || !skip_number(p) || !remember(p, start))
		return false;
	if (peek(p, 0) != 'I')
		return true;
	return parse_template(p) && remember(p, start);
}

/* "N3app3FooE", "NSt3foo3barIiEE" */
static bool parse_nested(struct parse *p)
{
	size_t start = p->len;
	bool is_std = false;

	p->at++;
	while (peek(p, 0) == 'S')
		if (!parse_substitution(p, &is_std))
			return false;
	while (!take(p, 'E')) {
		bool is_template = peek(p, 0) == 'I';

		if (is_template) {
			if (p->len == start || !parse_template(p))
				return false;
		} else if ((p->len > start && !put(p, "::")) || !parse_source_name(p)) {
			return false;
		}
		if (!remember(p, start))
			return false;
	}
	return p->len > start && !is_std ? true : p->len > start + 3;
}

/* "3Foo", "St6vectorIiSaIiEE", "SaIiE", "S1_" */
static bool parse_unnested(struct parse *p)
{
	size_t start = p->len;
	bool is_std = false, is_old = peek(p, 0) == 'S';

	if (is_old && !parse_substitution(p, &is_std))
		return false;
	if (is_std && !put(p, "::"))
		return false;
	if (!is_old || is_std) {
		if (!parse_source_name(p) || !remember(p, start))
			return false;
	}
	if (peek(p, 0) != 'I')
		return true;
	return parse_template(p) && remember(p, start);
}

/* ---- types ---- */

static const char *builtin(const struct parse *p, size_t *ret_letters)
{
	static const char *const names[] = {['a' - 'a'] = "signed char",
	    ['b' - 'a'] = "bool",
	    ['c' - 'a'] = "char",
	    ['d' - 'a'] = "double",
	    ['e' - 'a'] = "long double",
	    ['f' - 'a'] = "float",
	    ['g' - 'a'] = "__float128",
	    ['h' - 'a'] = "unsigned char",
	    ['i' - 'a'] = "int",
	    ['j' - 'a'] = "unsigned int",
	    ['l' - 'a'] = "long",
	    ['m' - 'a'] = "unsigned long",
	    ['n' - 'a'] = "__int128",
	    ['o' - 'a'] = "unsigned __int128",
	    ['s' - 'a'] = "short",
	    ['t' - 'a'] = "unsigned short",
	    ['v' - 'a'] = "void",
	    ['w' - 'a'] = "wchar_t",
	    ['x' - 'a'] = "long long",
	    ['y' - 'a'] = "unsigned long long"};
	char c = peek(p, 0);

	*ret_letters = 2;
	if (c == 'D')
		switch (peek(p, 1)) {
		case 'i':
			return "char32_t";
		case 'n':
			return "decltype(nullptr)";
		case 's':
			return "char16_t";
		case 'u':
			return "char8_t";
		default:
			return NULL;
		}
	*ret_letters = 1;
	if (c < 'a' || (size_t)(c - 'a') >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[c - 'a'];
}

/* Puts text in the middle of what was written. */
static bool insert(struct parse *p, size_t at, const char *text)
{
	size_t n = strlen(text);

	if (n >= sizeof(p->out) - p->len)
		return false;
	memmove(p->out + at + n, p->out + at, p->len - at);
	memcpy(p->out + at, text, n);
	p->len += n;
	return true;
}

/* "FvicE" is "void (int, char)"; *ret_inside: where "(*)" goes. */
static bool parse_function(struct parse *p, size_t *ret_inside)
{
	size_t start = p->len;
	bool is_first = true;

	p->at++;
	if (!parse_type(p) || memchr(p->out + start, '(', p->len - start) || !put(p, " "))
		return false;
	*ret_inside = p->len;
	if (!put(p, "("))
		return false;
	if (peek(p, 0) == 'v' && peek(p, 1) == 'E')
		p->at++; /* no arguments */
	while (!take(p, 'E')) {
		if (!is_first && !put(p, ", "))
			return false;
		is_first = false;
		if (!parse_type(p))
			return false;
	}
	return put(p, ")") && remember(p, start);
}

/* "PKc": the letters come before what they are said of, the words behind. */
static bool parse_compound(struct parse *p, const char *words)
{
	size_t start = p->len, inside;

	p->at++;
	if (peek(p, 0) == 'F' && words[0] != ' ')
		return parse_function(p, &inside) && insert(p, inside, ")") &&
		    insert(p, inside, words) && insert(p, inside, "(") && remember(p, start);
	if (peek(p, 0) == 'F')
		return parse_function(p, &inside) && put(p, words) && remember(p, start);
	return parse_type(p) && put(p, words) && remember(p, start);
}

/* "M3FooFvvE" is "void (Foo::*)()" */
static bool parse_member(struct parse *p)
{
	char class[OUT_BYTES];
	size_t start = p->len, inside;
	bool is_const;

	p->at++;
	if (!parse_type(p))
		return false;
	memcpy(class, p->out + start, p->len - start);
	class[p->len - start] = '\0';
	p->len = start;
	is_const = take(p, 'K');
	if (peek(p, 0) != 'F' || !parse_function(p, &inside))
		return false;
	if (is_const && (!put(p, " const") || !remember(p, start)))
		return false;
	return insert(p, inside, "::*)") && insert(p, inside, class) && insert(p, inside, "(") &&
	    remember(p, start);
}

static bool parse_any(struct parse *p)
{
	size_t letters;
	const char *name = builtin(p, &letters);

	if (name) {
		p->at += letters;
		return put(p, name);
	}
	switch (peek(p, 0)) {
	case 'P':
		return parse_compound(p, "*");
	case 'R':
		return parse_compound(p, "&");
	case 'O':
		return parse_compound(p, "&&");
	case 'K':
		return parse_compound(p, " const");
	case 'F':
		return parse_function(p, &letters);
	case 'M':
		return parse_member(p);
	case 'N':
		return parse_nested(p);
	case 'Z':
		return parse_local(p);
	default:
		return parse_unnested(p);
	}
}

static bool parse_type(struct parse *p)
{
	bool is_fine;

	if (++p->depth > DEPTH_MAX)
		return false;
	is_fine = parse_any(p);
	p->depth--;
	return is_fine;
}

/* NOLINTEND(misc-no-recursion) */

static void begin(struct parse *p, const char *name, size_t len)
{
	p->at = name;
	p->end = name + len;
	p->len = p->part_count = p->text_len = 0;
	p->depth = 0;
}

size_t type_name_first(const char *name, size_t len, char *to, size_t room)
{
	struct parse p;
	bool is_std = false, is_nested;

	begin(&p, name, len);
	is_nested = take(&p, 'N');
	if (peek(&p, 0) == 'S' && !parse_substitution(&p, &is_std))
		return 0;
	do {
		if ((p.len > 0 && !put(&p, "::")) || !parse_source_name(&p) || !remember(&p, 0))
			return 0;
	} while (is_nested && peek(&p, 0) != 'I');
	if (!take(&p, 'I') || !put(&p, "<") || !parse_type(&p) || !put(&p, ", ...>") ||
	    p.len >= room)
		return 0;
	memcpy(to, p.out, p.len);
	to[p.len] = '\0';
	return p.len;
}

size_t type_name_plain(const char *name, size_t len, char *to, size_t room)
{
	struct parse p;
	bool is_fine;

	begin(&p, name, len);
	is_fine = parse_type(&p) && p.at == p.end && p.len < room;
	if (!is_fine)
		p.len = len < room ? len : room - 1;
	memcpy(to, is_fine ? p.out : name, p.len);
	to[p.len] = '\0';
	return p.len;
}
