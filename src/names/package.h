/* package.h - which package of this Debian system a file belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_PACKAGE_H
#define SEEP_NAMES_PACKAGE_H

/* Its name, for free(); NULL: none, or this is no such system. */
char *package_of(const char *path);

#endif
