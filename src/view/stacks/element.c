/* element.c - the C++ type that a block was allocated for, by the functions that allocated it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/fingerprint.h"

enum { OUTER = 12 }; /* frames in which the container is looked for */

struct slice {
	const char *at;
	size_t len;
};

/* "std::vector<int, A>::f<char>": class template, its arguments, function */
struct member {
	struct slice class, arguments, function;
};

static bool is_text(struct slice s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

static bool begins_with(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.len >= n && memcmp(s.at, text, n) == 0;
}

static struct slice without(struct slice s, size_t n)
{
	return (struct slice){s.at + n, s.len - n};
}

/* +1 and -1 for what opens and closes. "->" and "<<" are in no type. */
static int step(char c)
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
static size_t outside(struct slice s, const char *stop)
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
static struct slice argument(struct slice all, size_t i)
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
static bool split(struct slice s, struct slice *name, struct slice *arguments, struct slice *rest)
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
static struct slice qualified(const char *function)
{
	struct slice s = {function, strlen(function)};
	size_t n;

	while ((n = outside(s, " (")) < s.len && s.at[n] == ' ')
		s = without(s, n + 1);
	s.len = n;
	return s;
}

/* Names of containers and allocators without where they are declared. */
static struct slice plain(struct slice s)
{
	static const char *const scopes[] = {
	    "std::__cxx11::", "std::__1::", "std::__detail::", "std::", "__gnu_cxx::"};

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (begins_with(s, scopes[i]))
			return without(s, strlen(scopes[i]));
	return (struct slice){s.at, 0};
}

static bool read_member(const char *function, struct member *ret)
{
	struct slice rest, name = qualified(function);

	if (!split(name, &ret->class, &ret->arguments, &rest) || !begins_with(rest, "::"))
		return false;
	rest = without(rest, 2);
	rest.len = outside(rest, "<[");
	ret->function = rest;
	ret->class = plain(ret->class);
	return ret->class.len > 0;
}

/* ---- what is a type made of ---- */

/* Can a value of this type be copied without an allocation? */
static bool is_scalar(struct slice type)
{
	static const char *const words[] = {"bool", "char", "signed char", "unsigned char",
	    "char8_t", "char16_t", "char32_t", "wchar_t", "short", "unsigned short", "int",
	    "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "float",
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
    {"__vector_base", "std::vector"},
    {"__split_buffer", "std::vector"},
    {"deque", "std::deque"},
    {"_Deque_base", "std::deque"},
    {"__deque_base", "std::deque"},
    {"basic_string", "std::string"},
    {"list", "std::list"},
    {"_List_base", "std::list"},
    {"__list_imp", "std::list"},
    {"forward_list", "std::forward_list"},
    {"_Fwd_list_base", "std::forward_list"},
    {"__forward_list_base", "std::forward_list"},
    {"_Rb_tree", "std::map or std::set"},
    {"__tree", "std::map or std::set"},
    {"map", "std::map or std::set"},
    {"multimap", "std::map or std::set"},
    {"set", "std::map or std::set"},
    {"multiset", "std::map or std::set"},
    {"_Hashtable", "std::unordered_map or _set"},
    {"_Hashtable_alloc", "std::unordered_map or _set"},
    {"__hash_table", "std::unordered_map or _set"},
    {"unordered_map", "std::unordered_map or _set"},
    {"unordered_multimap", "std::unordered_map or _set"},
    {"unordered_set", "std::unordered_map or _set"},
    {"unordered_multiset", "std::unordered_map or _set"},
};

enum {
	NODES = sizeof(nodes) / sizeof(nodes[0]),
	CLASSES = sizeof(classes) / sizeof(classes[0]),
};

const char *element_container(const char *name)
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
static struct slice without_node(struct slice type, const char **container)
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

static const char *container_of(struct slice name)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (is_text(name, classes[i].class))
			return classes[i].container;
	return NULL;
}

/* ---- functions ---- */

/* std::allocator<T>::allocate(), and what wraps it. */
static bool of_allocator(const struct member *m, struct slice *ret)
{
	static const char *const allocators[] = {
	    "__new_allocator", "new_allocator", "allocator", "malloc_allocator"};
	static const char *const traits[] = {"allocator_traits", "__alloc_traits"};
	struct slice type = argument(m->arguments, 0);
	struct slice name, arguments, rest;

	if (!is_text(m->function, "allocate"))
		return false;
	*ret = type;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (is_text(m->class, allocators[i]))
			return true;
	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (is_text(m->class, traits[i]) && split(type, &name, &arguments, &rest) &&
		    rest.len == 0) {
			*ret = argument(arguments, 0);
			return is_text(plain(name), "allocator");
		}
	return false;
}

/* "X<T, ...>::allocate" of any template; *ret is "X". */
static bool is_allocate(const char *function, struct slice *ret)
{
	struct slice arguments, rest;

	if (!split(qualified(function), ret, &arguments, &rest) || !begins_with(rest, "::"))
		return false;
	rest = without(rest, 2);
	rest.len = outside(rest, "<[");
	return is_text(rest, "allocate");
}

/*
 * An allocator of the user or of a library, which std::allocator_traits calls.
 * Its first argument is the type, because that is the one that the standard
 * replaces to make an allocator for another type.
 */
static bool of_own_allocator(const char *function, const char *caller, struct slice *ret)
{
	struct slice template, name, arguments, rest;
	struct member traits;

	if (!is_allocate(function, &template) || !read_member(caller, &traits) ||
	    !is_text(traits.class, "allocator_traits") || !is_text(traits.function, "allocate") ||
	    !split(argument(traits.arguments, 0), &name, &arguments, &rest) || rest.len > 0 ||
	    name.len != template.len || memcmp(name.at, template.at, name.len) != 0)
		return false;
	*ret = argument(arguments, 0);
	return true;
}

/* ---- is it so? ---- */

/* Is the type an argument of a template, anywhere in the text? */
static bool mentions(struct slice text, struct slice type)
{
	for (size_t i = 1; type.len > 0 && i + type.len < text.len; i++) {
		const char *at = text.at + i, *end = at + type.len;
		bool begins = at[-1] == '<' || (i > 1 && at[-1] == ' ' && at[-2] == ',');

		if (begins && memcmp(at, type.at, type.len) == 0 &&
		    (*end == ',' || *end == '>' ||
		        (*end == ' ' && end + 1 < text.at + text.len && end[1] == '>')))
			return true;
	}
	return false;
}

/* Strings are left out: what they allocate is in no doubt. */
static bool is_container(struct slice name)
{
	return container_of(name) && !is_text(name, "basic_string");
}

/* What a member of a container may allocate, though its name does not have it. */
static bool is_inner(const struct member *m, struct slice type)
{
	struct slice name = plain(type);

	return begins_with(name, "_Hash_node_base") || begins_with(name, "__hash_node_base") ||
	    (is_text(type, "unsigned long") &&
	        (is_text(m->class, "_Bvector_base") || is_text(argument(m->arguments, 0), "bool")));
}

/* May this member of a container have allocated elements of the type? */
static bool may_allocate(const char *function, const struct member *m, struct slice type)
{
	struct slice text = qualified(function), name, arguments, rest;

	if (mentions(text, type) || is_inner(m, type))
		return true;
	/* a deque has an array of pointers */
	if (type.len > 0 && type.at[type.len - 1] == '*') {
		type.len--;
		return strcmp(container_of(m->class), "std::deque") == 0 && mentions(text, type);
	}
	/* a map of libc++ */
	return split(type, &name, &arguments, &rest) &&
	    (is_text(plain(name), "__value_type") || is_text(plain(name), "__hash_value_type")) &&
	    mentions(text, argument(arguments, 1));
}

/*
 * Compilers and linkers make one function of those that have the same code
 * (-fipa-icf, --icf): the allocator of one type is that of all types of its
 * size, and debug information has one of their names. Who calls it has its own,
 * so all members of containers from there on must know the type. `alone`: only
 * one function has said it, and whoever calls that must know it.
 */
static bool is_confirmed(
    const char *const *functions, size_t count, size_t i, struct slice type, bool alone)
{
	struct member m;

	if (i == count || !functions[i])
		return !alone;
	/* so must a function of the library that is no member of one */
	if (!mentions(qualified(functions[i]), type) &&
	    (alone ||
	        (plain(qualified(functions[i])).len > 0 &&
	            !(read_member(functions[i], &m) && is_container(m.class)))))
		return false;
	for (; i < count && functions[i] && read_member(functions[i], &m) && is_container(m.class);
	     i++)
		if (!may_allocate(functions[i], &m, type))
			return false;
	return true;
}

/* Nodes are allocated by their container; others have nodes of that size, too. */
static bool is_of(const char *container, const char *function)
{
	struct member m;

	if (!function)
		return false;
	if (strcmp(container, "std::shared_ptr") == 0)
		return strstr(function, "_Sp_counted_ptr_inplace<") ||
		    strstr(function, "__shared_ptr_emplace<") || strstr(function, "shared_ptr");
	return read_member(function, &m) && container_of(m.class) &&
	    strcmp(container_of(m.class), container) == 0;
}

/* A function that allocates for elements, and for nothing else. */
static bool only_allocates(struct slice function)
{
	static const char *const names[] = {"_M_allocate", "_M_create_storage", "_M_allocate_node"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_text(function, names[i]))
			return true;
	return false;
}

static bool of_container(const struct member *m, struct slice *ret)
{
	*ret = argument(m->arguments, 0);
	if (is_text(m->class, "basic_string"))
		return is_scalar(*ret);
	if (is_text(m->class, "vector") || is_text(m->class, "_Vector_base"))
		/* the bits of a vector<bool> are in words */
		return !is_text(*ret, "bool") && (is_scalar(*ret) || only_allocates(m->function));
	if (is_text(m->class, "_Deque_base"))
		return is_text(m->function, "_M_allocate_node");
	return false;
}

/* `new T(...)` of std::make_unique<T>(), where nothing is inlined into it. */
static bool of_maker(const char *function, struct slice *ret)
{
	struct slice name, arguments, rest;

	if (!split(qualified(function), &name, &arguments, &rest))
		return false;
	*ret = argument(arguments, 0);
	return is_text(plain(name), "make_unique") && ret->len > 0 && ret->at[ret->len - 1] != ']';
}

/* Functions between an allocator of libc++ and operator new. */
static bool is_between(const char *function)
{
	struct slice name = plain(qualified(function));

	return begins_with(name, "__libcpp_allocate") || begins_with(name, "__libcpp_operator_new");
}

static bool is_usable(struct slice type)
{
	return type.len > 0 && !is_text(type, "void");
}

/*
 * The allocator, and its traits, if these are listed: they come last and are
 * right. *at is the last one of them.
 */
static bool of_allocators(
    const char *const *functions, size_t count, size_t *at, struct slice *ret, bool *ret_alone)
{
	struct slice type;
	struct member m;
	size_t i = *at;

	*ret_alone = false;
	if (i + 1 < count && functions[i + 1] &&
	    of_own_allocator(functions[i], functions[i + 1], ret)) {
		*at = i + 1;
		return true;
	}
	if (!read_member(functions[i], &m) || !of_allocator(&m, ret))
		return false;
	for (; i + 1 < count && functions[i + 1] && read_member(functions[i + 1], &m) &&
	     of_allocator(&m, &type);
	     i++)
		*ret = type;
	*ret_alone = i == *at;
	*at = i;
	return true;
}

/* Up to the function that allocates. */
static size_t first_of(const char *const *functions, size_t count)
{
	size_t i = 0;

	while (i < count && functions[i] && is_between(functions[i]))
		i++;
	return i;
}

bool element_find(
    const char *const *functions, const bool *lines, size_t count, struct element *ret)
{
	struct slice type = {NULL, 0};
	struct member m = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	size_t i = first_of(functions, count);
	bool alone = false, is_text_of = false;

	if (i == count || !functions[i])
		return false;
	*ret = (struct element){NULL, 0, NULL, false};
	if (!of_allocators(functions, count, &i, &type, &alone)) {
		if (read_member(functions[i], &m) ? !of_container(&m, &type)
		                                  : !lines[i] || !of_maker(functions[i], &type))
			return false;
		is_text_of = is_text(m.class, "basic_string");
	}
	type = without_node(type, &ret->container);
	if (!is_usable(type) ||
	    (ret->container && !is_of(ret->container, i + 1 < count ? functions[i + 1] : NULL)) ||
	    (!is_text_of && !is_confirmed(functions, count, i + 1, type, alone)))
		return false;
	ret->type = type.at;
	ret->len = type.len;
	ret->is_scalar = is_scalar(type);
	for (size_t n = 0; !ret->container && i < count && n < OUTER; i++, n++) {
		if (!functions[i] || !read_member(functions[i], &m))
			break;
		ret->container = container_of(m.class);
	}
	return true;
}

bool element_is_open(const char *const *functions, size_t count, const struct element *found)
{
	struct member m = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	size_t i = first_of(functions, count), n = 0;
	struct slice template;

	if (i == count)
		return true;
	if (!functions[i])
		return false;
	if (found && read_member(functions[i], &m) && is_text(m.class, "basic_string"))
		return false; /* nobody needs to confirm it */
	if (!read_member(functions[i], &m) && is_allocate(functions[i], &template))
		i++; /* who calls it decides */
	for (; i < count && n < OUTER; i++, n++)
		if (!functions[i] || !read_member(functions[i], &m))
			return false;
	return n < OUTER;
}
