/* holders.cpp - twelve ways to hold memory; says for each of them who holds how much. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-inline-small-functions */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>

#include "../lib/scrub.h"

/* equal functions would become one */
#define OWN __attribute__((noinline, noclone, no_icf))

/* after a call, so that it does not become a jump */
#define CALLED __asm__ volatile("" ::: "memory")

enum { N = 500 };

/* CASE FUNCTION ROOT NAME PILE BYTES: tests/lib/held_answer.py compares these. */
static void say(
    const char *function, const char *root, const char *name, const char *pile, size_t bytes)
{
	printf("CASE %s %s %s %s %zu\n", function, root, name, pile, bytes);
}

/* A wrapper, which must not be blamed. */
extern "C" OWN void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	memset(p, 0, size);
	return p;
}

struct node {
	node *next;
	char text[56];
};

/* ---- a hash in a global variable ---- */
struct entry {
	entry *next;
	char *key;
	uint64_t value[4];
};
struct hash {
	uint64_t numbers[8]; /* so the table is at +0x40 */
	entry **table;
	size_t mask, count;
};
extern "C" {
hash sessions;
}

extern "C" OWN void hash_grow(size_t size)
{
	sessions.table = (entry **)xmalloc(size * sizeof(entry *));
	sessions.mask = size - 1;
}

extern "C" OWN char *hash_key(size_t i)
{
	char *key = (char *)xmalloc(24);

	snprintf(key, 24, "key %zu", i);
	return key;
}

extern "C" OWN void hash_add(size_t i)
{
	entry *e = (entry *)xmalloc(sizeof(*e));

	e->key = hash_key(i);
	e->next = sessions.table[i * 7 & sessions.mask];
	sessions.table[i * 7 & sessions.mask] = e;
	sessions.count++;
}

/* ---- lists ---- */
extern "C" {
static node *static_list __attribute__((used));
thread_local node *tls_list;
}

extern "C" OWN void static_add(void)
{
	node *n = (node *)xmalloc(sizeof(*n));

	n->next = static_list;
	static_list = n;
}

extern "C" OWN void tls_add(void)
{
	node *n = (node *)xmalloc(sizeof(*n) + 8);

	n->next = tls_list;
	tls_list = n;
}

/* ---- on the stack of a thread ---- */
extern "C" OWN void stack_add(node *volatile *head)
{
	node *n = (node *)xmalloc(sizeof(*n) + 16);

	n->next = *head;
	*head = n;
}

static int stack_ready[2], stack_end[2];

static void *stack_thread(void *)
{
	node *volatile head = nullptr;
	char c = 0;

	pthread_setname_np(pthread_self(), "holder");
	for (int i = 0; i < N; i++)
		stack_add(&head);
	if (write(stack_ready[1], &c, 1) != 1 || read(stack_end[0], &c, 1) < 0)
		abort();
	return head;
}

/* ---- std::map, shared_ptr ---- */
struct value {
	char text[100];
};
std::map<int, value> names_by_id;

extern "C" OWN void map_add(int i)
{
	names_by_id[i] = value();
}

struct both {
	std::shared_ptr<both> other;
	char text[48];
};

extern "C" OWN void cycle_make(void)
{
	auto a = std::make_shared<both>(), b = std::make_shared<both>();

	a->other = b;
	b->other = a;
}

/* ---- a table of mmap ---- */
extern "C" OWN void *mapped_add(void)
{
	void *p = xmalloc(88);

	CALLED;
	return p;
}

/* ---- a list whose links are in the middle of its items ---- */
struct hook {
	hook *next, *prev;
};
struct object {
	uint64_t before[6];
	hook in_list;
	uint64_t after[2];
};
extern "C" {
struct {
	uint64_t count;
	hook head;
} intrusive;
}

extern "C" OWN void intrusive_add(void)
{
	object *o = (object *)xmalloc(sizeof(*o));

	o->in_list.next = &intrusive.head;
	o->in_list.prev = intrusive.head.prev;
	o->in_list.prev->next = &o->in_list;
	intrusive.head.prev = &o->in_list;
	intrusive.count++;
}

/* ---- a tree, below a block that a global variable points to ---- */
struct leaf {
	leaf *child[2];
	uint32_t key;
	char text[20];
};
struct tree {
	uint64_t count;
	leaf *top;
};
extern "C" {
tree *forest;
}

