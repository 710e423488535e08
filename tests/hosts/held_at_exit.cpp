/* held_at_exit.cpp - returns from main with a registry of sessions that nothing frees. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-inline-small-functions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#define OWN __attribute__((noinline, noclone))

namespace app
{
struct session {
	virtual ~session()
	{
	}
	char *name;
	long number[4];
};
} // namespace app

enum { SESSIONS = 700, NAME = 40 };

struct registry {
	long numbers[3];
	app::session **table;
};
struct registry registry;

/* never destroyed, as programs do that end without a clean-up */
std::vector<double> *series;

OWN static app::session *session_new(int i)
{
	app::session *s = new app::session();

	s->name = (char *)malloc(NAME);
	if (!s->name)
		abort();
	memset(s->name, 'a' + i % 26, NAME);
	return s;
}

OWN static void fill(void)
{
	registry.table = (app::session **)calloc(SESSIONS, sizeof(app::session *));
	if (!registry.table)
		abort();
	for (int i = 0; i < SESSIONS; i++)
		registry.table[i] = session_new(i);
	series = new std::vector<double>();
	series->reserve(1000);
}

int main()
{
	char c;

	fill();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
