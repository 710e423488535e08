/* cpp_api.cpp - seep.h in C++, in an executable that is not position independent: snapshots, by pointer too. */
/* flags: -fno-pie -no-pie */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdio>
#include <vector>

#include "seep.h"

namespace
{
std::vector<int *> kept;

__attribute__((noipa)) void grow(int n)
{
	for (int i = 0; i < n; i++)
		kept.push_back(new int[100]);
}
} // namespace

int main()
{
	int (*by_pointer)(const char *) = seep_snapshot;
	int first, second;

	kept.reserve(1000);
	grow(100);
	first = ::seep_snapshot("hundred");
	grow(200);
	second = by_pointer(nullptr);
	std::printf("%d %d\n", first, second);
	return 0;
}
