/* inlined.cpp - functions inlined into one another, each with its line. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -std=c++17 -Wl,--build-id */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

/* keep LEVEL lines: a test looks for these names */
namespace shop
{
static inline __attribute__((always_inline)) void *take(size_t n)
{
	return malloc(n); /* LINE take */
}

namespace
{
struct shelf {
	inline __attribute__((always_inline)) void *fetch(size_t n)
	{
		return take(n + 1); /* LINE fetch */
	}
};
} // namespace

__attribute__((noinline)) void *order(size_t n)
{
	shelf s;
	void *p = s.fetch(n); /* LINE order */

	__asm__ volatile("" : "+r"(p));
	return p;
}
} // namespace shop

struct item {
	std::string name;
	std::vector<int> sizes;
};

/* Much code from templates, for comparisons of many addresses. */
static size_t work(int rounds)
{
	std::map<std::string, std::unique_ptr<item>> all;
	size_t sum = 0;

	for (int i = 0; i < rounds; i++) {
		auto x = std::make_unique<item>();

		x->name = "item " + std::to_string(i);
		for (int k = 0; k < i % 50; k++)
			x->sizes.push_back((k * 7919) % 101);
		std::sort(x->sizes.begin(), x->sizes.end(), [](int a, int b) { return a > b; });
		all[x->name] = std::move(x);
	}
	for (auto &pair : all)
		sum += pair.second->sizes.size() + pair.first.size();
	return sum;
}

int main()
{
	void *kept[10];

	for (auto &p : kept)
		p = shop::order(1000);
	std::printf("%zu %p\n", work(200), kept[9]);
	return 0;
}
