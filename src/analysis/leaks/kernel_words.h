/* kernel_words.h - pointers of a process that only the kernel keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KERNEL_WORDS_H
#define SEEP_KERNEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A server may give the address of a connection to epoll and keep it nowhere
 * else; likewise the value that a POSIX timer brings along. /proc shows both.
 */
typedef int kernel_word(uint64_t word, void *context);

struct kernel_seen {
	uint64_t epoll_words, timer_words;
	uint64_t not_read; /* files beyond a bound, or that could not be read */
	bool has_io_uring; /* its rings are shared with the kernel: not read */
};

/*
 * Calls `visit` for each word until it returns something else than 0, which is
 * then the answer. -EACCES, -ESRCH: we may not look, or it is gone.
 */
int kernel_words(pid_t pid, kernel_word *visit, void *context, struct kernel_seen *ret);

/* The words of one file: fdinfo of an epoll descriptor, and timers. */
int kernel_words_parse_epoll(const char *text, kernel_word *visit, void *context, uint64_t *count);
int kernel_words_parse_timers(const char *text, kernel_word *visit, void *context, uint64_t *count);

#endif
