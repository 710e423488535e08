/* logindex.c - what a part of an event log changed: so it can be passed over. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/log/logindex.h"

#include <errno.h>
#include <string.h>

int logindex_open(struct logindex *ret, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	struct logindex_head h;
	uint64_t blocks;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, at, sizeof(h));
	if (h.version != LOGINDEX_VERSION)
		return -ENOTSUP;
	blocks = (uint64_t)h.born + h.moved;
	/* four numbers of 32 bits, so that no sum wraps */
	if (h.log.words > LOGCODE_WORDS_MAX ||
	    len - sizeof(h) !=
	        h.sites * sizeof(*ret->sites) + blocks * sizeof(*ret->born) +
	            h.gone * sizeof(*ret->gone))
		return -EBADMSG;
	at += sizeof(h);
	ret->head = h;
	ret->sites = (const void *)at;
	at += h.sites * sizeof(*ret->sites);
	ret->born = (const void *)at;
	ret->moved = ret->born + h.born;
	ret->gone = (const void *)(ret->moved + h.moved);
	return 0;
}
