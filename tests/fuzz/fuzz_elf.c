/* fuzz_elf.c - any bytes as a program that record looks at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/program/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"malloc", "free", "__asan_init"};
	int fd = memfd_create("program", MFD_CLOEXEC);
	size_t bytes = 0;
	struct elf_sections sections;
	char versions[256];
	struct elf e;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort(); /* the fuzzer's own trouble */
	if (elf_init(&e, fd) < 0)
		return 0;
	/* every text has its end */
	bytes += strlen(e.interpreter) + strlen(e.soname) + strlen(e.runpath);
	for (size_t i = 0; i < e.needed_count; i++)
		bytes += strlen(e.needed[i]);
	if (bytes > (ELF_NEEDED_MAX + 3) * ELF_PATH_BYTES || (e.needed_count > 0 && !e.native))
		abort();
	if (elf_defines(&e, names, 3, true) >> 3 != 0)
		abort();
	(void)elf_defines(&e, names, 3, false);
	elf_sections(&e, &sections);
	bytes = elf_versions(&e, true, versions, sizeof(versions));
	if (bytes > sizeof(versions) || (bytes > 0 && versions[bytes - 1]))
		abort();
	bytes = elf_versions(&e, false, versions, sizeof(versions));
	if (bytes > sizeof(versions) || (bytes > 0 && versions[bytes - 1]))
		abort();
	elf_release(&e);
	return 0;
}
