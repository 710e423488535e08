/* fault.c - where and why an input was refused, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/fault.h"

#include "base/std.h"
int fault_set(struct fault *f, int err, const char *fmt, ...)
{
	va_list ap;

	if (!f)
		return err;
	va_start(ap, fmt);
	(void)vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return err;
}
