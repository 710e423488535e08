/* tempest.cpp - forks, loads, signals and ending threads at the same time, for long: no hang, no crash, exact counts of the parent. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -std=c++17 -fno-builtin */
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>

#define SITES(X) \
	X(alloc_churn) \
	X(resize_churn) \
	X(alloc_short) X(alloc_key) X(alloc_in_handler) X(work_A) X(work_B)
#include "../lib/inside.h"
#include "../lib/ledger.h"

/* tempest SECONDS */
enum { CHURNERS = 3, SHELF = 256, LEFT = 64, FORKS_PER_S = 15 };

static std::atomic<bool> stop;
static std::atomic<void *> shelf[SHELF], left_behind[LEFT];
static std::atomic<unsigned> handled, forks, loads, threads;
static std::string folder;
static pthread_key_t key;

#define ALLOC_FN(name) \
	extern "C" SITE_FN void *name(size_t n) \
	{ \
		return led_keep(malloc(n)); \
	}
ALLOC_FN(alloc_churn)
ALLOC_FN(alloc_short)
ALLOC_FN(alloc_key)
ALLOC_FN(alloc_in_handler)

extern "C" SITE_FN void *resize_churn(void *p, size_t n)
{
	return led_keep(realloc(p, n));
}

/* a block on the shelf: its first word tells whose and how large */
struct item {
	int site;
	size_t bytes;
};

static void release(void *p)
{
	if (!p)
		return;
	item it = *static_cast<item *>(p);

	led_free(it.site, it.bytes);
	free(p);
}

static void *fill(void *p, int site, size_t bytes)
{
	led_check(p != nullptr, "malloc");
	led_alloc(site, bytes);
	*static_cast<item *>(p) = {site, bytes};
	return p;
}

/* blocks go from thread to thread over the shelf */
static void *churn(void *arg)
{
	uint64_t seed = 31 + reinterpret_cast<uintptr_t>(arg);

	while (!stop) {
		size_t n = sizeof(item) + led_random(&seed) % 400;
		void *p = fill(alloc_churn(n), L_alloc_churn, n);

		if (led_random(&seed) % 4 == 0) {
			size_t more = n * 2;

			p = resize_churn(p, more);
			led_free(L_alloc_churn, n);
			fill(p, L_resize_churn, more);
		}
		release(shelf[led_random(&seed) % SHELF].exchange(p));
	}
	return nullptr;
}

static void *load(void *)
{
	for (bool is_a = true; !stop; is_a = !is_a) {
		std::string path = folder + (is_a ? "twin_plugin_a.so" : "twin_plugin_b.so");
		void *lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);

		led_check(lib != nullptr, "dlopen");
		auto work =
		    reinterpret_cast<void *(*)(size_t)>(dlsym(lib, is_a ? "work_A" : "work_B"));

		for (size_t n = sizeof(item); n < 60; n++)
			release(fill(work(n), is_a ? L_work_A : L_work_B, n));
		dlclose(lib);
		loads++;
	}
	return nullptr;
}

/* as long as it has lives left, the value comes back */
static void destroy(void *p)
{
	static thread_local int lives = 3;

	release(p);
	if (lives-- > 0)
		pthread_setspecific(key, fill(alloc_key(40), L_alloc_key, 40));
}

static void *short_life(void *)
{
	for (size_t n = sizeof(item); n < 100; n++)
		release(fill(alloc_short(n), L_alloc_short, n));
	pthread_setspecific(key, fill(alloc_key(40), L_alloc_key, 40));
	return nullptr;
}

static void *spawn(void *)
{
	pthread_t t[3];

	while (!stop) {
		for (auto &one : t)
			led_check(
			    !pthread_create(&one, nullptr, short_life, nullptr), "pthread_create");
		for (auto &one : t)
			pthread_join(one, nullptr);
		threads += 3;
	}
	return nullptr;
}

static void *child_thread(void *)
{
	for (size_t n = 0; n < 200; n++)
		free(led_keep(malloc(n)));
	return nullptr;
}

[[noreturn]] static void be_child(unsigned role)
{
	pthread_t t;

	for (size_t n = 0; n < 150; n++)
		free(led_keep(malloc(n)));
	if (role % 4 == 0 && pthread_create(&t, nullptr, child_thread, nullptr) == 0)
		pthread_join(t, nullptr);
	if (role % 4 == 1)
		execl("/bin/true", "true", nullptr);
	if (role % 4 == 2) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, nullptr, 0);
	}
	_exit(0);
}

static void *fork_often(void *)
{
	timespec nap = {0, 1000000000 / FORKS_PER_S};

	while (!stop) {
		pid_t pid = fork();
		int status = -1;

		led_check(pid >= 0, "fork");
		if (pid == 0)
			be_child(forks);
		while (waitpid(pid, &status, 0) < 0)
			;
		led_check(status == 0, "a child failed");
		forks++;
		nanosleep(&nap, nullptr);
	}
	return nullptr;
}

/* malloc is not safe in a handler; it is where it interrupted a hook alone */
static void on_alarm(int, siginfo_t *, void *context)
{
	int saved = errno;

	if (inside_hook(context)) {
		void *p = alloc_in_handler(50);

		if (p) {
			fill(p, L_alloc_in_handler, 50);
			release(left_behind[handled++ % LEFT].exchange(p));
		}
	}
	errno = saved;
}

static void signals_for(int seconds)
{
	struct sigaction act = {};
	itimerval every = {{0, 300}, {0, 300}}, never = {};
	timespec now, end;

	act.sa_sigaction = on_alarm;
	act.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGALRM, &act, nullptr);
	setitimer(ITIMER_REAL, &every, nullptr);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		timespec nap = {0, 20000000};

		nanosleep(&nap, nullptr);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	stop = true;
	setitimer(ITIMER_REAL, &never, nullptr);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 5;
	char self[4096] = "", line[128];
	pthread_t t[CHURNERS + 3];
	int n = 0;

	led_check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "readlink");
	folder = self;
	folder.resize(folder.rfind('/') + 1);
	inside_find();
	pthread_key_create(&key, destroy);
	for (; n < CHURNERS; n++)
		pthread_create(&t[n], nullptr, churn, reinterpret_cast<void *>(n));
	pthread_create(&t[n++], nullptr, load, nullptr);
	pthread_create(&t[n++], nullptr, spawn, nullptr);
	pthread_create(&t[n++], nullptr, fork_often, nullptr);
	signals_for(seconds);
	while (n > 0)
		pthread_join(t[--n], nullptr);
	led_print(1);
	snprintf(line, sizeof(line), "# handled=%u forks=%u loads=%u threads=%u\n", handled.load(),
	    forks.load(), loads.load(), threads.load());
	led_say(1, line);
	return 0;
}
