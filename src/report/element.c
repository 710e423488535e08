/* element.c - the C++ type that a block was allocated for, by the functions that allocated it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/element.h"

#include <string.h>

enum { OUTER = 12 }; /* frames in which the container is looked for */

struct slice {
	const char *at;
	size_t len;
};

/* "std::vector<int, A>::f<char>": class template, its arguments, function */
struct member {
	struct slice class, arguments, function;
};

static bool
is_text(struct slice s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

static bool
begins_with(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.len >= n && memcmp(s.at, text, n) == 0;
}

static struct slice
without(struct slice s, size_t n)
{
	return (struct slice){s.at + n, s.len - n};
}

/* +1 and -1 for what opens and closes. "->" and "<<" are in no type. */
static int
step(char c)
{
	switch (c) {
	case '<':
	case '(':
	case '[':
	case '{':
		return 1;
	case '>':
	case ')':
	case ']':
	case '}':
		return -1;
	default:
		return 0;
	}
}

/* Up to the first of these characters that is in no brackets. */
static size_t
outside(struct slice s, const char *stop)
{
	int depth = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (depth == 0 && strchr(stop, s.at[i]))
			return i;
		depth += step(s.at[i]);
		if (depth < 0)
			return s.len;
	}
	return s.len;
}

/* Number i of template arguments, from 0 on; empty: there is none. */
static struct slice
argument(struct slice all, size_t i)
{
	size_t len;

	for (; i > 0; i--) {
		len = outside(all, ",");
		if (len == all.len)
			return (struct slice){all.at, 0};
		all = without(all, len + 1);
	}
	all.len = outside(all, ",");
	while (all.len > 0 && all.at[0] == ' ')
		all = without(all, 1);
	while (all.len > 0 && all.at[all.len - 1] == ' ')
		all.len--;
	return all;
}

/* "name<arguments>rest" -> name, arguments, rest */
static bool
split(struct slice s, struct slice *name, struct slice *arguments,
    struct slice *rest)
{
	size_t open = 0, close;
	int depth = 0;

	while (open < s.len && s.at[open] != '<')
		open++;
	for (close = open; close < s.len; close++) {
		depth += step(s.at[close]);
		if (depth == 0)
			break;
	}
	if (open == 0 || close >= s.len)
		return false;
	*name = (struct slice){s.at, open};
	*arguments = (struct slice){s.at + open + 1, close - open - 1};
	*rest = without(s, close + 1);
	return true;
}

/* The qualified name: without the type that it returns, and its parameters. */
static struct slice
qualified(const char *function)
{
	struct slice s = {function, strlen(function)};
	size_t n;

	while ((n = outside(s, " (")) < s.len && s.at[n] == ' ')
		s = without(s, n + 1);
	s.len = n;
	return s;
}

/* Names of containers and allocators without where they are declared. */
static struct slice
plain(struct slice s)
{
	static const char *const scopes[] = {"std::__cxx11::", "std::__1::",
	    "std::__detail::", "std::", "__gnu_cxx::"};

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (begins_with(s, scopes[i]))
			return without(s, strlen(scopes[i]));
	return (struct slice){s.at, 0};
}

static bool
read_member(const char *function, struct member *ret)
{
	struct slice rest, name = qualified(function);

	if (!split(name, &ret->class, &ret->arguments, &rest) ||
	    !begins_with(rest, "::"))
		return false;
	rest = without(rest, 2);
	rest.len = outside(rest, "<[");
	ret->function = rest;
	ret->class = plain(ret->class);
	return ret->class.len > 0;
}

/* ---- what is a type made of ---- */

/* Can a value of this type be copied without an allocation? */
static bool
is_scalar(struct slice type)
{
	static const char *const words[] = {"bool", "char", "signed char",
	    "unsigned char", "char8_t", "char16_t", "char32_t", "wchar_t",
	    "short", "unsigned short", "int", "unsigned int", "long",
	    "unsigned long", "long long", "unsigned long long", "float",
	    "double", "long double", "__int128", "unsigned __int128"};

	if (type.len > 0 && type.at[type.len - 1] == '*')
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_text(type, words[i]))
			return true;
	return false;
}

/* Nodes and classes of containers, with the names that people know. */
struct known {
	const char *class, *container;
};

static const struct known nodes[] = {
    {"_List_node", "std::list"},
    {"_Fwd_list_node", "std::forward_list"},
    {"_Rb_tree_node", "std::map or std::set"},
    {"_Hash_node", "std::unordered_map or _set"},
    {"_Sp_counted_ptr_inplace", "std::shared_ptr"},
    {"__list_node", "std::list"},
    {"__forward_list_node", "std::forward_list"},
    {"__tree_node", "std::map or std::set"},
    {"__hash_node", "std::unordered_map or _set"},
    {"__shared_ptr_emplace", "std::shared_ptr"},
};

static const struct known classes[] = {
    {"vector", "std::vector"},
    {"_Vector_base", "std::vector"},
    {"_Bvector_base", "std::vector"},
    {"deque", "std::deque"},
    {"_Deque_base", "std::deque"},
    {"basic_string", "std::string"},
    {"_Hashtable", "std::unordered_map or _set"},
    {"_Hashtable_alloc", "std::unordered_map or _set"},
};

