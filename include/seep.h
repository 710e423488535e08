/* seep.h - calls by which a program reports to seep; no-ops without seep. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_H
#define SEEP_H

#include <stddef.h>

/*
 * This header is all that is needed: there is no library to link and nothing to
 * start. In a program that runs under seep (`seep record`, or libseep.so
 * preloaded) the calls reach the collector; in any other program each call is a
 * load and a branch. Every function may be called from any thread, from signal
 * handlers and from forked children, and does not change errno. docs/API.md has
 * the details.
 *
 * int seep_snapshot(const char *label)
 *	Writes the present counters of this process into a new file, and returns
 *	when the file is complete. Returns its number (1, 2, ...), 0 if the
 *	collector is not loaded, or a negative errno; a failure is also counted.
 *
 * void seep_mark(const char *label)
 *	Marks this moment; reports show it beside the figures.
 *
 * void seep_pause(void), void seep_resume(void)
 *	Allocations of this thread in between are counted but not recorded;
 *	frees are recorded. Calls nest.
 *
 * void seep_alloc(const char *pool, const void *handle, size_t size)
 * void seep_free(const char *pool, const void *handle)
 * void seep_realloc(const char *pool, const void *old, const void *handle,
 *     size_t size)
 * void seep_free_all(const char *pool)
 *	Report allocations and frees of resources that the program manages
 *	itself: memory pools, arenas, descriptors, textures. `pool` names the
 *	kind; `handle` identifies one resource and is an address, or any number
 *	cast to a pointer. Reports show them by call stack, under the pool's
 *	name, separate from the heap and its totals. seep_free_all() frees all
 *	resources that are left in the pool.
 *
 * void seep_ignore(const void *p)
 *	The block that begins at p is kept on purpose. seep counts it, but does
 *	not report it, or anything that it holds, as a leak, as with
 *	LeakSanitizer's __lsan_ignore_object(). This ends with free() or
 *	realloc().
 */

#if defined(__GNUC__) && defined(__ELF__)

#define SEEP_INLINE_ static __inline__ __attribute__((always_inline, artificial, unused))

/*
 * The address of a function of the collector, or NULL. Not simply a weak
 * declaration: in an executable that is not position independent, linkers set
 * those to NULL for good. A load from the global offset table is filled in
 * when the program starts, wherever it is linked.
 */
#if defined(__x86_64__) && defined(__LP64__)
#define SEEP_FIND_(pointer, name) \
	__asm__(".weak " name "\n\t" \
	        "mov{q\t" name "@GOTPCREL(%%rip), %0" \
	        "|\t%0, QWORD PTR " name "@GOTPCREL[rip]}" \
	        : "=r"(pointer))
#elif defined(__aarch64__) && defined(__LP64__)
#define SEEP_FIND_(pointer, name) \
	__asm__(".weak " name "\n\t" \
	        "adrp\t%0, :got:" name "\n\t" \
	        "ldr\t%0, [%0, :got_lo12:" name "]" \
	        : "=&r"(pointer))
#else
#define SEEP_FIND_(pointer, name) ((pointer) = 0)
#endif

/* The names below are macros, so that none hides the collector's own. */
#define seep_snapshot seep_inline_snapshot
#define seep_mark     seep_inline_mark
#define seep_pause    seep_inline_pause
#define seep_resume   seep_inline_resume
#define seep_alloc    seep_inline_alloc
#define seep_free     seep_inline_free
#define seep_realloc  seep_inline_realloc
#define seep_free_all seep_inline_free_all
#define seep_ignore   seep_inline_ignore

SEEP_INLINE_ int seep_snapshot(const char *label)
{
	int (*call)(const char *);

	SEEP_FIND_(call, "seep_snapshot");
	return call ? call(label) : 0;
}

SEEP_INLINE_ void seep_mark(const char *label)
{
	void (*call)(const char *);

	SEEP_FIND_(call, "seep_mark");
	if (call)
		call(label);
}

SEEP_INLINE_ void seep_pause(void)
{
	void (*call)(void);

	SEEP_FIND_(call, "seep_pause");
	if (call)
		call();
}

SEEP_INLINE_ void seep_resume(void)
{
	void (*call)(void);

	SEEP_FIND_(call, "seep_resume");
	if (call)
		call();
}

SEEP_INLINE_ void seep_alloc(const char *pool, const void *handle, size_t size)
{
	void (*call)(const char *, const void *, size_t);

	SEEP_FIND_(call, "seep_alloc");
	if (call)
		call(pool, handle, size);
}

SEEP_INLINE_ void seep_free(const char *pool, const void *handle)
{
	void (*call)(const char *, const void *);

	SEEP_FIND_(call, "seep_free");
	if (call)
		call(pool, handle);
}

SEEP_INLINE_ void seep_realloc(const char *pool, const void *old, const void *handle, size_t size)
{
	void (*call)(const char *, const void *, const void *, size_t);

	SEEP_FIND_(call, "seep_realloc");
	if (call)
		call(pool, old, handle, size);
}

SEEP_INLINE_ void seep_free_all(const char *pool)
{
	void (*call)(const char *);

	SEEP_FIND_(call, "seep_free_all");
	if (call)
		call(pool);
}

SEEP_INLINE_ void seep_ignore(const void *p)
{
	void (*call)(const void *);

	SEEP_FIND_(call, "seep_ignore");
	if (call)
		call(p);
}

#else /* neither gcc nor clang, or no ELF: there is nothing to reach */

#define seep_snapshot(label)           ((void)(label), 0)
#define seep_mark(label)               ((void)(label))
#define seep_pause()                   ((void)0)
#define seep_resume()                  ((void)0)
#define seep_alloc(pool, handle, size) ((void)(pool), (void)(handle), (void)(size))
#define seep_free(pool, handle)        ((void)(pool), (void)(handle))
#define seep_realloc(pool, old, handle, size) \
	((void)(pool), (void)(old), (void)(handle), (void)(size))
#define seep_free_all(pool) ((void)(pool))
#define seep_ignore(p)      ((void)(p))

#endif

#endif
