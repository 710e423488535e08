/* freers.cpp - blocks of one place that three others free in known shares. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdio>
#include <cstdlib>
#include <new>
#include <unistd.h>

/*
 * usage: freers ROUNDS
 * Each round allocates 16 blocks in one function; of each 16, `often` frees
 * 10, `at_times` 5 and `seldom` one. All is in one rhythm of 32 events, which
 * is what a period of looks at the clock is made of. The blocks of make_object
 * are deleted by delete_object; those of make_kept by nobody.
 */
#define NOINLINE __attribute__((noipa))

template <class T> static T *keep(T *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

NOINLINE static void *make_block()
{
	return keep(malloc(100));
}

NOINLINE static void often(void *p)
{
	free(p);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void at_times(void *p)
{
	free(p);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void seldom(void *p)
{
	free(p);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void *make_object()
{
	return keep(::operator new(200));
}

NOINLINE static void delete_object(void *p)
{
	::operator delete(p);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void *make_kept()
{
	return keep(malloc(300));
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], nullptr, 10) : 1000;
	void *blocks[16];

	for (long r = 0; r < rounds; r++) {
		for (auto &b : blocks)
			b = make_block();
		for (int i = 0; i < 16; i++) {
			if (i % 16 == 15)
				seldom(blocks[i]);
			else if (i % 3 == 2)
				at_times(blocks[i]);
			else
				often(blocks[i]);
		}
		if (r % 4 == 0)
			delete_object(make_object());
	}
	keep(make_kept());
	std::printf("PID %d\n", static_cast<int>(getpid()));
	return 0;
}
