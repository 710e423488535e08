/* an_audit_library_is_there.c - LD_AUDIT binds every symbol by itself and has a libc of its own: exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T23 */
/* env: LD_AUDIT=$HOSTS/auditor_plugin.so */
#include "small_host.h"
