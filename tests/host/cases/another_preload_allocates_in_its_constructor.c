/* another_preload_allocates_in_its_constructor.c - a library behind us calls the whole family before main. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T19 T21 */
/* preload: early_calls_plugin.so */
#include "small_host.h"
