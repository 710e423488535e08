/* three_judges.cpp - cases on which seep, LeakSanitizer and valgrind agree or differ; prints what it has. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the ideas of the test suites of LeakSanitizer and memcheck. The blocks of
 * a case come from one function, k_CASE. Prints "ready PID" and has the
 * tool that it runs under, if any, look for leaks right there.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <pthread.h>
#include <setjmp.h>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

#include "../lib/scrub.h"

extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

#define OWN __attribute__((noinline, noclone))
#define MAKER(name) \
	extern "C" OWN void *k_##name(size_t size) \
	{ \
		void *p = malloc(size); \
		if (p) \
			memset(p, 0, size); \
		__asm__ volatile("" : : "r"(p) : "memory"); \
		return p; \
	}

enum { N = 20, SIZE = 72 };

/* What holds blocks is not static: the compiler would leave out what nobody reads. */

MAKER(trivial)
MAKER(zero_lost)
MAKER(zero_held)
MAKER(pointer_to_self)
MAKER(cycle)
MAKER(tree_root)
MAKER(tree_leaf)
MAKER(disowned_list)
MAKER(large)
MAKER(detached_threads)
MAKER(cleaned_in_key_destructor)
MAKER(globals_initialized)
MAKER(globals_uninitialized)
MAKER(tls)
MAKER(key)
MAKER(stack)
MAKER(interior)
MAKER(past_end)
MAKER(unaligned)
MAKER(high_tag)
MAKER(unregistered_mapping)
MAKER(swapcontext_stack)
MAKER(in_freed)
MAKER(freed_holder)
MAKER(realloc_moved)
MAKER(jump_buffer)

void *initialized[N] = {(void *)1};
void *uninitialized[N];
thread_local void *tls[N];
char *interior[N], *past_end[N];
uintptr_t high_tag[N];
void *zero_held[N], *moved[N];
void **mapping;
struct __attribute__((packed)) {
	uint32_t before;
	void *p;
} packed[2 * N];

struct First {
	virtual ~First()
	{
	}
	long a = 1;
};
struct Second {
	virtual ~Second()
	{
	}
	long b = 2;
};
struct Both : First, Second {
	long c = 3;
};
struct Element {
	~Element()
	{
		text.clear();
	}
	std::string text;
};
Second *seconds[N];
Element *arrays[N];

extern "C" OWN void k_second_base(int i)
{
	seconds[i] = new Both;
}

extern "C" OWN void k_new_array(int i)
{
	arrays[i] = new Element[3];
}

/* ---- what libraries of C++ make of pointers ---- */

/* A list whose links are in the middle of its items, as in many C programs. */
struct Item {
	long data[3];
	struct Link {
		Link *next;
	} link;
};
Item::Link *intrusive;

/* Pieces of a block that the program gives out itself. */
char *pool_pieces[N];

std::string *long_strings;
std::exception_ptr errors[N];
std::weak_ptr<Both> weak[N];
std::function<int()> functions[N];
std::unique_ptr<Both> unique[N];
jmp_buf jumps[N];
uint32_t compressed[N];
char *pool_base;

extern "C" OWN void k_intrusive_list()
{
	Item *item = new Item;

	item->link.next = intrusive;
	intrusive = &item->link;
}

extern "C" OWN void k_pool(int i)
{
	pool_pieces[i] = (char *)malloc(1000) + 16 * (i + 1);
}

/* Its text is in itself, and so is the pointer to that. */
extern "C" OWN void k_short_string_lost()
{
	std::string *volatile s = new std::string("short");

	(void)s;
}

extern "C" OWN void k_long_string(int i)
{
	long_strings[i] = std::string(100, 'a');
}

/* Nodes point to their parents: nothing but each other holds them. */
extern "C" OWN void k_map_lost()
{
	auto *volatile m = new std::map<int, int>{{1, 1}, {2, 2}, {3, 3}};

	(void)m;
}

extern "C" OWN void k_exception_kept(int i)
{
	errors[i] = std::make_exception_ptr(std::string("kept"));
}

/* The object is gone, its memory waits for the last weak pointer. */
extern "C" OWN void k_weak_pointer(int i)
{
	weak[i] = std::make_shared<Both>();
}

extern "C" OWN void k_closure(int i)
{
	long a = i, b = 2, c = 3;

	functions[i] = [a, b, c] { return (int)(a + b + c); };
}

extern "C" OWN void k_unique_pointer(int i)
{
	unique[i] = std::make_unique<Both>();
}

/* rbx is in the buffer as it is; the stack pointer and the others are mangled. */
static OWN void in_jump(int i)
{
	register void *p __asm__("rbx") = k_jump_buffer(SIZE);

	__asm__ volatile("" : "+r"(p));
	if (setjmp(jumps[i]) != 0)
		abort();
	__asm__ volatile("" : : "r"(p));
}

