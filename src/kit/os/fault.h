/* fault.h - where and why an input was refused, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FAULT_H
#define SEEP_FAULT_H

/*
 * Comes with a negative errno. The errno is the kind of fault (-EBADMSG:
 * damaged, -EINVAL: not a file of seep, -ENOTSUP: another version), and the
 * text says where it is. Valid only after a failure. The caller holds the
 * struct; it may pass NULL if it does not need the text.
 */
struct fault {
	char text[256];
};

/*
 * Fills f and returns err, so that a caller can write `return fault_set(f,
 * -EBADMSG, ...)`.
 */
int fault_set(struct fault *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Takes a line for the user from work that goes on: what was left out, and why.
 * `command` alone has one, die_warn(), and passes it down.
 */
typedef void fault_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
