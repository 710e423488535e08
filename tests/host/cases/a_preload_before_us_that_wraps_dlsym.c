/* a_preload_before_us_that_wraps_dlsym.c - a library preloaded before the collector wraps dlsym, so that RTLD_NEXT begins behind it: the collector does not find itself. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T110 */
/* also: mappings */
/* modes: exact sampled dormant */
/* preload-first: wrapped_dlsym_plugin.so */
#include "small_host.h"
