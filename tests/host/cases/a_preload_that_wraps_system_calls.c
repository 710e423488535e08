/* a_preload_that_wraps_system_calls.c - a library preloaded after the collector wraps open, read, mmap, close and allocates in them: no deadlock, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T22 */
/* also: mappings */
/* preload: wrapped_calls_plugin.so */
#include "small_host.h"
