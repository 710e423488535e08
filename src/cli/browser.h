/* browser.h - shows a file in the user's browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_BROWSER_H
#define SEEP_CLI_BROWSER_H

#include <stdbool.h>

/*
 * Opens the file with $BROWSER, a list of command lines, or with xdg-open where
 * there is a screen. False: nothing of this works here. With a folder, a process
 * of its own removes the file and then the folder: when the browser has ended,
 * or has had time to load the file. Call it with little memory in use: that
 * process keeps what there is.
 */
bool browser_open(const char *path, const char *folder);

#endif