extern "C" OWN void tree_new(void)
{
	forest = (tree *)xmalloc(sizeof(*forest));
}

extern "C" OWN void tree_add(uint32_t key)
{
	leaf **at = &forest->top;

	while (*at)
		at = &(*at)->child[key > (*at)->key];
	*at = (leaf *)xmalloc(sizeof(leaf));
	(*at)->key = key;
}

/* ---- a ring ---- */
extern "C" {
node *ring_place;
}

extern "C" OWN void ring_add(void)
{
	node *n = (node *)xmalloc(sizeof(*n) + 32);

	if (!ring_place) {
		ring_place = n->next = n;
		return;
	}
	n->next = ring_place->next;
	ring_place->next = n;
	ring_place = n;
}

/* ---- callbacks with their contexts ---- */
struct callback {
	void (*call)(void *);
	void *context;
};
extern "C" {
struct {
	callback *list;
	size_t count, room;
} registry;
}

extern "C" OWN void registry_grow(void)
{
	registry.room = registry.room ? registry.room * 2 : 8;
	registry.list = (callback *)realloc(registry.list, registry.room * sizeof(callback));
	if (!registry.list)
		abort();
}

extern "C" OWN void *context_new(void)
{
	void *p = xmalloc(72);

	CALLED;
	return p;
}

extern "C" OWN void registry_add(void (*call)(void *), void *context)
{
	if (registry.count == registry.room)
		registry_grow();
	registry.list[registry.count++] = {call, context};
}

/* ---- all of them ---- */

extern "C" OWN void fill(size_t (*lib_add)(void))
{
	size_t lib = 0;
	void **map = (void **)mmap(
	    NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		abort();
	hash_grow(256);
	tree_new();
	intrusive.head.next = intrusive.head.prev = &intrusive.head;
	for (int i = 0; i < N; i++) {
		hash_add(i);
		static_add();
		tls_add();
		map_add(i);
		cycle_make();
		map[i] = mapped_add();
		lib += lib_add();
		intrusive_add();
		tree_add((uint32_t)i * 2654435761u);
		ring_add();
		registry_add(free, context_new());
	}
	say("hash_add", "variable", "sessions", "hash_grow",
	    256 * sizeof(entry *) + N * (sizeof(entry) + 24));
	say("hash_key", "variable", "sessions", "hash_grow",
	    256 * sizeof(entry *) + N * (sizeof(entry) + 24));
	say("static_add", "variable", "static_list", "root", N * sizeof(node));
	say("tls_add", "thread_local", "tls_list", "root", N * (sizeof(node) + 8));
	say("stack_add", "stack", "-", "root", N * (sizeof(node) + 16));
	say("map_add", "variable", "names_by_id", "root",
	    N * sizeof(std::_Rb_tree_node<std::pair<const int, value>>));
	say("cycle_make", "lost", "-", "root",
	    2 * N *
	        sizeof(std::_Sp_counted_ptr_inplace<both, std::allocator<void>,
	            __gnu_cxx::__default_lock_policy>));
	say("mapped_add", "mapping", "-", "root", N * 88);
	say("lib_add", "variable", "lib_items", "root", lib);
	say("intrusive_add", "variable", "intrusive", "root", N * sizeof(object));
	say("tree_add", "variable", "forest", "tree_new", sizeof(tree) + N * sizeof(leaf));
	say("ring_add", "variable", "ring_place", "root", N * (sizeof(node) + 32));
	say("context_new", "variable", "registry", "registry_grow",
	    registry.room * sizeof(callback) + N * 72);
}

int main(int, char **argv)
{
	std::string path = std::string(argv[0]) + "_plugin.so";
	void *lib = dlopen(path.c_str(), RTLD_NOW);
	size_t (*lib_add)(void);
	pthread_t thread;
	char c;

	if (!lib || pipe(stack_ready) || pipe(stack_end))
		return 1;
	lib_add = (size_t(*)(void))dlsym(lib, "lib_add");
	if (pthread_create(&thread, NULL, stack_thread, NULL) || read(stack_ready[0], &c, 1) != 1)
		return 1;
	fill(lib_add);
	scrub();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	(void)!read(0, &c, 1);
	_exit(0); /* the thread still has its list */
}
