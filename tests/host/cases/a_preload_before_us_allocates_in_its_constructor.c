/* a_preload_before_us_allocates_in_its_constructor.c - a library preloaded before the collector calls the whole malloc family before main. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T19 T21 */
/* modes: exact sampled dormant */
/* preload-first: early_calls_plugin.so */
#include "small_host.h"
