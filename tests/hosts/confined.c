/* confined.c - runs a program as a hardened service runs: the settings of a systemd unit, one option each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * confined OPTION... -- CMD [ARG...]
 *   uid=N         User=, DynamicUser=: no groups, no name
 *   nnp           NoNewPrivileges=yes
 *   mdwe          MemoryDenyWriteExecute=yes
 *   kill=FILE     SystemCallFilter=: the numbers in FILE, SIGSYS for others
 *   errno=FILE    the same with SystemCallErrorNumber=EPERM
 *   families      RestrictAddressFamilies=AF_UNIX
 *   write=DIR     landlock: read everywhere, write below DIR only
 * In this order, whatever the order given; exit 99 where one cannot be had.
 */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

enum { CALLS_MAX = 1024 };

static void give_up(const char *what)
{
	fprintf(stderr, "confined: %s: %s\n", what, strerror(errno));
	exit(99);
}

static const char *option(char **words, const char *name)
{
	size_t n = strlen(name);

	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strncmp(*words, name, n) == 0 && ((*words)[n] == '\0' || (*words)[n] == '='))
			return *words + n + ((*words)[n] == '=');
	return NULL;
}

static void install(struct sock_filter *code, size_t n)
{
	struct sock_fprog prog = {.len = (unsigned short)n, .filter = code};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) != 0)
		give_up("seccomp");
}

/* 0 stands for a call that this kernel's headers do not know */
static void allow_only(const char *path, unsigned else_answer)
{
	static struct sock_filter code[2 * CALLS_MAX + 8];
	FILE *f = fopen(path, "re");
	size_t n = 0, calls = 0;
	unsigned number;

	if (!f)
		give_up(path);
	code[n++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[n++] =
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	while (fscanf(f, "%u", &number) == 1 && calls < CALLS_MAX) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		calls++;
	}
	fclose(f);
	if (calls < 100)
		give_up("too few calls");
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, else_answer);
	install(code, n);
}

static void restrict_families(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	install(code, sizeof(code) / sizeof(*code));
}

static void write_below(const char *dir)
{
	const uint64_t reading =
	    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
	const uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
	struct landlock_ruleset_attr attr = {.handled_access_fs = all};
	int set = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	struct landlock_path_beneath_attr rules[] = {
	    {reading, open("/", O_PATH | O_CLOEXEC)},
	    {all, open(dir, O_PATH | O_CLOEXEC)},
	};

	if (set < 0)
		give_up("landlock");
	for (size_t i = 0; i < 2; i++) {
		if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rules[i], 0) !=
		    0)
			give_up("landlock rule");
		close(rules[i].parent_fd);
	}
	if (syscall(SYS_landlock_restrict_self, set, 0) != 0)
		give_up("landlock");
	close(set);
}

static void become(unsigned id)
{
	if (setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id))
		give_up("uid");
}

int main(int argc, char **argv)
{
	char **words = argv + 1, **cmd = words;
	const char *value;

	(void)argc;
	while (*cmd && strcmp(*cmd, "--") != 0)
		cmd++;
	if (!*cmd || !cmd[1])
		give_up("confined OPTION... -- CMD");
	if ((value = option(words, "uid")))
		become((unsigned)atoi(value));
	/* filters without privileges need it anyway */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		give_up("nnp");
	if (option(words, "mdwe") && prctl(PR_SET_MDWE, 1, 0, 0, 0))
		give_up("mdwe");
	if ((value = option(words, "write")))
		write_below(value);
	if (option(words, "families"))
		restrict_families();
	if ((value = option(words, "kill")))
		allow_only(value, SECCOMP_RET_KILL_PROCESS);
	if ((value = option(words, "errno")))
		allow_only(value, SECCOMP_RET_ERRNO | EPERM);
	execv(cmd[1], cmd + 1);
	give_up(cmd[1]);
}
