/* leaky_server.c - a server that leaks, caches without end, and churns. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * There is no network: worker threads take requests from a generator and
 * serve them as a server would, for about two seconds; leaky_server N takes N
 * times as long.
 *
 *   leak     session_open(), called by handle_login(): a login whose password
 *            is wrong returns early and forgets the session it has opened.
 *   growth   cache_store(): pages are cached and never evicted. They can still
 *            be reached, so this is no leak in the strict sense; it is the
 *            reason why the process will be killed next week.
 *   churn    render_page(): many short-lived buffers, all freed.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	WORKERS = 3,
	REQUESTS_EACH = 4800,
	PAUSE_EVERY = 20,
	PAUSE_NS = 8000000,
	CACHE_BUCKETS = 256,
	PAGES = 1500,
	WRONG_PASSWORD_EVERY = 12,
};

enum request_kind { REQUEST_LOGIN, REQUEST_PAGE, REQUEST_SEARCH };

struct request {
	enum request_kind kind;
	uint32_t user;
	uint32_t page;
	bool password_is_right;
};

struct session {
	uint32_t user;
	char *name;
	unsigned char state[1024];
};

struct cache_entry {
	struct cache_entry *next;
	uint32_t page;
	size_t size_bytes;
	char body[];
};

static struct {
	pthread_mutex_t lock;
	struct cache_entry *buckets[CACHE_BUCKETS];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned long served;

static void *need(void *p)
{
	if (!p) {
		fputs("leaky_server: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* sessions */

static __attribute__((noinline)) struct session *session_open(uint32_t user)
{
	struct session *s = need(calloc(1, sizeof(*s)));
	char name[32];

	s->user = user;
	snprintf(name, sizeof(name), "user-%u", user);
	s->name = need(strdup(name));
	return s;
}

static void session_close(struct session *s)
{
	free(s->name);
	free(s);
}

static __attribute__((noinline)) int handle_login(const struct request *req)
{
	struct session *s = session_open(req->user);

	if (!req->password_is_right)
		return 403; /* the bug: s is forgotten here */
	session_close(s);
	return 200;
}

/* pages */

static __attribute__((noinline)) char *render_page(uint32_t page, size_t *ret_size_bytes)
{
	size_t size_bytes = 512 + page % 64 * 32;
	char *body = need(malloc(size_bytes));

	for (int part = 0; part < 8; part++) {
		char *fragment = need(malloc(64 + (size_t)part * 16));

		memset(fragment, 'a' + part, 64);
		memcpy(body + (size_t)part * 64, fragment, 64);
		free(fragment);
	}
	*ret_size_bytes = size_bytes;
	return body;
}

static __attribute__((noinline)) void cache_store(
    uint32_t page, const char *body, size_t size_bytes)
{
	struct cache_entry *e = need(malloc(sizeof(*e) + size_bytes));

	e->page = page;
	e->size_bytes = size_bytes;
	memcpy(e->body, body, size_bytes);
	pthread_mutex_lock(&cache.lock);
	e->next = cache.buckets[page % CACHE_BUCKETS];
	cache.buckets[page % CACHE_BUCKETS] = e;
	pthread_mutex_unlock(&cache.lock);
}

static bool cache_has(uint32_t page)
{
	const struct cache_entry *e;

	pthread_mutex_lock(&cache.lock);
	e = cache.buckets[page % CACHE_BUCKETS];
	while (e && e->page != page)
		e = e->next;
	pthread_mutex_unlock(&cache.lock);
	return e != NULL;
}

static __attribute__((noinline)) int handle_page(const struct request *req)
{
	size_t size_bytes;
	char *body;

	if (cache_has(req->page))
		return 200;
	body = render_page(req->page, &size_bytes);
	cache_store(req->page, body, size_bytes);
	free(body);
	return 200;
}

static __attribute__((noinline)) int handle_search(const struct request *req)
{
	size_t found = 16, size_bytes;
	uint32_t *hits = need(malloc(found * sizeof(*hits)));

	for (uint32_t i = 0; i < 64; i++) {
		if (i == found) {
			found *= 2;
			hits = need(realloc(hits, found * sizeof(*hits)));
		}
		hits[i] = req->page + i;
	}
	free(render_page(hits[7], &size_bytes));
	free(hits);
	return 200;
}

/* requests */

static int serve(const struct request *req)
{
	switch (req->kind) {
	case REQUEST_LOGIN:
		return handle_login(req);
	case REQUEST_PAGE:
		return handle_page(req);
	case REQUEST_SEARCH:
		return handle_search(req);
	}
	return 400;
}

static struct request next_request(uint32_t *seed)
{
	uint32_t x = *seed = *seed * 1664525u + 1013904223u;

	return (struct request){
	    .kind = (x >> 24) % 3,
	    .user = (x >> 8) % 5000,
	    .page = (x >> 12) % PAGES,
	    .password_is_right = (x >> 16) % WRONG_PASSWORD_EVERY != 0,
	};
}

static long times = 1;

static void *worker(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	for (long i = 0; i < REQUESTS_EACH * times; i++) {
		struct request req = next_request(&seed);

		if (serve(&req) < 500)
			__atomic_fetch_add(&served, 1, __ATOMIC_RELAXED);
		if (i % PAUSE_EVERY == 0)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS];

	if (argc > 1)
		times = strtol(argv[1], NULL, 10);
	for (uintptr_t i = 0; i < WORKERS; i++) {
		if (pthread_create(&threads[i], NULL, worker, (void *)(i + 1)))
			return 1;
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("leaky_server: %lu requests served\n", served);
	return 0;
}
