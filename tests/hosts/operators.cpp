/* operators.cpp - C++ operators are counted at the caller's frame, as new or new[]; bad_alloc is thrown. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -std=c++17 */
#include <cstdlib>
#include <new>
#include <thread>

#define SITES(X) \
	X(plain_new) \
	X(array_new) \
	X(nothrow_new) \
	X(aligned_new) \
	X(aligned_array_new) \
	X(thread_local_new)
#include "../lib/ledger.h"

#define NEW_FN(name, call) \
	extern "C" SITE_FN void *name(size_t size_bytes) \
	{ \
		return led_keep(call); \
	}
NEW_FN(plain_new, operator new(size_bytes))
NEW_FN(array_new, operator new[](size_bytes))
NEW_FN(nothrow_new, operator new(size_bytes, std::nothrow))
NEW_FN(aligned_new, operator new(size_bytes, std::align_val_t(256)))
NEW_FN(aligned_array_new, operator new[](size_bytes, std::align_val_t(64)))
NEW_FN(thread_local_new, operator new(size_bytes))
/* not in the ledger: an exception is a malloc too, of libstdc++ */
NEW_FN(failing_new, operator new(size_bytes))
NEW_FN(failing_nothrow_new, operator new(size_bytes, std::nothrow))

static void *kept[64];

struct late {
	void *p;

	late() : p(thread_local_new(50))
	{
		led_alloc(L_thread_local_new, 50);
	}

	~late()
	{
		led_free(L_thread_local_new, 50);
		operator delete(p);
	}
};

static void use_thread_local()
{
	static thread_local late here;

	led_check(here.p != nullptr, "thread_local");
}

static void new_handler()
{
	std::set_new_handler(nullptr);
	operator delete(kept[0]); /* user code inside operator new */
	led_free(L_plain_new, 100);
}

/* operators [WORD]: with a word no allocation fails, for mimalloc's C library aborts then */
int main(int argc, char **)
{
	/* multiples of 256: libstdc++ rounds up what it asks aligned_alloc */
	for (size_t n = 256; n < 16384; n += 256) {
		void *p[] = {plain_new(n), array_new(n), nothrow_new(n), aligned_new(n),
		    aligned_array_new(n)};

		for (int i = 0; i < 5; i++)
			led_alloc(L_plain_new + i, n);
		operator delete(p[0], n);
		led_free(L_plain_new, n);
		operator delete[](p[1]);
		led_free(L_array_new, n);
		operator delete(p[3], std::align_val_t(256));
		led_free(L_aligned_new, n);
		kept[n / 256 % 64] = p[2];
	}
	kept[0] = plain_new(100);
	led_alloc(L_plain_new, 100);
	std::set_new_handler(new_handler);
	bool caught = argc > 1;

	try {
		if (!caught)
			failing_new(size_t(1) << 62);
	} catch (const std::bad_alloc &) {
		caught = true;
	}
	led_check(caught, "bad_alloc");
	led_check(argc > 1 || !failing_nothrow_new(size_t(1) << 62), "nothrow");
	for (int i = 0; i < 100; i++)
		std::thread(use_thread_local).join();
	led_print(1);
	/* new[] jumps to new in libstdc++: no frame tells them apart */
	led_say(1,
	    "API plain_new operator new\nAPI nothrow_new operator new\n"
	    "API aligned_new operator new\n");
	return 0;
}
