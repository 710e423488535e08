/* hostile.cpp - stacks that are hard to walk: the verifying build must find no mismatch. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -std=c++17 -Wno-vla -Wno-infinite-recursion */
#include <algorithm>
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

/* hostile [ROUNDS]: one round is about 40,000 allocations */
#define HARD __attribute__((noinline))

static volatile int sink;

/* keeps a pair of malloc and free from being optimised away */
HARD static void touch(size_t size_bytes)
{
	char *volatile p = static_cast<char *>(malloc(size_bytes + 1));

	p[0] = 1;
	sink = p[0];
	free(p);
}

/* ---- exceptions: cleanups and catches at every second level ---- */
HARD static void throw_from(int depth)
{
	std::string text(64 + static_cast<size_t>(depth), 'x');

	if (depth == 0)
		throw std::runtime_error("boom " + text);
	std::vector<int> held(static_cast<size_t>(depth) * 3);
	try {
		throw_from(depth - 1);
	} catch (std::logic_error &) {
		sink = held[0];
	}
	sink = static_cast<int>(held.size());
}

static void exceptions()
{
	for (int i = 0; i < 300; i++) {
		try {
			throw_from(i % 12);
		} catch (std::exception &e) {
			touch(strlen(e.what()));
		}
	}
}

/* ---- frames whose size is known at run time only ---- */
HARD static void alloca_frames(int depth)
{
	size_t room = static_cast<size_t>(depth) * 131 % 977 + 16;
	char *p = static_cast<char *>(alloca(room));

	memset(p, depth, room);
	touch(static_cast<size_t>(depth % 50));
	if (depth > 0)
		alloca_frames(depth - 1);
	touch(room);
	sink = p[0];
}

HARD static void vla_frame(int n)
{
	double a[n];

	a[0] = n;
	touch(static_cast<size_t>(n));
	a[n - 1] = 1;
	sink = static_cast<int>(a[0]);
}

HARD static void realigned_frame(int n)
{
	alignas(64) char text[256];
	alignas(64) volatile double x[8];

	x[0] = n;
	snprintf(text, sizeof(text), "%d", n);
	touch(static_cast<size_t>(n));
	char *p = static_cast<char *>(alloca(static_cast<size_t>(n)));

	p[0] = 1;
	touch(static_cast<size_t>(n) + 3);
	sink = p[0] + text[0] + static_cast<int>(x[0]);
}

static void odd_frames()
{
	for (int i = 0; i < 30; i++)
		alloca_frames(i * 3);
	for (int i = 1; i < 300; i++) {
		vla_frame(i * 7);
		realigned_frame(i);
	}
}

/* ---- longjmp out of a deep stack, then the same addresses anew ---- */
static thread_local jmp_buf out;

HARD static void jump_from(int depth)
{
	touch(static_cast<size_t>(depth));
	if (depth == 0)
		longjmp(out, 1);
	jump_from(depth - 1);
	sink = depth;
}

HARD static void jumps()
{
	for (volatile int i = 0; i < 200; i = i + 1) {
		if (!setjmp(out))
			jump_from(i % 20);
	}
}

/* ---- signals: the handler allocates, where that is safe ---- */
static volatile sig_atomic_t computing, handled;

extern "C" void on_signal(int)
{
	if (!computing)
		return; /* may have interrupted malloc: keep out */
	touch(33);
	std::vector<int> v(10);

	sink = v[0];
	handled = handled + 1;
}

/* no libc function here takes the malloc lock; arrays under 1 KiB: qsort
 * stays on the stack */
static int compare_ints(const void *a, const void *b)
{
	int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);

	return x < y ? -1 : x > y;
}

HARD static double compute(int n)
{
	static const char text[] = "3.14159265358979 and some more text";
	char copy[sizeof(text)];
	double sum = 0;
	int a[100];

	for (int i = 0; i < n; i++) {
		sum += strtod(text, nullptr);
		memcpy(copy, text, sizeof(text));
		sum += static_cast<double>(strlen(copy));
		for (int k = 0; k < 100; k++)
			a[k] = (k * 7919 + i) % 101;
		qsort(a, 100, sizeof(a[0]), compare_ints);
		sum += a[50];
	}
	return sum;
}

