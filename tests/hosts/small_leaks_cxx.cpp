// small_leaks_cxx - the same as small_leaks, of C++: what each case leaves at exit.
/* flags: -O0 -g -pthread */
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

// usage and output as in small_leaks.c
#define OWN static __attribute__((noinline, unused))

static long blocks, bytes;

static void stay(long count, size_t size)
{
	blocks += count;
	bytes += static_cast<long>(size);
}

static void *volatile kept[16];
static volatile size_t huge = static_cast<size_t>(-1) / 2;

// ---- heaptrack: test.cpp ----

struct pair {
	long a, b;
};

struct derived : pair {
	char *text = new char[16];
};

OWN void case_forms(void)
{
	kept[0] = new pair;
	stay(1, sizeof(pair));
	kept[1] = new pair[10];
	stay(1, 10 * sizeof(pair));
	delete static_cast<pair *>(kept[0]);
	stay(-1, -sizeof(pair));
	kept[2] = new (std::nothrow) char[100];
	stay(1, 100);
	kept[3] = new derived;
	stay(2, sizeof(derived) + 16);
	kept[4] = ::operator new(256, std::align_val_t(256));
	stay(1, 256);
	alignas(pair) static char place[sizeof(pair)];
	kept[5] = new (place) pair;              // no block
	kept[6] = new (std::nothrow) char[huge]; // refused
}

// ---- valgrind: leak_cpp_interior ----

struct first {
	virtual ~first()
	{
	}
	long one = 1;
};
struct second {
	virtual ~second()
	{
	}
	long two = 2;
};
struct both : first, second {
	~both() override
	{
	}
	std::string text;
};

OWN void case_interior(void)
{
	kept[7] = static_cast<second *>(new both); // points inside
	stay(1, sizeof(both));
	kept[8] = new both[5]; // behind the count of elements
	stay(1, 5 * sizeof(both) + sizeof(size_t));
	both *freed = new both;
	delete freed;
}

// ---- lsan: new_array_with_dtor_0 ----

struct big {
	~big()
	{
	}
	long words[4];
};

OWN void case_no_elements(void)
{
	kept[9] = new big[0]; // the count alone
	stay(1, sizeof(size_t));
}

// ---- containers, cycles, exceptions, threads ----

struct node {
	std::shared_ptr<node> next;
	char more[40];
};

OWN void case_cycle(void)
{
	auto a = std::shared_ptr<node>(new node), b = std::shared_ptr<node>(new node);

	a->next = b;
	b->next = a;
	// two nodes, and what counts their owners: 24 bytes each
	stay(4, 2 * (sizeof(node) + 24));
}

OWN void case_containers(void)
{
	auto *v = new std::vector<std::string>;

	v->reserve(10);
	v->push_back(std::string(100, 'x'));
	v->push_back("short");
	kept[10] = v;
	stay(3, sizeof(*v) + 10 * sizeof(std::string) + 101);
	auto *l = new std::list<long>(7, 1);
	kept[11] = l;
	stay(1 + 7, sizeof(*l) + 7 * 24);
	std::map<int, std::string> gone;
	for (int i = 0; i < 100; i++)
		gone[i] = std::string(50, 'y');
}

OWN void case_thrown(void)
{
	for (int i = 0; i < 10; i++) {
		try {
			kept[12] = new char[25];
			stay(1, 25);
			throw std::string(200, 'z');
		} catch (const std::string &) {
		}
	}
}

OWN void case_worker_run(int n)
{
	kept[13] = new char[static_cast<size_t>(n)];
}

OWN void case_worker(void)
{
	for (int i = 1; i <= 4; i++) {
		std::thread(case_worker_run, 100 * i).join();
		stay(1, 100 * static_cast<size_t>(i));
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"forms", case_forms}, {"interior", case_interior}, {"no_elements", case_no_elements},
    {"cycle", case_cycle}, {"containers", case_containers}, {"thrown", case_thrown},
    {"worker", case_worker}};

int main(int argc, char **argv)
{
	for (const auto &c : cases) {
		bool wanted = argc == 1;
		char line[128];

		for (int k = 1; k < argc; k++)
			wanted = wanted || strcmp(argv[k], c.name) == 0;
		if (!wanted)
			continue;
		blocks = bytes = 0;
		c.run();
		int n = snprintf(line, sizeof(line), "case_%s %ld %ld\n", c.name, blocks, bytes);
		if (write(STDOUT_FILENO, line, static_cast<size_t>(n)) != n)
			abort();
	}
	return 0;
}
