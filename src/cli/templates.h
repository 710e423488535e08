/* templates.h - texts that live in files of their own, part of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_TEMPLATES_H
#define SEEP_CLI_TEMPLATES_H

/*
 * src/cli/shell/seep.*, NUL terminated. A line "#@ NAME" is a hole to fill.
 */
extern const char templates_bash[];
extern const char templates_zsh[];
extern const char templates_fish[];

#endif
