/* an_audit_library_is_there.c - with an LD_AUDIT library, which binds every symbol itself and has a libc of its own, counts are exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T23 */
/* env: LD_AUDIT=$HOSTS/auditor_plugin.so */
#include "small_host.h"
