/* pprof_proto.h - protocol buffers, written field by field, compressed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PPROF_PROTO_H
#define SEEP_PPROF_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A message that is being written. Zeros: empty. If memory runs out, it stays
 * as it is and `failed` is set, so one check at the end is enough.
 */
struct proto {
	uint8_t *bytes; /* for free() */
	size_t len, room;
	bool failed;
};

/* Fields; a value of 0 is left out, as proto3 requires. */
void pprof_proto_uint(struct proto *m, unsigned field, uint64_t value);
void pprof_proto_int(struct proto *m, unsigned field, int64_t value);
void pprof_proto_bytes(struct proto *m, unsigned field, const void *bytes, size_t len);

/* A message inside; it is emptied. */
void pprof_proto_message(struct proto *m, unsigned field, struct proto *inner);

/* Packed numbers: add each one, then add m with pprof_proto_message(). */
void pprof_proto_packed(struct proto *m, uint64_t value);

/* A stream of gzip into a file; errors are kept for the end. */
struct pprof_proto_stream;

/* -ENOMEM. */
int pprof_proto_stream_new(FILE *out, struct pprof_proto_stream **ret);

/* A piece of the outermost message; m is emptied. */
void pprof_proto_stream_put(struct pprof_proto_stream *s, struct proto *m);

/*
 * Ends the stream, unless ret is an earlier failure, and frees it. Returns the
 * first failure: `ret`, -ENOMEM, -EIO.
 */
int pprof_proto_stream_end(struct pprof_proto_stream *s, int ret);

#endif
