/* privacy.c - makes results as private as their inputs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/privacy.h"

#include <sys/stat.h>
#include <unistd.h>

enum { USER = 0600, GROUP = 0060, ALL = 0666 };

static mode_t allowed = ALL;

void privacy_note(const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		allowed = USER;
		return;
	}
	allowed &= st.st_mode | USER;
	if (st.st_gid != getegid())
		allowed &= ~(mode_t)GROUP;
}

void privacy_note_snapshots(const struct session *s)
{
	for (size_t i = 0; i < s->snapshot_count; i++)
		privacy_note(s->snapshots[i].path);
}

void privacy_lift(void)
{
	allowed = ALL;
}

mode_t privacy_mode(void)
{
	return allowed;
}
