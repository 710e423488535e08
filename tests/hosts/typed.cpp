// typed - blocks of known C++ types; says how many there are of each, in blocks and bytes, and how the type can be known.
/* flags: -O2 */
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

// usage: typed [MORE]   MORE sessions than usual are made
// output: "type BASIS BLOCKS BYTES NAME" for each, "none BLOCKS" that have no type, "ready PID"

#define OWN __attribute__((noinline))

static void *volatile kept;

static void say(const char *basis, long blocks, size_t bytes, const char *name)
{
	printf("type %s %ld %zu %s\n", basis, blocks, bytes, name);
}

namespace app
{
struct session {
	virtual ~session() = default;
	long data[4] = {};
};

struct secure_session : session {
	int key = 0;
};

struct named {
	virtual ~named() = default;
	char name[16] = "";
};

// two vtables: the second one is not at the beginning of a block
struct both : session, named {
	long own = 0;
};

// a virtual base, and no function of its own
struct base {
	long value = 0;
};
struct diamond_left : virtual base {
	long left = 0;
};
struct diamond : diamond_left {
	long more = 0;
};

template <typename T> struct box {
	virtual ~box() = default;
	T value[3] = {};
};

struct alignas(16) wide {
	virtual ~wide()
	{
		kept = nullptr;
	}
	long value[3] = {};
};

struct alignas(64) cache_line {
	virtual ~cache_line() = default;
};

struct abstract {
	virtual ~abstract() = 0;
	virtual int area() const = 0;
};
abstract::~abstract() = default;

struct plain {
	long value[5] = {};
};

// a name of more than a thousand bytes
template <char... C> struct letters {
	virtual ~letters() = default;
	char text[sizeof...(C)] = {C...};
};
#define TEN     'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'
#define HUNDRED TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN
using long_name = letters<HUNDRED, HUNDRED, HUNDRED>;

struct closer {
	void *what;
	void operator()(plain *p) const
	{
		delete p;
	}
};
} // namespace app

namespace
{
struct hidden : app::abstract {
	int area() const override
	{
		return 4;
	}
};
} // namespace

// Pointers to everything, so that nothing is optimised away.
static std::vector<void *> all;

template <typename T, typename... Args> OWN void make(const char *name, int count, Args... args)
{
	for (int i = 0; i < count; i++)
		all.push_back(new T(args...));
	say("vtable", count, static_cast<size_t>(count) * sizeof(T), name);
}

template <typename T> OWN void make_array(const char *name, size_t count, size_t cookie)
{
	all.push_back(new T[count]);
	say("vtable", 1, count * sizeof(T) + cookie, name);
}

static std::vector<std::shared_ptr<app::plain>> shared;

OWN static void make_shared_ones(int count)
{
	const std::string any(1, 'x');
	for (int i = 0; i < count; i++) {
		shared.push_back(std::make_shared<app::plain>());
		shared.push_back(std::shared_ptr<app::plain>(new app::plain));
		shared.push_back(std::shared_ptr<app::plain>(new app::plain, app::closer{all[0]}));
	}
	// one with a control block before it, and two behind one
	// two more of make_local_ones()
	say("shared_ptr", 5L * count,
	    static_cast<size_t>(count) * (16 + sizeof(app::plain) + 4 * sizeof(app::plain)),
	    "app::plain");
	say("vtable", count, static_cast<size_t>(count) * 24,
	    "std::_Sp_counted_ptr<app::plain*, (__gnu_cxx::_Lock_policy)2>");
	say("vtable", count, static_cast<size_t>(count) * 32,
	    "std::_Sp_counted_deleter<app::plain*, app::closer, "
	    "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>");
}

static std::string demangled(const std::type_info &type)
{
	int status = 0;
	char *name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
	std::string text = name ? name : type.name();
	free(name);
	return text;
}

// libstdc++ does not demangle a name of that length
OWN static void make_long_name(int count)
{
	std::string name = "app::letters<";
	for (int i = 0; i < 300; i++)
		name += "(char)" + std::to_string('a' + i % 10) + (i < 299 ? ", " : ">");
	make<app::long_name>(name.c_str(), count);
}

template <typename Deleter> struct control_of {
	using type = std::_Sp_counted_deleter<app::plain *, Deleter, std::allocator<void>,
	    __gnu_cxx::_S_atomic>;
};

// Lambdas that delete, one of them a template, and a class inside of a function.
OWN static void make_local_ones(int count)
{
	struct local : app::session {
		long more = 0;
	};
	auto deleter = [](app::plain *p) { delete p; };
	auto generic = [](auto *p) { delete p; };
	using one = control_of<decltype(deleter)>::type;
	using other = control_of<decltype(generic)>::type;
	for (int i = 0; i < count; i++) {
		all.push_back(new local);
		shared.push_back(std::shared_ptr<app::plain>(new app::plain, deleter));
		shared.push_back(std::shared_ptr<app::plain>(new app::plain, generic));
	}
	say("vtable", count, static_cast<size_t>(count) * sizeof(local),
	    demangled(typeid(local)).c_str());
	say("vtable", count, static_cast<size_t>(count) * sizeof(one),
	    demangled(typeid(one)).c_str());
	// our demangler leaves this one as it is
	const char *name = typeid(other).name();
	say("vtable", count, static_cast<size_t>(count) * sizeof(other), name + (*name == '*'));
}

// Blocks that begin with an address in a module, and have no type.
OWN static long make_decoys(int count)
{
	static const char text[] = "no vtable";
	static long (*const functions[])(const char *) = {atol, atol, atol};
	app::both some;
	void *second, *first;
	memcpy(&second, static_cast<app::named *>(&some), sizeof(second));
	memcpy(&first, &some, sizeof(first));
	const void *words[] = {text, functions, &functions[1],
	    reinterpret_cast<void *>(&make_decoys), second, static_cast<char *>(first) + 8,
	    static_cast<char *>(first) - 8, static_cast<char *>(first) - 16, &typeid(app::session),
	    &typeid(app::both), stdout};
	long made = 0;
	for (int i = 0; i < count; i++)
		for (const void *word : words) {
			void **block = static_cast<void **>(calloc(1, sizeof(app::both)));
			memcpy(block, &word, sizeof(word));
			all.push_back(block);
			made++;
		}
	return made;
}

int main(int argc, char **argv)
{
	int more = argc > 1 ? atoi(argv[1]) : 0;

	all.reserve(200000);
	make<app::session>("app::session", 20000 + more);
	make<app::secure_session>("app::secure_session", 10000);
	make<app::both>("app::both", 5000);
	make<app::diamond>("app::diamond", 2000);
	make<app::box<int>>("app::box<int>", 2000);
	make<app::box<unsigned char *>>("app::box<unsigned char*>", 1000);
	make<app::cache_line>("app::cache_line", 500);
	make<hidden>("(anonymous namespace)::hidden", 500);
	make_array<app::named>("app::named", 7, 8);
	make_array<app::wide>("app::wide", 5, 16);
	make_long_name(300);
	make_shared_ones(1000);
	make_local_ones(1000);
	printf("none %ld\n", make_decoys(100));
	printf("ready %d\n", getpid());
	fflush(stdout);
	return getchar() == 'x';
}