enum {
	NODES = sizeof(nodes) / sizeof(nodes[0]),
	CLASSES = sizeof(classes) / sizeof(classes[0]),
};

const char *
element_container(const char *name)
{
	for (size_t i = 0; name && i < NODES; i++)
		if (strcmp(nodes[i].container, name) == 0)
			return nodes[i].container;
	for (size_t i = 0; name && i < CLASSES; i++)
		if (strcmp(classes[i].container, name) == 0)
			return classes[i].container;
	return NULL;
}

/* The element of a node, and what it is in. */
static struct slice
without_node(struct slice type, const char **container)
{
	struct slice name, arguments, rest;

	if (!split(type, &name, &arguments, &rest) || rest.len > 0)
		return type;
	name = plain(name);
	for (size_t i = 0; i < NODES; i++)
		if (is_text(name, nodes[i].class)) {
			*container = nodes[i].container;
			return argument(arguments, 0);
		}
	return type;
}

static const char *container_of(struct slice class)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (is_text(class, classes[i].class))
			return classes[i].container;
	return NULL;
}

/* ---- functions ---- */

/* std::allocator<T>::allocate(), and what wraps it. */
static bool
of_allocator(const struct member *m, struct slice *ret)
{
	static const char *const allocators[] = {"__new_allocator",
	    "new_allocator", "allocator", "malloc_allocator"};
	static const char *const traits[] = {
	    "allocator_traits", "__alloc_traits"};
	struct slice type = argument(m->arguments, 0);
	struct slice name, arguments, rest;

	if (!is_text(m->function, "allocate"))
		return false;
	*ret = type;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (is_text(m->class, allocators[i]))
			return true;
	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (is_text(m->class, traits[i]) &&
		    split(type, &name, &arguments, &rest) && rest.len == 0) {
			*ret = argument(arguments, 0);
			return is_text(plain(name), "allocator");
		}
	return false;
}

/* A function that allocates for elements, and for nothing else. */
static bool
only_allocates(struct slice function)
{
	static const char *const names[] = {
	    "_M_allocate", "_M_create_storage", "_M_allocate_node"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_text(function, names[i]))
			return true;
	return false;
}

static bool
of_container(const struct member *m, struct slice *ret)
{
	*ret = argument(m->arguments, 0);
	if (is_text(m->class, "basic_string"))
		return is_scalar(*ret);
	if (is_text(m->class, "vector") || is_text(m->class, "_Vector_base"))
		/* the bits of a vector<bool> are in words */
		return !is_text(*ret, "bool") &&
		    (is_scalar(*ret) || only_allocates(m->function));
	if (is_text(m->class, "_Deque_base"))
		return is_text(m->function, "_M_allocate_node");
	return false;
}

/* `new T(...)` of std::make_unique<T>(), where nothing is inlined into it. */
static bool
of_maker(const char *function, struct slice *ret)
{
	struct slice name, arguments, rest;

	if (!split(qualified(function), &name, &arguments, &rest))
		return false;
	*ret = argument(arguments, 0);
	return is_text(plain(name), "make_unique") && ret->len > 0 &&
	    ret->at[ret->len - 1] != ']';
}

/* Functions between an allocator of libc++ and operator new. */
static bool
is_between(const char *function)
{
	struct slice name = plain(qualified(function));

	return begins_with(name, "__libcpp_allocate") ||
	    begins_with(name, "__libcpp_operator_new");
}

static bool
is_usable(struct slice type)
{
	return type.len > 0 && !is_text(type, "void");
}

bool
element_find(const char *const *functions, const bool *lines, size_t count,
    struct element *ret)
{
	struct slice type = {NULL, 0};
	struct member m = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	size_t i = 0;

	while (i < count && functions[i] && is_between(functions[i]))
		i++;
	if (i == count || !functions[i])
		return false;
	*ret = (struct element){NULL, 0, NULL, false};
	if (read_member(functions[i], &m)
	        ? !of_allocator(&m, &type) && !of_container(&m, &type)
	        : !lines[i] || !of_maker(functions[i], &type))
		return false;
	type = without_node(type, &ret->container);
	if (!is_usable(type))
		return false;
	ret->type = type.at;
	ret->len = type.len;
	ret->is_scalar = is_scalar(type);
	for (size_t n = 0; !ret->container && i < count && n < OUTER;
	     i++, n++) {
		if (!functions[i] || !read_member(functions[i], &m))
			break;
		ret->container = container_of(m.class);
	}
	return true;
}

bool
element_is_open(
    const char *const *functions, size_t count, const struct element *found)
{
	struct member m = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	size_t i = 0, n = 0;

	while (i < count && functions[i] && is_between(functions[i]))
		i++;
	if (i == count)
		return true;
	if (!found || found->container)
		return false;
	for (; i < count && n < OUTER; i++, n++)
		if (!functions[i] || !read_member(functions[i], &m))
			return false;
	return n < OUTER;
}
