/* templates.h - texts from files of their own, linked into the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TEMPLATES_H
#define SEEP_TEMPLATES_H

/* src/cli/shell/seep.*, NUL terminated. A line "#@ NAME" is replaced. */
extern const char templates_bash[];
extern const char templates_zsh[];
extern const char templates_fish[];

#endif
