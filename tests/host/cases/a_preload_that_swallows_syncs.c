/* a_preload_that_swallows_syncs.c - libeatmydata beside us, which wraps fsync, open and msync: exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T21 */
/* preload: libeatmydata.so */
#include "small_host.h"
