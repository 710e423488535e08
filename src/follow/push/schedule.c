/* schedule.c - when a host pushes: its place in the interval, and back-off. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/post.h"

#include "base/hash.h"

#define HOUR_NS UINT64_C(3600000000000)

enum { ID_BYTES = 256 };

uint64_t schedule_random(struct schedule *s, uint64_t below)
{
	s->random += HASH_GOLDEN;
	return hash_finish(hash_mix(hash_mix(0, s->random), 1)) % below;
}

/* The next time at this host's place, not before `from`. */
static uint64_t at_place(const struct schedule *s, uint64_t from)
{
	uint64_t begin = from - from % s->every_ns;
	uint64_t at = begin + s->place_ns;

	return at >= from ? at : at + s->every_ns;
}

void schedule_init(
    struct schedule *s, uint64_t every_ns, uint64_t host, uint64_t random, uint64_t now_ns)
{
	*s = (struct schedule){.every_ns = every_ns, .random = random};
	s->place_ns = hash_finish(hash_mix(host, 2)) % every_ns;
	s->next_ns = at_place(s, now_ns);
}

void schedule_success(struct schedule *s, uint64_t now_ns)
{
	/* who was late does not come twice within half an interval */
	s->next_ns = at_place(s, now_ns + s->every_ns / 2);
}

void schedule_failure(struct schedule *s, uint64_t now_ns, uint64_t not_before_ns)
{
	/*
	 * About once an interval, as before: a fleet that comes more often when
	 * its server is overloaded would keep it there.
	 */
	uint64_t wait = s->every_ns / 2 + schedule_random(s, s->every_ns + 1);

	if (not_before_ns > HOUR_NS)
		not_before_ns = HOUR_NS;
	/* it may have told all hosts the same */
	if (not_before_ns > 0 && wait < not_before_ns)
		wait = not_before_ns + schedule_random(s, s->every_ns / 2 + 1);
	s->next_ns = now_ns + wait;
}

void schedule_check(struct schedule *s, uint64_t now_ns)
{
	uint64_t most = HOUR_NS + 2 * s->every_ns;

	if (s->next_ns > now_ns + most)
		s->next_ns = at_place(s, now_ns);
}

uint64_t schedule_host(void)
{
	char id[ID_BYTES] = "";
	uint64_t h = 0;
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, id, sizeof(id) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 1 && gethostname(id, sizeof(id) - 1) < 0)
		id[0] = '\0';
	for (const char *c = id; *c; c++)
		h = hash_mix(h, (unsigned char)*c);
	return hash_finish(h);
}
