// typed_frames - standard containers of known element types; an allocator that counts for itself says how many blocks there are of each type.
/* flags: -std=c++17 */
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>
#include <unistd.h>

#include <any>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

// Everything is built twice by the same code: with app::ledger, which counts
// what it allocates by type, and with std::allocator, of which seep alone
// knows. The elements have the name of their world in their type, so whoever
// takes a block of one world, type or container for another one is found out.
//
// output: "own BLOCKS BYTES TYPE" for each type of the counting allocator,
// "new BLOCKS BYTES TYPE" for others, "ready PID"

#define OWN __attribute__((noinline))

namespace app
{
struct sum {
	long blocks, bytes;
};

// Counters in memory of their own: they must not appear among live blocks.
struct counter {
	const std::type_info *type;
	sum figures;
};
static counter counters[512];

OWN static void count(const std::type_info &type, long blocks, long bytes)
{
	for (counter &c : counters) {
		if (!c.type)
			c.type = &type;
		if (*c.type == type) {
			c.figures.blocks += blocks;
			c.figures.bytes += bytes;
			return;
		}
	}
	abort();
}

// As an allocator of a library: a template whose first argument is the type.
template <typename T> struct ledger {
	using value_type = T;
	ledger() = default;
	template <typename U> ledger(const ledger<U> &) noexcept
	{
	}
	T *allocate(size_t n)
	{
		count(typeid(T), 1, static_cast<long>(n * sizeof(T)));
		return static_cast<T *>(::operator new(n * sizeof(T)));
	}
	void deallocate(T *p, size_t n)
	{
		count(typeid(T), -1, -static_cast<long>(n * sizeof(T)));
		::operator delete(p);
	}
	template <typename U> bool operator==(const ledger<U> &) const
	{
		return true;
	}
	template <typename U> bool operator!=(const ledger<U> &) const
	{
		return false;
	}
};

struct by_own {
	template <typename T> using alloc = ledger<T>;
};
struct by_std {
	template <typename T> using alloc = std::allocator<T>;
};

template <typename W> struct point {
	int x, y, z;
};

// 24 bytes as a pointer to it, an index and a flag
template <typename W> struct flat {
	const void *at = nullptr;
	long index = 0;
	bool set = false;
};

template <typename W> struct hash {
	size_t operator()(const point<W> &p) const
	{
		return static_cast<size_t>(p.x);
	}
};

template <typename W> bool operator<(const point<W> &a, const point<W> &b)
{
	return a.x < b.x;
}
template <typename W> bool operator==(const point<W> &a, const point<W> &b)
{
	return a.x == b.x;
}

template <typename W>
using text = std::basic_string<char, std::char_traits<char>, typename W::template alloc<char>>;
template <typename W, typename T> using row = std::vector<T, typename W::template alloc<T>>;

// Its constructor allocates, and is inlined into what makes elements of it.
template <typename W> struct named {
	text<W> name{"a name that does not fit into the string itself", {}};
	row<W, flat<W>> parts = row<W, flat<W>>(3);
};

// A member that is a container of the same type: a tree of vectors.
template <typename W> struct tree {
	row<W, tree<W>> children;
	long value = 0;
};

template <typename W> struct world {
	template <typename T> using A = typename W::template alloc<T>;
	template <typename K, typename V> using pairs = A<std::pair<const K, V>>;

	row<W, int> numbers;
	row<W, point<W>> points;
	row<W, flat<W> *> pointers;
	row<W, point<W> *> more_pointers;
	row<W, const named<W> *> const_pointers;
	row<W, unsigned> unsigned_numbers;
	row<W, float> real_numbers;
	row<W, bool> bits;
	row<W, row<W, point<W>>> rows;
	row<W, text<W>> texts;
	row<W, named<W>> nameds;
	row<W, tree<W>> trees;
	row<W, std::optional<row<W, flat<W>>>> maybe;
	row<W, std::variant<int, text<W>>> either;
	row<W, std::shared_ptr<point<W>>> shared;
	row<W, std::unique_ptr<flat<W>>> unique;
	row<W, std::array<point<W>, 4>> arrays;
	std::deque<point<W>, A<point<W>>> deque;
	std::deque<named<W>, A<named<W>>> named_deque;
	std::list<point<W>, A<point<W>>> list;
	std::list<named<W>, A<named<W>>> named_list;
	std::forward_list<point<W>, A<point<W>>> forward;
	std::map<int, point<W>, std::less<int>, pairs<int, point<W>>> map;
	std::map<text<W>, row<W, point<W>>, std::less<text<W>>, pairs<text<W>, row<W, point<W>>>>
	    deep;
	std::multimap<int, named<W>, std::less<int>, pairs<int, named<W>>> named_map;
	std::set<point<W>, std::less<point<W>>, A<point<W>>> set;
	std::multiset<text<W>, std::less<text<W>>, A<text<W>>> texts_set;
	std::unordered_map<int, point<W>, std::hash<int>, std::equal_to<int>, pairs<int, point<W>>>
	    hash_map;
	std::unordered_set<point<W>, hash<W>, std::equal_to<point<W>>, A<point<W>>> hash_set;
	std::unordered_multimap<long, named<W>, std::hash<long>, std::equal_to<long>,
	    pairs<long, named<W>>>
	    named_hash;
	std::priority_queue<point<W>, row<W, point<W>>> queue;
	std::queue<flat<W>, std::deque<flat<W>, A<flat<W>>>> line;
};

template <typename W> OWN static row<W, tree<W>> grow(int depth)
{
	row<W, tree<W>> all;
	for (int i = 0; i < 3 && depth > 0; i++)
		all.push_back(tree<W>{grow<W>(depth - 1), i});
	return all;
}

template <typename W> OWN static void fill(world<W> &w, int n)
{
	const char *long_text = "another text that does not fit into the string";
	for (int i = 0; i < n; i++) {
		point<W> p{i, i, i};
		w.numbers.push_back(i);
		w.points.push_back(p);
		w.pointers.push_back(nullptr);
		w.more_pointers.push_back(nullptr);
		w.const_pointers.push_back(nullptr);
		w.unsigned_numbers.push_back(i);
		w.real_numbers.push_back(1);
		w.bits.push_back(i % 3 == 0);
		w.rows.emplace_back(5, p);
		w.rows.back().insert(w.rows.back().begin(), 3, p);
		w.texts.emplace_back(long_text);
		w.texts.back() += " that grows";
		w.texts.push_back(w.texts.front());
		w.nameds.emplace_back();
		w.maybe.emplace_back(row<W, flat<W>>(2));
		w.maybe.emplace_back(std::nullopt);
		w.either.emplace_back(i);
		w.either.emplace_back(text<W>(long_text));
		w.shared.push_back(
		    std::allocate_shared<point<W>>(typename W::template alloc<point<W>>(), p));
		w.arrays.emplace_back();
		w.deque.push_back(p);
		w.named_deque.emplace_front();
		w.list.push_back(p);
		w.named_list.emplace_back();
		w.forward.push_front(p);
		w.map[i] = p;
		w.deep[text<W>(long_text) + char('a' + i % 26)].push_back(p);
		w.named_map.emplace(i / 2, named<W>());
		w.set.insert(p);
		w.texts_set.insert(long_text);
		w.hash_map.emplace(i, p);
		w.hash_set.insert(p);
		w.named_hash.emplace(i / 3, named<W>());
		w.queue.push(p);
		w.line.push(flat<W>());
	}
	w.trees = grow<W>(4);
	// copies and assignments take other ways to the allocator
	w.points.insert(w.points.begin(), w.deque.begin(), w.deque.end());
	w.points.shrink_to_fit();
	w.deque.resize(w.deque.size() * 2);
	w.named_deque.shrink_to_fit();
	w.nameds.resize(w.nameds.size() + 7);
	w.numbers.assign(100, 1);
}

template <typename T> OWN static void made(long blocks)
{
	int status = 0;
	char *name = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status);
	printf("new %ld %ld %s\n", blocks, blocks * static_cast<long>(sizeof(T)), name);
	free(name);
}

