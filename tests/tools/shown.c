/* shown.c - every code point as our texts show it, a line each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>

#include "view/sites/enum_words.h"
#include "kit/words/text.h"

static void encode(char text[5], uint32_t c)
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (int i = n; i-- > 1; c >>= 6)
		text[i] = (char)(0x80 | (c & 0x3f));
	text[0] = (char)(n == 1 ? c : first[n] | c);
	text[n] = '\0';
}

int main(void)
{
	for (uint32_t c = 1; c < 0x110000; c++) {
		char text[5];

		if (c >= 0xd800 && c < 0xe000)
			continue; /* halves of pairs: none in UTF-8 */
		encode(text, c);
		text_print(stdout, text);
		(void)putchar('\n');
	}
	return 0;
}
