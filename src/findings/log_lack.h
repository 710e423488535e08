/* log_lack.h - says why a process has no event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOG_LACK_H
#define SEEP_LOG_LACK_H

#include <stdbool.h>

#include "format/format.h"

enum { LOG_LACK_BYTES = 256 };

/*
 * The reason, without a full stop. False: it has a log, or nobody asked for one.
 * The header is untrusted.
 */
bool log_lack_words(const struct seg_header *h, char ret[LOG_LACK_BYTES]);

#endif
