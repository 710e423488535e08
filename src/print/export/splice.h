/* splice.h - puts the time lines of several recordings behind each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SPLICE_H
#define SEEP_SPLICE_H

#include "recording/file/recording.h"

/*
 * Items are copied, with other times and other numbers of processes. So a
 * process that is in two of the time lines has two numbers in the result, and
 * its figures begin with zeros each time; its uuid says that it is one process.
 */
struct splice {
	struct recording_writer *writer;
	uint32_t pid;      /* only processes with this pid; 0: all */
	uint64_t start_ns; /* of the first recording, since 1970; 0: none yet */
	uint64_t until_us; /* since then: the last moment of the time line */
	uint64_t numbers;  /* numbers up to this one are taken */
};

/*
 * Adds the time line of b, which began at start_ns, as far as it is sound.
 * Leaves b at its first entry. -ENOMEM, or an error of the writer.
 */
int splice_add(struct splice *s, struct recording *b, uint64_t start_ns);

#endif
