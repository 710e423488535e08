/* json_take.h - reads JSON that somebody wrote, piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_TAKE_H
#define SEEP_JSON_TAKE_H

#include "base/std.h"

/*
 * The text is untrusted. At the first thing that is not JSON, or not of the
 * kind that is asked for, is_bad is set, and all later calls fail.
 */
struct json_take {
	const char *at, *end;
	bool is_bad;
};

/* Begins an object or a list. */
bool json_take_object(struct json_take *j);
bool json_take_list(struct json_take *j);

/*
 * The next key of an object, or whether a list has another item: its value is
 * taken by one of the other functions. false: the end. Keys are cut to `room`.
 */
bool json_take_key(struct json_take *j, char *to, size_t room);
bool json_take_item(struct json_take *j);

/* A whole number from 0 on. */
bool json_take_number(struct json_take *j, uint64_t *ret);

/* A text, cut to `room`; null is "" and false, and not bad. */
bool json_take_text(struct json_take *j, char *to, size_t room);

/* Passes over a value of any kind. */
void json_take_skip(struct json_take *j);

#endif
