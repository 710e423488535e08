/* a_preload_that_swallows_syncs.c - libeatmydata, which wraps fsync, open and msync, is preloaded as well: counts are exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T21 */
/* preload: libeatmydata.so */
#include "small_host.h"
