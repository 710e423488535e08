/* cxx_plugin.cpp - loaded by a C program: catches its own bad_alloc. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <new>
#include <string>

extern "C" int catch_bad_alloc()
{
	volatile std::size_t too_big = std::size_t(1) << 62;

	try {
		char *volatile p = new char[too_big];

		delete[] p;
	} catch (const std::bad_alloc &) {
		std::string text(100, 'x');

		return text.size() == 100 ? 42 : 1;
	}
	return 0;
}
