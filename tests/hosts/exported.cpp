// exported - allocates in every way that an export shows; with an
// argument, a forked child does, too. Found: 20 + 1 blocks of leak().
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline))

namespace app
{
template <class T> struct box {
	T *items;
	NOINLINE void fill(int n)
	{
		items = new T[n];
	}
};

INLINE void *inner(size_t n)
{
	return malloc(n);
}
INLINE void *middle(size_t n)
{
	return inner(n);
}

NOINLINE void *leak(size_t n)
{
	void *volatile p = middle(n);
	return p;
}

NOINLINE void churn(int n)
{
	for (int i = 0; i < n; i++) {
		void *volatile p = malloc(100 + i % 7);
		free(p);
	}
}

NOINLINE void *recurse(int depth)
{
	void *volatile p = depth ? recurse(depth - 1) : calloc(3, 40);
	return p;
}

NOINLINE void *grow(void *p, size_t n)
{
	void *volatile q = realloc(p, n);
	return q;
}
} // namespace app

/* tests give it a name that is syntax everywhere */
extern "C" NOINLINE void *hostile(size_t n)
{
	void *volatile p = malloc(n);
	return p;
}

int main(int argc, char **)
{
	std::vector<void *> big;
	app::box<std::string> box;
	void *p = nullptr;

	for (int i = 0; i < 50; i++)
		big.push_back(malloc(10000 + i));
	app::churn(1000);
	for (int i = 0; i < 20; i++)
		app::leak(64 + i);
	app::recurse(5);
	app::recurse(2);
	usleep(150000);
	for (size_t i = 0; i < big.size(); i++)
		if (i % 5)
			free(big[i]);
	box.fill(30);
	for (int i = 1; i < 10; i++)
		p = app::grow(p, i * 500);
	hostile(777);
	if (argc > 1 && fork() == 0) {
		for (int i = 0; i < 100; i++)
			app::leak(1000);
		app::churn(100);
		usleep(200000);
		_exit(0);
	}
	usleep(250000);
	if (argc > 1)
		wait(nullptr);
	app::leak(0);
	return 0;
}
