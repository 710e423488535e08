// objects.cpp - a C++ program of many small objects.
// SPDX-License-Identifier: Apache-2.0
//
// usage: objects ROUNDS
//
// A toy inventory: orders of polymorphic items, looked up by name, grouped,
// copied, thrown away. Strings, maps, shared pointers, vectors that grow.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
struct Item {
	explicit Item(std::string n) : name(std::move(n))
	{
	}
	virtual ~Item() = default;
	virtual long weight() const = 0;
	std::string name;
};

struct Single : Item {
	Single(std::string n, long w) : Item(std::move(n)), grams(w)
	{
	}
	long weight() const override
	{
		return grams;
	}
	long grams;
};

struct Bundle : Item {
	explicit Bundle(std::string n) : Item(std::move(n))
	{
	}
	long weight() const override
	{
		long sum = 0;

		for (const auto &p : parts)
			sum += p->weight();
		return sum;
	}
	std::vector<std::shared_ptr<Item>> parts;
};

unsigned seed = 1;

unsigned dice(unsigned sides)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % sides;
}

std::string word(unsigned n)
{
	return "an article with a longer name, number " + std::to_string(n);
}

std::shared_ptr<Item> make(unsigned depth)
{
	if (depth == 0 || dice(3) == 0)
		return std::make_shared<Single>(word(dice(500)), dice(1000));
	auto b = std::make_shared<Bundle>(word(dice(500)));
	for (unsigned n = 1 + dice(4); n > 0; n--)
		b->parts.push_back(make(depth - 1));
	return b;
}

long round_of_orders()
{
	std::map<std::string, std::vector<std::shared_ptr<Item>>> by_name;
	std::unordered_map<std::string, long> sums;
	long total = 0;

	for (unsigned i = 0; i < 3000; i++) {
		auto item = make(4);
		by_name[item->name].push_back(item);
	}
	for (const auto &[name, items] : by_name) {
		auto copy = items;
		for (const auto &i : copy)
			sums[name.substr(0, 30) + i->name] += i->weight();
	}
	for (const auto &[name, sum] : sums)
		total += sum + static_cast<long>(name.size());
	return total;
}
} // namespace

int main(int argc, char **argv)
{
	long total = 0;

	for (int n = argc > 1 ? std::atoi(argv[1]) : 10; n > 0; n--)
		total += round_of_orders();
	std::printf("%ld\n", total);
	return 0;
}
