/* vtable.c - from the address of a vtable to the name of its class. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/types/survey_parts.h"

enum {
	PAGE = 4096,
	WORD = 8,
	/* a name is read in pieces, because it may end where memory does */
	PIECE = 64,
};

/* Upper bits of a name's address are flags of some run times. */
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

bool vtable_is_name(const char *text, size_t len)
{
	/* "3Foo", "N3app3FooE", "St6vectorIiSaIiEE" */
	if (len < 2)
		return false;
	if (!isdigit((unsigned char)text[0]) && text[0] != 'N' && text[0] != 'S' && text[0] != 'Z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.' &&
		    text[i] != '$')
			return false;
	return true;
}

/* Reads words that all lie in a module. */
static bool read_words(const struct vtable_memory *m, uint64_t address, uint64_t *to, size_t count)
{
	if (address % WORD || address < PAGE || address > ADDRESS_MASK ||
	    !m->is_in_module(m->context, address) ||
	    !m->is_in_module(m->context, address + count * WORD - 1))
		return false;
	return m->read(m->context, address, to, count * WORD);
}

/* Reads up to the NUL, and never beyond the pages that have the name. */
static size_t read_text(const struct vtable_memory *m, uint64_t address, char *to)
{
	size_t len = 0;

	while (len < VTABLE_NAME_BYTES) {
		size_t n = PIECE - (address + len) % PIECE;
		const char *nul;

		if (n > VTABLE_NAME_BYTES - len)
			n = VTABLE_NAME_BYTES - len;
		if (!m->is_in_module(m->context, address + len) ||
		    !m->read(m->context, address + len, to + len, n))
			return 0;
		nul = memchr(to + len, '\0', n);
		if (nul)
			return (size_t)(nul - to);
		len += n;
	}
	return 0;
}

/* The class of the object that this vtable is for, and the class of its typeinfo. */
struct step {
	uint64_t typeinfo_vtable;
	uint64_t name;
};

static bool read_step(const struct vtable_memory *m, uint64_t vtable, struct step *ret)
{
	uint64_t before[2], info[2];

	/*
	 * The first word of `before` is the distance to the beginning of the
	 * object: 0, because that is where the object was found.
	 */
	if (vtable < PAGE || !read_words(m, vtable - sizeof(before), before, 2) || before[0] != 0 ||
	    !read_words(m, before[1], info, 2))
		return false;
	*ret = (struct step){info[0], info[1] & ADDRESS_MASK};
	return true;
}

/* Classes of typeinfos for classes; others are for int, pointers, functions. */
static bool is_class_info(const char *name)
{
	return strcmp(name, "N10__cxxabiv117__class_type_infoE") == 0 ||
	    strcmp(name, "N10__cxxabiv120__si_class_type_infoE") == 0 ||
	    strcmp(name, "N10__cxxabiv121__vmi_class_type_infoE") == 0;
}

size_t vtable_name(const struct vtable_memory *m, uint64_t vtable, char name[VTABLE_NAME_BYTES])
{
	struct step object, info;
	size_t len;

	if (!read_step(m, vtable, &object) || !read_step(m, object.typeinfo_vtable, &info) ||
	    read_text(m, info.name, name) == 0 || !is_class_info(name))
		return 0;
	len = read_text(m, object.name, name);
	if (len > 0 && name[0] == '*') { /* a class that one module alone knows */
		memmove(name, name + 1, len);
		len--;
	}
	return vtable_is_name(name, len) ? len : 0;
}

/* ---- control: what a control block of shared_ptr says of the object that it counts ---- */

/* Length of the first argument of a template, which begins at text. */
static size_t argument_len(const char *text)
{
	int depth = 0;
	size_t i;

	for (i = 0; text[i]; i++) {
		if (depth == 0 && (text[i] == ',' || text[i] == '>'))
			break;
		if (text[i] == '<' || text[i] == '(' || text[i] == '[')
			depth++;
		else if (text[i] == '>' || text[i] == ')' || text[i] == ']')
			depth--;
	}
	while (i > 0 && text[i - 1] == ' ')
		i--;
	return i;
}

struct control control_of(const char *name)
{
	static const struct {
		const char *begin;
		enum control_kind kind;
		bool names_pointer; /* its first argument is a pointer */
		size_t size;
	} known[] = {
	    {"std::_Sp_counted_ptr_inplace<", CONTROL_INSIDE, false, 0},
	    {"std::_Sp_counted_ptr<", CONTROL_POINTER, true, 24},
	    {"std::_Sp_counted_deleter<", CONTROL_POINTER, true, 0},
	    {"std::__1::__shared_ptr_emplace<", CONTROL_INSIDE, false, 0},
	    /* behind the pointer is the deleter, where it has any bytes */
	    {"std::__1::__shared_ptr_pointer<", CONTROL_POINTER, true, 32},
	    {"boost::detail::sp_counted_impl_p<", CONTROL_POINTER, false, 24},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].begin), len;

		if (strncmp(name, known[i].begin, n) != 0)
			continue;
		len = argument_len(name + n);
		if (known[i].names_pointer) {
			if (len == 0 || name[n + len - 1] != '*')
				break;
			len--;
		}
		if (len == 0 || (len == 4 && memcmp(name + n, "void", 4) == 0))
			break;
		return (struct control){known[i].kind, name + n, len, known[i].size};
	}
	return (struct control){CONTROL_NONE, NULL, 0, 0};
}
