/* witness.c - runs a command and notes, from outside, what each of its processes was at its end. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -std=gnu11 -D_GNU_SOURCE */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "witness_state.h"

/*
 * witness [OPTION...] CMD [ARG...]
 *   -r FILE   the report, one block per process, in the order of their ends:
 *               P exe / S exited|killed N / T threads started / C children
 *               F fd flags target / X other lines / .
 *             A process that ended too fast to be looked at has no F and X.
 *   -t EXE    look through this program: `seep record` is not the host
 *   -l LIB    count the system calls made by code of LIB: "L number name"
 *   -n N      of these calls, the N-th (1, 2, ...) fails ...
 *   -e ERRNO  ... with this number (default: one that fits the call)
 *   -a        ... and so do all after it
 *   -k N      SIGKILL instead, before the N-th call
 *   -d MS     every call of LIB takes so much longer: a slow medium
 *
 * Nothing is injected into the command: ptrace, which shows descriptors,
 * masks, threads and children of any program just before it ends. The exit
 * status is the command's, 128 + N if a signal N ended it, 125 our own.
 */
enum { TASKS_MAX = 8192, LOOKS_MAX = 400 };

struct proc {
	pid_t pid;
	bool used, through;
	char exe[PATH_MAX];
	unsigned threads, children; /* ever started */
	unsigned live;              /* tasks */
	unsigned looks;             /* for LIB, in vain */
	unsigned long lo, hi;       /* of LIB's code */
	char *state;
};

struct task {
	pid_t tid;
	struct proc *proc;
	bool known; /* its parent has told of it */
	bool held;  /* stopped before that: it must not end unseen */
	int fail;   /* errno to put in its place when the call returns */
};

static struct proc procs[TASKS_MAX];
static struct task tasks[TASKS_MAX];
static unsigned task_count;
static FILE *report;
static const char *lib, *through;
static long fail_at, kill_at, fail_errno, delay_ms, calls;
static bool fail_on;

static void die(const char *what)
{
	fprintf(stderr, "witness: %s: %s\n", what, strerror(errno));
	exit(125);
}

static struct proc *proc_of(pid_t pid)
{
	struct proc *spare = NULL;

	for (unsigned i = 0; i < TASKS_MAX; i++) {
		if (procs[i].used && procs[i].pid == pid)
			return &procs[i];
		if (!procs[i].used && !spare)
			spare = &procs[i];
	}
	if (!spare)
		die("too many processes");
	*spare = (struct proc){.pid = pid, .used = true};
	state_exe(pid, spare->exe, sizeof(spare->exe));
	spare->through = through && !strcmp(spare->exe, through);
	return spare;
}

static struct task *task_of(pid_t tid)
{
	for (unsigned i = 0; i < task_count; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	if (task_count == TASKS_MAX)
		die("too many threads");
	int tgid = state_tgid(tid);
	struct task *t = &tasks[task_count++];

	*t = (struct task){.tid = tid, .proc = proc_of(tgid > 0 ? tgid : tid)};
	t->proc->live++;
	return t;
}

static void forget(struct task *t)
{
	t->proc->live--;
	*t = tasks[--task_count];
}

static void tell(struct proc *p, int status)
{
	if (report && !p->through) {
		fprintf(report, "P %s\nS %s %d\nT %u\nC %u\n", p->exe,
		    WIFSIGNALED(status) ? "killed" : "exited",
		    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), p->threads,
		    p->children);
		if (p->state)
			fputs(p->state, report);
		fputs(".\n", report);
	}
	free(p->state);
	p->state = NULL;
	p->used = false;
}

/* A number that this call may well answer with. */
static int likely_error(long nr)
{
	switch (nr) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_madvise:
		return ENOMEM;
	case SYS_openat:
		return EMFILE;
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_pwrite64:
	case SYS_mkdirat:
		return ENOSPC;
	case SYS_read:
		return EIO;
	case SYS_getrandom:
		return EAGAIN;
	default:
		return EPERM;
	}
}

static bool is_of_lib(struct proc *p, unsigned long pc)
{
	if (!p->hi && p->looks < LOOKS_MAX) {
		p->looks++;
		if (!state_find_code(p->pid, lib, &p->lo, &p->hi))
			p->hi = 0;
	}
	return p->hi && pc >= p->lo && pc < p->hi;
}

static void on_call(struct task *t)
{
	struct user_regs_struct r;
	struct iovec io = {&r, sizeof(r)};
	struct __ptrace_syscall_info info = {0};

	/* entries and exits cannot be counted: after exec the first is an exit */
	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, (void *)sizeof(info), &info) < 0 ||
	    ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &io) < 0)
		return;
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY) {
		if (!t->fail)
			return;
		r.rax = (unsigned long)-(long)t->fail;
		t->fail = 0;
		ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &io);
		return;
	}
	if (!is_of_lib(t->proc, r.rip))
		return;
	calls++;
	if (report)
		fprintf(report, "L %ld %lld\n", calls, (long long)r.orig_rax);
	if (delay_ms) {
		struct timespec nap = {delay_ms / 1000, delay_ms % 1000 * 1000000};

		nanosleep(&nap, NULL);
	}
	if (calls == kill_at)
		kill(t->proc->pid, SIGKILL);
	if (calls != fail_at && !(fail_on && calls > fail_at))
		return;
	t->fail = fail_errno ? (int)fail_errno : likely_error((long)r.orig_rax);
	r.orig_rax = (unsigned long)-1;
	ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &io);
}