template <typename W> OWN static void make_unique_ones(world<W> &w, int n)
{
	for (int i = 0; i < n; i++)
		w.unique.push_back(std::make_unique<flat<W>>());
}
} // namespace app

// Blocks of libraries that nobody counts: their types must be none of ours.
static std::vector<std::function<long()>> *functions;
static std::vector<std::any> *anys;
static std::regex *pattern;

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 200;
	static app::world<app::by_own> own, own_copy;
	static app::world<app::by_std> std_one, std_copy;

	app::fill(own, n);
	app::fill(std_one, n);
	// copies of whole containers
	own_copy.rows = own.rows;
	std_copy.rows = std_one.rows;
	own_copy.nameds = own.nameds;
	std_copy.nameds = std_one.nameds;
	own_copy.deep = own.deep;
	std_copy.deep = std_one.deep;
	own_copy.named_hash = own.named_hash;
	std_copy.named_hash = std_one.named_hash;
	own_copy.trees = own.trees;
	std_copy.trees = std_one.trees;
	app::make_unique_ones(own, n);
	app::make_unique_ones(std_one, n);
	functions = new std::vector<std::function<long()>>;
	anys = new std::vector<std::any>;
	for (int i = 0; i < n; i++) {
		app::flat<int> large{&own, i, true};
		functions->push_back([large] { return large.index; });
		anys->push_back(large);
	}
	pattern = new std::regex("(a|b)*c[[:digit:]]+");
	app::made<app::flat<app::by_own>>(n);
	app::made<app::flat<app::by_std>>(n);
	for (const app::counter &c : app::counters) {
		int status = 0;
		if (!c.type)
			break;
		char *name = abi::__cxa_demangle(c.type->name(), nullptr, nullptr, &status);
		printf("own %ld %ld %s\n", c.figures.blocks, c.figures.bytes, name);
		free(name);
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	return getchar() == 'x';
}