/* As virtual machines do it: a base, and 32 bits for each. */
extern "C" OWN void k_compressed(int i)
{
	compressed[i] = (uint32_t)((char *)malloc(SIZE) - pool_base) >> 4;
}

static OWN void use_libraries()
{
	pool_base = (char *)malloc(16);
	long_strings = new std::string[N];
	for (int i = 0; i < N; i++) {
		k_intrusive_list();
		k_pool(i);
		k_short_string_lost();
		k_long_string(i);
		k_map_lost();
		k_exception_kept(i);
		k_weak_pointer(i);
		k_closure(i);
		k_unique_pointer(i);
		in_jump(i);
		k_compressed(i);
	}
}

static OWN void lose()
{
	for (int i = 0; i < N; i++) {
		(void)k_trivial(SIZE);
		(void)k_zero_lost(0);
		void **self = (void **)k_pointer_to_self(SIZE);
		self[0] = self;
		void **a = (void **)k_cycle(SIZE), **b = (void **)k_cycle(SIZE);
		a[0] = b;
		b[0] = a;
		void **root = (void **)k_tree_root(SIZE);
		root[0] = k_tree_leaf(SIZE);
		root[1] = k_tree_leaf(SIZE);
		void **list = nullptr;
		for (int k = 0; k < 5; k++) {
			void **next = (void **)k_disowned_list(SIZE);
			next[0] = list;
			list = next;
		}
		void **holder = (void **)k_freed_holder(600);
		holder[40] = k_in_freed(SIZE);
		free(holder);
	}
	(void)k_large(50 << 20);
}

static void *lose_in_thread(void *arg)
{
	(void)k_detached_threads(SIZE);
	return arg;
}

static void free_it(void *p)
{
	free(p);
}

static pthread_key_t cleaned;

static void *set_key(void *arg)
{
	pthread_setspecific(cleaned, k_cleaned_in_key_destructor(SIZE));
	return arg;
}

static OWN void in_threads()
{
	pthread_t t;

	pthread_key_create(&cleaned, free_it);
	for (int i = 0; i < N; i++) {
		pthread_create(&t, nullptr, lose_in_thread, nullptr);
		pthread_join(t, nullptr);
		pthread_create(&t, nullptr, set_key, nullptr);
		pthread_join(t, nullptr);
	}
}

static OWN void hold()
{
	pthread_key_t keys[40];

	mapping = (void **)mmap(
	    nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 40; i++)
		pthread_key_create(&keys[i], nullptr);
	for (int i = 0; i < N; i++) {
		initialized[i] = k_globals_initialized(SIZE);
		uninitialized[i] = k_globals_uninitialized(SIZE);
		tls[i] = k_tls(SIZE);
		pthread_setspecific(keys[2 * i], k_key(SIZE));
		interior[i] = (char *)k_interior(SIZE) + 40;
		past_end[i] = (char *)k_past_end(SIZE) + SIZE;
		packed[2 * i].p = k_unaligned(SIZE);
		if ((uintptr_t)&packed[2 * i].p % 8 == 0) {
			packed[2 * i + 1].p = packed[2 * i].p;
			packed[2 * i].p = nullptr;
		}
		high_tag[i] = (uintptr_t)k_high_tag(SIZE) | (uintptr_t)7 << 56;
		zero_held[i] = k_zero_held(0);
		mapping[i] = k_unregistered_mapping(SIZE);
		moved[i] = realloc(k_realloc_moved(16), 3000);
		k_second_base(i);
		k_new_array(i);
	}
}

static ucontext_t back, forth;

static void in_coroutine()
{
	void *volatile held[N];

	for (int i = 0; i < N; i++)
		held[i] = k_swapcontext_stack(SIZE);
	swapcontext(&forth, &back);
	(void)held[0];
}

static OWN void start_coroutine()
{
	getcontext(&forth);
	forth.uc_stack.ss_size = 1 << 16;
	forth.uc_stack.ss_sp =
	    mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	forth.uc_link = &back;
	makecontext(&forth, in_coroutine, 0);
	swapcontext(&back, &forth);
}

int main()
{
	void *volatile held[N];
	char byte;

	lose();
	in_threads();
	hold();
	use_libraries();
	start_coroutine();
	for (int i = 0; i < N; i++)
		held[i] = k_stack(SIZE);
	scrub();
	if (__lsan_do_recoverable_leak_check)
		__lsan_do_recoverable_leak_check();
	VALGRIND_DO_LEAK_CHECK;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	(void)held[0];
	_exit(0);
}
