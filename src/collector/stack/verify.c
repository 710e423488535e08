/* verify.c - every stack against _Unwind_Backtrace; libseep-verify.so only. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/verify.h"

#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/unwind/guess.h"
#include "collector/stack/outer.h"

enum { FRAMES = 600, DETAILS = 20, LINE = 512 };

struct stack {
	uint64_t pcs[FRAMES];
	uint32_t count;
};

static _Thread_local struct stack theirs, ours __attribute__((tls_model("initial-exec")));
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));
static uint64_t checked, mismatches, truncated, cut, beyond, details;
static char report[DETAILS][LINE];

static _Unwind_Reason_Code collect(struct _Unwind_Context *context, void *arg)
{
	struct stack *s = arg;
	uint64_t pc = _Unwind_GetIP(context);

	if (!pc || s->count == FRAMES)
		return _URC_END_OF_STACK;
	s->pcs[s->count++] = pc;
	return _URC_NO_REASON;
}

static void describe(uint32_t skip, uint32_t common)
{
	uint64_t n = ADD(&details, 1);
	struct fmt f;
	uint32_t i;

	if (n >= DETAILS)
		return;
	fmt_init(&f, report[n], LINE);
	fmt_string(&f, "# ours ");
	fmt_decimal(&f, ours.count);
	fmt_string(&f, " theirs ");
	fmt_decimal(&f, theirs.count - skip);
	fmt_string(&f, " common ");
	fmt_decimal(&f, common);
	fmt_string(&f, " last common, ours, theirs:");
	for (i = common ? common - 1 : 0; i < common + 2 && i < ours.count; i++) {
		fmt_string(&f, " ");
		fmt_hex(&f, ours.pcs[i], 12);
	}
	fmt_string(&f, " |");
	for (i = common; i < common + 2 && skip + i < theirs.count; i++) {
		fmt_string(&f, " ");
		fmt_hex(&f, theirs.pcs[skip + i], 12);
	}
	fmt_string(&f, "\n");
}

/*
 * We may go on where the unwinder ends, at code without unwind information. If
 * so, each frame beyond is one that a call has made.
 */
static bool passes_guess(struct site_id site, uint32_t n)
{
	struct guess g = {.used = 0};
	uint32_t i;

	if (!n || !sites_guessed_after(site, n - 1))
		return false;
	for (i = n; i < ours.count; i++) {
		if (!guess_is_return(&g, ours.pcs[i]))
			return false;
	}
	return true;
}

static void compare(struct site_id site, const struct cpu_frame *c)
{
	uint32_t skip = 0, common = 0, n, i;

	theirs.count = 0;
	_Unwind_Backtrace(collect, &theirs);
	ours.count = sites_frames(site, ours.pcs, FRAMES);
	for (i = 0; i < ours.count; i++)
		ours.pcs[i] = SEG_FRAME_PC(ours.pcs[i]);
	while (skip < theirs.count && theirs.pcs[skip] != c->pc)
		skip++;
	n = theirs.count - skip;
	while (common < n && common < ours.count && ours.pcs[common] == theirs.pcs[skip + common])
		common++;
	ADD(&checked, 1);
	if (common == ours.count && common == n)
		return;
	if (common == ours.count && n > common && sites_root(site) == SITES_NODE_TRUNCATED &&
	    common + 1 >= outer_least_kept()) {
		ADD(&truncated, 1);
		return;
	}
	if (common == ours.count && n > common && sites_root(site) != SITES_NODE_ROOT) {
		ADD(&cut, 1);
		describe(skip, common);
		return;
	}
	if (common == n && passes_guess(site, n)) {
		ADD(&beyond, 1);
		return;
	}
	ADD(&mismatches, 1);
	describe(skip, common);
}

void verify_site(struct site_id site, const struct cpu_frame *c)
{
	if (inside)
		return; /* _Unwind_Backtrace allocates at its first use */
	inside = true;
	compare(site, c);
	inside = false;
}

static void put_count(struct fmt *f, const char *name, uint64_t v)
{
	fmt_string(f, name);
	fmt_decimal(f, v);
}

__attribute__((destructor)) static void verify_report(void)
{
	const char *path = getenv("SEEP_VERIFY_OUT");
	char line[LINE];
	struct fmt f;
	uint64_t i;
	long fd;

	if (!path || !checked)
		return;
	fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	fmt_init(&f, line, sizeof(line));
	put_count(&f, "pid=", (uint64_t)cpu_syscall3(SYS_getpid, 0, 0, 0));
	put_count(&f, " checked=", checked);
	put_count(&f, " mismatches=", mismatches);
	put_count(&f, " truncated=", truncated);
	put_count(&f, " cut=", cut);
	put_count(&f, " beyond=", beyond);
	fmt_string(&f, "\n");
	cpu_syscall3(SYS_write, fd, (long)line, (long)(f.at - line));
	for (i = 0; i < details && i < DETAILS; i++)
		cpu_syscall3(SYS_write, fd, (long)report[i], (long)fmt_length(report[i], LINE));
	sys_close(fd);
}
