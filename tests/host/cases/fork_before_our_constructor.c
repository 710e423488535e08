/* fork_before_our_constructor.c - a library that is initialised first allocates and forks before the collector has started. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T36 */
/* preload: fork_before_our_constructor_plugin.so */
#include "small_host.h"
