/* control.c - what a control block of shared_ptr says of the object that it counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/types/control.h"

#include <stdbool.h>
#include <string.h>

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
