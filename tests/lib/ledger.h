/* ledger.h - a host's own books, in static memory: what the report must say. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_LEDGER_H
#define SEEP_TESTS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * A host names its call paths, then includes this file:
 *
 *	#define SITES(X) X(alloc_small) X(alloc_big)
 *	#include "../lib/ledger.h"
 *
 * Each name is a SITE_FN on the call path: not inlined, not cloned, and with
 * something left to do after its malloc, so that the call is no tail call and
 * the function stays on the stack. compare.py adds up all sites of the report
 * whose innermost known frame is that function and wants the same figures.
 *
 * The books never allocate; they are adds in static memory, safe in threads
 * and in handlers. What the C library allocates for itself is in other sites.
 */
#define SITE_FN          __attribute__((noipa))
#define LED_NUMBER(name) L_##name,
#define LED_NAME(name)   {#name, 0, 0, 0, 0, 0, 0},

enum led_number { SITES(LED_NUMBER) LED_SITES };

struct led_site {
	const char *name;
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t frees;
	uint64_t freed_bytes;
	uint64_t peak_blocks; /* at the moment of the highest total */
	uint64_t peak_bytes;
};

static struct led_site led[] = {SITES(LED_NAME)};

/*
 * Single-threaded hosts that book everything set led_complete: then the
 * totals and the peak are part of the ledger too. A maximum that is reached
 * twice would make the snapshot ambiguous, so led_print() refuses one.
 */
__attribute__((unused)) static bool led_complete;
static uint64_t led_live_bytes, led_peak_bytes, led_peak_ties;

/* keeps the call before it a call, and its result in the world */
static inline void *led_keep(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

static inline void led_note_peak(void)
{
	if (led_live_bytes < led_peak_bytes)
		return;
	if (led_live_bytes == led_peak_bytes) {
		led_peak_ties++;
		return;
	}
	led_peak_bytes = led_live_bytes;
	led_peak_ties = 0;
	for (int i = 0; i < LED_SITES; i++) {
		led[i].peak_blocks = led[i].allocations - led[i].frees;
		led[i].peak_bytes = led[i].allocated_bytes - led[i].freed_bytes;
	}
}

__attribute__((unused)) static void led_free(int site, size_t size_bytes)
{
	__atomic_fetch_add(&led[site].frees, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&led[site].freed_bytes, size_bytes, __ATOMIC_RELAXED);
	if (led_complete)
		led_live_bytes -= size_bytes;
}

__attribute__((unused)) static void led_alloc(int site, size_t size_bytes)
{
	__atomic_fetch_add(&led[site].allocations, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&led[site].allocated_bytes, size_bytes, __ATOMIC_RELAXED);
	if (!led_complete)
		return;
	led_live_bytes += size_bytes;
	if (size_bytes)
		led_note_peak();
}

/* a child starts with empty books, as its segment does */
__attribute__((unused)) static void led_reset(void)
{
	for (int i = 0; i < LED_SITES; i++) {
		led[i].allocations = led[i].allocated_bytes = 0;
		led[i].frees = led[i].freed_bytes = 0;
	}
}

static inline void led_say(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t w = write(fd, text, n);

		if (w <= 0)
			_exit(97);
		text += w;
		n -= (size_t)w;
	}
}

static inline void led_print_site(int fd, const struct led_site *s)
{
	char line[256];

	snprintf(line, sizeof(line),
	    "SITE %s allocations=%llu allocated_bytes=%llu frees=%llu "
	    "freed_bytes=%llu live_blocks=%llu live_bytes=%llu",
	    s->name, (unsigned long long)s->allocations, (unsigned long long)s->allocated_bytes,
	    (unsigned long long)s->frees, (unsigned long long)s->freed_bytes,
	    (unsigned long long)(s->allocations - s->frees),
	    (unsigned long long)(s->allocated_bytes - s->freed_bytes));
	led_say(fd, line);
	if (led_complete) {
		snprintf(line, sizeof(line), " peak_blocks=%llu peak_bytes=%llu",
		    (unsigned long long)s->peak_blocks, (unsigned long long)s->peak_bytes);
		led_say(fd, line);
	}
	led_say(fd, "\n");
}

static inline void led_print_pid(int fd, int pid)
{
	char line[32];

	snprintf(line, sizeof(line), "PID %d\n", pid);
	led_say(fd, line);
}

/* prints the books of this process; call it when nobody allocates any more */
__attribute__((unused)) static void led_print(int fd)
{
	led_print_pid(fd, getpid());
	for (int i = 0; i < LED_SITES; i++)
		led_print_site(fd, &led[i]);
	if (!led_complete)
		return;
	struct led_site all = {"TOTAL", 0, 0, 0, 0, 0, 0};

	for (int i = 0; i < LED_SITES; i++) {
		all.allocations += led[i].allocations;
		all.allocated_bytes += led[i].allocated_bytes;
		all.frees += led[i].frees;
		all.freed_bytes += led[i].freed_bytes;
		all.peak_blocks += led[i].peak_blocks;
		all.peak_bytes += led[i].peak_bytes;
	}
	led_print_site(fd, &all);
	if (led_peak_ties)
		led_say(fd, "BROKEN the peak was reached twice\n");
}

/* the host is wrong, not the report: say so and fail, bare or traced */
static inline void led_check(bool fine, const char *what)
{
	if (fine)
		return;
	led_say(1, "BROKEN ");
	led_say(1, what);
	led_say(1, "\n");
	_exit(98);
}

/* xorshift: the same sizes in the same order in every run */
__attribute__((unused)) static uint64_t led_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