static void on_exec(struct task *t)
{
	struct proc *p = t->proc;

	/* the other threads are gone, whoever called it is now the first */
	for (unsigned i = 0; i < task_count;) {
		if (tasks[i].proc == p && tasks[i].tid != p->pid)
			forget(&tasks[i]);
		else
			i++;
	}
	state_exe(p->pid, p->exe, sizeof(p->exe));
	p->lo = p->hi = p->looks = 0;
	if (p->through) /* from here on it is the host */
		p->threads = p->children = 0;
	p->through = through && !strcmp(p->exe, through);
}

static void let_go(struct task *t)
{
	t->known = true;
	if (t->held)
		ptrace(lib ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL, NULL);
	t->held = false;
}

static void on_event(struct task *t, int event)
{
	unsigned long other = 0;
	struct proc *p = t->proc;

	ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &other);
	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: {
		struct task *born = task_of((pid_t)other);
		struct proc *new_proc = born->proc;

		let_go(born);
		if (new_proc == p) {
			p->threads++;
			break;
		}
		p->children++;
		new_proc->through = p->through;
		new_proc->lo = p->lo;
		new_proc->hi = p->hi;
		break;
	}
	case PTRACE_EVENT_EXEC:
		on_exec(t);
		break;
	case PTRACE_EVENT_EXIT:
		/* the last look is the one that counts */
		if (!report || p->through || (p->live > 1 && t->tid != p->pid && p->state))
			break;
		free(p->state);
		p->state = state_take(p->pid, t->tid);
		break;
	default:
		break;
	}
}

/* Returns how to go on: the request, and the signal to deliver with it. */
static int on_stop(struct task *t, int status, int *ret_signal)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	int go = lib ? PTRACE_SYSCALL : PTRACE_CONT;

	*ret_signal = 0;
	if (event == PTRACE_EVENT_STOP) {
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
			return PTRACE_LISTEN; /* it stays stopped, as bare */
		t->held = !t->known;
		if (t->held)
			return 0;
	} else if (event) {
		on_event(t, event);
	} else if (sig == (SIGTRAP | 0x80)) {
		on_call(t);
	} else {
		*ret_signal = sig;
	}
	return go;
}

static void on_end(pid_t pid, int status)
{
	for (unsigned i = 0; i < task_count; i++) {
		struct proc *p = tasks[i].proc;

		if (tasks[i].tid != pid)
			continue;
		forget(&tasks[i]);
		if (p->pid == pid)
			tell(p, status);
		break;
	}
	/* a parent that was killed tells of nobody any more */
	for (unsigned i = 0; WIFSIGNALED(status) && i < task_count; i++)
		let_go(&tasks[i]);
}

static int watch(pid_t command)
{
	int result = 125, status, sig;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid <= 0)
			continue;
		if (WIFSTOPPED(status)) {
			struct task *t = task_of(pid);
			int go = on_stop(t, status, &sig);

			if (go)
				ptrace(go, pid, NULL, (void *)(long)sig);
			continue;
		}
		on_end(pid, status);
		if (pid == command)
			result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return result;
}

static pid_t start(char **argv)
{
	long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL |
	    (lib ? PTRACE_O_TRACESYSGOOD : 0);
	int gate[2];
	char byte;

	if (pipe2(gate, O_CLOEXEC) < 0)
		die("pipe");
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 1)
			_exit(125);
		execvp(argv[0], argv);
		fprintf(stderr, "witness: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(gate[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) < 0) {
		kill(pid, SIGKILL);
		die("ptrace");
	}
	task_of(pid)->known = true;
	if (write(gate[1], "", 1) != 1)
		die("write");
	close(gate[1]);
	return pid;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+r:t:l:n:e:k:d:a")) != -1) {
		switch (c) {
		case 'r':
			report = fopen(optarg, "we");
			if (!report)
				die(optarg);
			break;
		case 't':
			through = realpath(optarg, NULL);
			break;
		case 'l':
			lib = realpath(optarg, NULL);
			break;
		case 'n':
			fail_at = atol(optarg);
			break;
		case 'e':
			fail_errno = atol(optarg);
			break;
		case 'k':
			kill_at = atol(optarg);
			break;
		case 'a':
			fail_on = true;
			break;
		case 'd':
			delay_ms = atol(optarg);
			break;
		default:
			return 125;
		}
	}
	if (optind >= argc) {
		fputs("usage: witness [OPTION...] CMD [ARG...]\n", stderr);
		return 125;
	}
	int status = watch(start(argv + optind));

	if (report && fclose(report) != 0)
		die("report");
	return status;
}
