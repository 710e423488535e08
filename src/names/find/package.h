/* package.h - which package of this Debian system a file belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PACKAGE_H
#define SEEP_PACKAGE_H

/*
 * The name of the package; the caller frees it. NULL: none, or not a Debian
 * system.
 */
char *package_of(const char *path);

#endif
