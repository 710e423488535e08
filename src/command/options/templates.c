/* templates.c - texts from files of their own, linked into the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/shell_complete.h"

/*
 * The compiler runs in the root of the sources; the Makefile names the files.
 */
__asm__(".pushsection .rodata\n"
        ".globl templates_bash, templates_zsh, templates_fish\n"
        "templates_bash: .incbin \"src/command/options/completions/seep.bash\"\n.byte 0\n"
        "templates_zsh: .incbin \"src/command/options/completions/seep.zsh\"\n.byte 0\n"
        "templates_fish: .incbin \"src/command/options/completions/seep.fish\"\n.byte 0\n"
        ".popsection\n");
