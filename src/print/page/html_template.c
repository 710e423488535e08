/* html_template.c - the page without data, built from web/. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/page/html.h"

/*
 * With .incbin this compiles in a tenth of a second, where an array of numbers
 * takes several, and the bytes are read-only data; `make web` builds the file.
 */
/* clang-format off: one directive a line */
__asm__(".pushsection .rodata.html_template, \"a\", @progbits\n"
        ".globl html_template\n"
        ".type html_template, @object\n"
        "html_template:\n"
        ".incbin \"web/dist/report.html\"\n"
        ".byte 0\n"
        ".size html_template, . - html_template\n"
        ".popsection\n");
/* clang-format on */
