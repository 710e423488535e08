/* holds_grow - 5,000 notes between larger blocks, which it frees when a line comes: live bytes fall, and held pages of the notes grow. */
/* flags: -O1 -g -fno-builtin */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN static __attribute__((noinline))

enum { COUNT = 5000 };

OWN void *grow_note(void)
{
	void *p = malloc(40);

	return p ? memset(p, 1, 40) : NULL;
}

OWN void *grow_filler(void)
{
	void *p = malloc(4040);

	return p ? memset(p, 1, 4040) : NULL;
}

int main(void)
{
	static void *fillers[COUNT], *notes[COUNT];
	char line[64];

	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (int i = 0; i < COUNT; i++) {
		notes[i] = grow_note();
		fillers[i] = grow_filler();
	}
	if (!notes[COUNT - 1] || write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, line, sizeof(line)) > 0) {
		for (int i = 0; i < COUNT; i++) {
			free(fillers[i]);
			fillers[i] = NULL;
		}
	}
	return 0;
}
