/* loader_storm.cpp - threads throw while others load and unload: no hang, no crash, all sites exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -std=c++17 -Wno-infinite-recursion */
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define SITES(X) X(alloc_and_throw) X(work_A) X(work_B)
#include "../lib/ledger.h"

enum { THROWERS = 6, THROWS = 3000, LOADS = 300 };

static std::string folder;

/* an exception is a malloc too, of libstdc++ */
extern "C" SITE_FN void throw_now()
{
	throw std::runtime_error("storm");
}

extern "C" SITE_FN void alloc_and_throw(int depth)
{
	void *p = led_keep(malloc(40));

	led_alloc(L_alloc_and_throw, 40);
	struct release {
		void *p;
		~release()
		{
			led_free(L_alloc_and_throw, 40);
			free(p);
		}
	} held{p};

	if (depth == 0)
		throw_now();
	alloc_and_throw(depth - 1);
}

static void throw_often()
{
	for (int i = 0; i < THROWS; i++) {
		try {
			alloc_and_throw(i % 6);
		} catch (const std::exception &) {
		}
	}
}

static void load_often(bool is_a)
{
	std::string path = folder + (is_a ? "twin_plugin_a.so" : "twin_plugin_b.so");

	for (int i = 0; i < LOADS; i++) {
		void *lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);

		led_check(lib != nullptr, "dlopen");
		auto work =
		    reinterpret_cast<void *(*)(size_t)>(dlsym(lib, is_a ? "work_A" : "work_B"));

		for (size_t n = 0; n < 50; n++) {
			free(work(n));
			led_alloc(is_a ? L_work_A : L_work_B, n);
			led_free(is_a ? L_work_A : L_work_B, n);
		}
		dlclose(lib);
	}
}

int main()
{
	char self[4096] = "";
	std::vector<std::thread> all;

	led_check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "readlink");
	folder = self;
	folder.resize(folder.rfind('/') + 1);
	for (int i = 0; i < THROWERS; i++)
		all.emplace_back(throw_often);
	all.emplace_back(load_often, true);
	all.emplace_back(load_often, false);
	for (auto &t : all)
		t.join();
	led_print(1);
	led_say(1, "OTHER throw_now\n");
	return 0;
}
