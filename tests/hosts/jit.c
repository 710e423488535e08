/* jit.c - code made at run time allocates; /tmp/perf-PID.map names it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* sub $8,%rsp; movabs $malloc,%rax; call *%rax; add $8,%rsp; ret */
static const unsigned char code[] = {
    0x48, 0x83, 0xec, 8, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3};

int main(void)
{
	void *(*made)(size_t);
	uint64_t target = (uint64_t)(uintptr_t)malloc;
	unsigned char *page;
	char name[64];
	FILE *map;

	page = mmap(
	    NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	memcpy(page + 6, &target, sizeof(target));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	if (!map)
		return 1;
	fprintf(
	    map, "%lx %zx Lcom/example/Made;::run\n", (unsigned long)(uintptr_t)page, sizeof(code));
	fclose(map);
	made = (void *(*)(size_t))(uintptr_t)page;
	for (int i = 0; i < 10; i++)
		if (!made(12345))
			return 1;
	printf("PID %d\n", (int)getpid());
	return 0;
}
