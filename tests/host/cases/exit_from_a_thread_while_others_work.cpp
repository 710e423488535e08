/* exit_from_a_thread_while_others_work.cpp - exit() in a thread, others churn, 40 atexit handlers, on_exit and static destructors allocate and free. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T41 */
/* flags: -std=c++17 */
/* status: 9 */
/* ignore: threads, signals, as which thread is seen last is chance, and a dying one blocks all */
/* seconds: 30 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static std::vector<std::string> *held;
static std::atomic<int> running;

struct at_the_end {
	std::vector<std::string> words;

	at_the_end() : words(100, std::string(60, 'w'))
	{
	}

	~at_the_end()
	{
		words.assign(50, std::string(90, 'v'));
		printf("destroyed with %zu\n", words.size());
	}
};

static at_the_end last;

static void handler()
{
	delete held;
	held = new std::vector<std::string>(20, std::string(50, 'h'));
}

static void on_exit_handler(int status, void *arg)
{
	printf("on_exit %d %zu\n", status, held->size());
	free(arg);
}

static void churn()
{
	running++;
	for (unsigned n = 0;; n++) {
		void *volatile p = malloc(n % 500);

		free(p);
	}
}

int main()
{
	on_exit(on_exit_handler, malloc(100));
	for (int i = 0; i < 40; i++)
		atexit(handler);
	for (int i = 0; i < 3; i++)
		std::thread(churn).detach();
	std::thread([] {
		while (running < 3)
			usleep(100);
		exit(9);
	}).detach();
	for (;;)
		pause();
}