static void signals(bool own_stack)
{
	struct sigaction act = {};
	struct itimerval every = {{0, 100}, {0, 100}}, never = {};

	act.sa_handler = on_signal;
	act.sa_flags = SA_RESTART | (own_stack ? SA_ONSTACK : 0);
	sigaction(SIGUSR1, &act, nullptr);
	sigaction(SIGALRM, &act, nullptr);
	sink = static_cast<int>(compute(10)); /* bind the symbols first */
	computing = 1;
	for (int i = 0; i < 200; i++)
		raise(SIGUSR1);
	setitimer(ITIMER_REAL, &every, nullptr);
	sink = static_cast<int>(compute(5000));
	setitimer(ITIMER_REAL, &never, nullptr);
	computing = 0;
}

/* ---- coroutines: stacks from malloc and from mmap with guard pages ---- */
enum { COROUTINES = 4, STACK_BYTES = 65536, SWITCHES = 200 };
static ucontext_t scheduler, coroutine[COROUTINES];

HARD static void coroutine_body(int k)
{
	for (int i = 0; i < SWITCHES; i++) {
		touch(static_cast<size_t>(i + k));
		std::vector<std::string> v(3, std::string(40, 'a'));

		try {
			if (i % 16 == 0)
				throw_from(3);
		} catch (std::exception &) {
			touch(5);
		}
		swapcontext(&coroutine[k], &scheduler);
	}
}

static void coroutines()
{
	void *stack[COROUTINES];

	for (int k = 0; k < COROUTINES; k++) {
		ucontext_t *c = &coroutine[k];

		if (k % 2) {
			stack[k] = malloc(STACK_BYTES);
			c->uc_stack.ss_sp = stack[k];
		} else {
			stack[k] = mmap(nullptr, STACK_BYTES + 8192, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char *low = static_cast<char *>(stack[k]) + 4096;

			mprotect(low, STACK_BYTES, PROT_READ | PROT_WRITE);
			c->uc_stack.ss_sp = low;
		}
		void *sp = c->uc_stack.ss_sp;

		getcontext(c);
		c->uc_stack.ss_sp = sp;
		c->uc_stack.ss_size = STACK_BYTES;
		c->uc_link = &scheduler;
		makecontext(c, reinterpret_cast<void (*)()>(coroutine_body), 1, k);
	}
	for (int i = 0; i <= SWITCHES; i++) {
		for (int k = 0; k < COROUTINES; k++)
			swapcontext(&scheduler, &coroutine[k]);
	}
	for (int k = 0; k < COROUTINES; k++) {
		if (k % 2)
			free(stack[k]);
		else
			munmap(stack[k], STACK_BYTES + 8192);
	}
}

/* ---- callbacks through libc ---- */
static int compare_and_allocate(const void *a, const void *b)
{
	touch(8);
	return compare_ints(a, b);
}

static void callbacks()
{
	int a[500];

	for (int i = 0; i < 500; i++)
		a[i] = i * 7919 % 1009;
	qsort(a, 500, sizeof(a[0]), compare_and_allocate);
	sink = a[250];
}

/* ---- plain C++ in threads, every frame kind at once ---- */
HARD static void containers(int k)
{
	std::map<int, std::string> m;
	std::vector<int> v(500);
	unsigned seed = 1;

	for (int i = 0; i < 500; i++)
		m[i * k] = std::string(static_cast<size_t>(i % 90), 'q');
	std::generate(
	    v.begin(), v.end(), [&seed] { return static_cast<int>(seed = seed * 1103515245 + 1); });
	std::stable_sort(v.begin(), v.end());
	sink = v[0];
}

static void one_thread(int k)
{
	containers(k);
	exceptions();
	odd_frames();
	jumps();
	callbacks();
}

static void threads()
{
	std::vector<std::thread> all;

	for (int k = 0; k < 4; k++)
		all.emplace_back(one_thread, k);
	for (auto &t : all)
		t.join();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	static char altstack[65536];
	stack_t ss = {};

	ss.ss_sp = altstack;
	ss.ss_size = sizeof(altstack);
	sigaltstack(&ss, nullptr);
	for (int r = 0; r < rounds; r++) {
		one_thread(r + 1);
		signals(false);
		signals(true);
		coroutines();
		threads();
	}
	if (handled < rounds * 400) {
		puts("BROKEN the handler did not run");
		return 1;
	}
	puts("ok");
	return 0;
}
