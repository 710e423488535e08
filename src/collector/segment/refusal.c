/* refusal.c - a process that could not be traced leaves a line that says so. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/refusal.h"

#include <stdint.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/segment/kernel.h"
#include "format/format.h"

static const char *word_of(enum refusal why)
{
	switch (why) {
	case REFUSAL_FILE_SYSTEM:
		return "file-system";
	case REFUSAL_TOO_MANY_FILES:
		return "too-many-files";
	case REFUSAL_NO_SPACE:
		return "no-space";
	default:
		return "no-file";
	}
}

void refusal_note(long dir, enum refusal why)
{
	char line[SEG_SESSION_BYTES + 96], comm[17] = "";
	struct stat st;
	struct fmt f;
	long fd = sys_openat(dir, SEG_REFUSED_NAME,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	sys_call(SYS_prctl, 16 /* PR_GET_NAME */, (long)comm, 0, 0);
	fmt_init(&f, line, sizeof(line));
	fmt_string(&f, config.session[0] ? config.session : "-");
	fmt_string(&f, " ");
	fmt_decimal(&f, (uint64_t)cpu_syscall3(SYS_getpid, 0, 0, 0));
	fmt_string(&f, " ");
	fmt_string(&f, word_of(why));
	fmt_string(&f, " ");
	fmt_string(&f, comm);
	fmt_string(&f, "\n");
	if (f.ok && sys_call(SYS_fstat, fd, (long)&st, 0, 0) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size < SEG_REFUSED_BYTES &&
	    kernel_allows_file((uint64_t)st.st_size + sizeof(line)))
		cpu_syscall3(SYS_write, fd, (long)line, f.at - line);
	sys_close(fd);
}
