/* browser.h - shows a file in the user's browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BROWSER_H
#define SEEP_BROWSER_H

#include <stdbool.h>

/*
 * Opens the file with $BROWSER, a program and its arguments, or with xdg-open
 * if there is a screen. False: that does not work. If `folder` is given, another
 * process removes the file and then the folder when the browser has ended, or
 * has had time to load the file. Call this with little memory in use, because
 * that process keeps a copy of it.
 */
bool browser_open(const char *path, const char *folder);

#endif
