/* executable_with_operator_new_only.cpp - the program's own operator new calls malloc: each block is counted once, at the caller's frame. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T29 */
/* flags: -std=c++17 -fno-builtin -Wno-mismatched-new-delete */
#include <cstdlib>
#include <new>

#define SITES(X) X(user_of_new) X(user_of_array)
#include "../../lib/ledger.h"

static unsigned news, deletes;

void *operator new(size_t n)
{
	news++;
	void *p = malloc(n ? n : 1);

	if (!p)
		throw std::bad_alloc();
	return p;
}

void operator delete(void *p) noexcept
{
	deletes++;
	free(p);
}

void operator delete(void *p, size_t) noexcept
{
	operator delete(p);
}

extern "C" SITE_FN void *user_of_new(size_t n)
{
	return led_keep(operator new(n));
}

extern "C" SITE_FN void *user_of_array(size_t n)
{
	return led_keep(new char[n]); /* libstdc++'s new[] calls ours */
}

int main()
{
	for (size_t n = 1; n < 2000; n++) {
		void *p = user_of_new(n);

		led_alloc(L_user_of_new, n);
		if (n % 2) {
			led_free(L_user_of_new, n);
			operator delete(p);
		}
		p = user_of_array(n);
		led_alloc(L_user_of_array, n);
		if (n % 5) {
			led_free(L_user_of_array, n);
			delete[] static_cast<char *>(p);
		}
	}
	printf("news %u deletes %u\n", news, deletes);
	fflush(stdout);
	led_print(1);
	return 0;
}
