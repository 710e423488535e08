/* fault.h - where and why an input was refused, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UTIL_FAULT_H
#define SEEP_UTIL_FAULT_H

/*
 * Travels beside a negative errno: the errno is the kind (-EBADMSG damaged,
 * -EINVAL not ours, -ENOTSUP other version), the text has the place. Valid
 * only after a failure. The caller holds it; NULL means "spare me".
 */
struct fault {
	char text[256];
};

/* Fills f and returns err, so that `return fault_set(f, -EBADMSG, ...)`. */
int fault_set(struct fault *f, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
