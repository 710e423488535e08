/* attr.h - attributes of functions and data, relaxed and ordered access. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ATTR_H
#define SEEP_ATTR_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define SEEP_EXPORT __attribute__((visibility("default")))
/* for extern data, which is then read by address and not through the GOT */
#define SEEP_HIDDEN   __attribute__((visibility("hidden")))
#define SEEP_COLD     __attribute__((cold, noinline))
#define SEEP_NOINLINE __attribute__((noinline))
#define SEEP_INLINE   static inline __attribute__((always_inline))
/* the words that every event reads are together in a cache line */
#define SEEP_HOT  __attribute__((section("seep_hot")))
#define SEEP_WEAK __attribute__((weak))

/* Relaxed access to words that several threads or a reader look at. */
#define LOAD(p)             __atomic_load_n(p, __ATOMIC_RELAXED)
#define STORE(p, v)         __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE_RELEASE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ADD(p, v)           __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define CAS(p, old, new) \
	__atomic_compare_exchange_n(p, old, new, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
/* Makes *p at least v, even if other threads change it meanwhile. */
#define RAISE(p, v) \
	do { \
		__typeof__(*(p)) raise_was = LOAD(p); \
		while (raise_was < (v) && !CAS(p, &raise_was, v)) \
			; \
	} while (0)

#endif
