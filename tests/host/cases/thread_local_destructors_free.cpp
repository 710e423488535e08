/* thread_local_destructors_free.cpp - C++ thread_local objects and pthread keys allocate and free while their thread ends: counts are exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T38 */
/* flags: -std=c++17 */
#include <cstdlib>
#include <pthread.h>
#include <thread>

#define SITES(X) X(alloc_member) X(alloc_in_destructor) X(alloc_in_key)
#include "../../lib/ledger.h"

enum { THREADS = 400, ROUNDS = 4 };

extern "C" SITE_FN void *alloc_member(size_t n)
{
	return led_keep(malloc(n));
}

extern "C" SITE_FN void *alloc_in_destructor(size_t n)
{
	return led_keep(malloc(n));
}

extern "C" SITE_FN void *alloc_in_key(size_t n)
{
	return led_keep(malloc(n));
}

struct holder {
	void *p;

	holder() : p(alloc_member(70))
	{
		led_alloc(L_alloc_member, 70);
	}

	~holder()
	{
		led_free(L_alloc_member, 70);
		free(p);
		p = alloc_in_destructor(33);
		led_alloc(L_alloc_in_destructor, 33);
		led_free(L_alloc_in_destructor, 33);
		free(p);
	}
};

static thread_local holder mine;
static pthread_key_t key;

struct value {
	int left;
	char rest[40];
};

/* sets itself again, up to PTHREAD_DESTRUCTOR_ITERATIONS times */
static void destroy(void *p)
{
	int left = static_cast<value *>(p)->left;

	led_free(L_alloc_in_key, sizeof(value));
	free(p);
	if (left == 0)
		return;
	value *next = static_cast<value *>(alloc_in_key(sizeof(value)));

	led_alloc(L_alloc_in_key, sizeof(value));
	next->left = left - 1;
	pthread_setspecific(key, next);
}

static void work()
{
	value *v = static_cast<value *>(alloc_in_key(sizeof(value)));

	led_alloc(L_alloc_in_key, sizeof(value));
	v->left = ROUNDS - 1;
	pthread_setspecific(key, v);
	led_check(mine.p != nullptr, "thread_local");
}

int main()
{
	pthread_key_create(&key, destroy);
	for (int i = 0; i < THREADS; i += 4) {
		std::thread t[4];

		for (auto &one : t)
			one = std::thread(work);
		for (auto &one : t)
			one.join();
	}
	led_print(1);
	return 0;
}
