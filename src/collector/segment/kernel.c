/* kernel.c - what the collector asks the kernel when a process starts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/kernel.h"

#include <sys/auxv.h>
#include <sys/resource.h>

#include "base/sys.h"
#include "collector/segment/loader.h"

enum { NO_SUCH_ADVICE = 9999, NON_BLOCKING = 1 /* GRND_NONBLOCK */ };

struct kernel kernel;

void kernel_probe(void)
{
	void *p =
	    sys_mmap(NULL, CPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	kernel = (struct kernel){false, false, false};
	if (sys_failed(p))
		return;
	kernel.honest = sys_madvise(p, CPU_PAGE, NO_SUCH_ADVICE) != 0;
	kernel.wipe = sys_madvise(p, CPU_PAGE, MADV_WIPEONFORK) == 0;
	kernel.populate = sys_madvise(p, CPU_PAGE, MADV_POPULATE_WRITE) == 0;
	sys_munmap(p, CPU_PAGE);
}

unsigned long kernel_auxval(unsigned long type)
{
	static unsigned long (*get)(unsigned long);

	if (!get)
		get = (unsigned long (*)(unsigned long))loader_libc("getauxval");
	if (!get)
		get = getauxval; /* of another libc */
	return get(type);
}

uint64_t kernel_limit(int which)
{
	struct rlimit r;

	if (sys_call(SYS_prlimit64, 0, which, 0, (long)&r) != 0)
		return RLIM_INFINITY;
	return r.rlim_cur;
}

bool kernel_allows_file(uint64_t bytes)
{
	return bytes <= kernel_limit(RLIMIT_FSIZE);
}

uint32_t kernel_pid(long call)
{
	long pid = cpu_syscall3(call, 0, 0, 0);

	return pid > 0 ? (uint32_t)pid : 0;
}

void kernel_random(void *to, uint64_t bytes)
{
	long n = cpu_syscall3(SYS_getrandom, (long)to, (long)bytes, NON_BLOCKING);
	uint8_t *b = to;
	uint64_t x;
	uint64_t i;

	if (n == (long)bytes)
		return;
	/* early boot: the bytes must differ, but may be guessed */
	x = (uint64_t)cpu_syscall3(SYS_getpid, 0, 0, 0) << 32;
	x ^= cpu_cycles() ^ (uint64_t)(uintptr_t)to;
	for (i = 0; i < bytes; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		b[i] = (uint8_t)(x >> 56);
	}
}

long kernel_read_file(const char *path, char *to, size_t bytes)
{
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n;

	to[0] = 0;
	if (fd < 0)
		return -1;
	n = sys_read(fd, to, bytes - 1);
	sys_close(fd);
	if (n < 0)
		return -1;
	to[n] = 0;
	return n;
}
