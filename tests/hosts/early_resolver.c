/* early_resolver.c - like early.c, and an IFUNC resolver allocates before any library in front is relocated. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,--no-as-needed,-rpath,'$ORIGIN' -Lbuild/hosts -l:early_plugin.so -l:early_plugin_first.so -l:early_plugin_user.so -l:early_plugin_resolver.so */
#define WITH_RESOLVER
#include "early.c"
