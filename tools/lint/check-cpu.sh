#!/bin/bash
# check-cpu.sh - what depends on the CPU is in src/base/cpu: no other file names a
# CPU, a register of it, or a system call that only older CPUs have.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

bad=0
refuse() { # WHAT PATTERN
	if grep -rnE --include='*.[ch]' "$2" src | grep -v '^src/base/cpu/'; then
		echo "the lines above name $1; that belongs into src/base/cpu" >&2
		bad=1
	fi
}

refuse "a CPU" \
	'__(x86_64|i386|aarch64|arm|riscv|powerpc64|s390x)__|\b(EM|AUDIT_ARCH)_(X86_64|AARCH64|386|I386|ARM|RISCV|PPC64|S390X?)\b|x86_64-linux'
refuse "a register" \
	'\b[re](ax|bx|cx|dx|si|di|bp|sp|ip)\b|\br(8|9|1[0-5])\b|\b[xyz]mm[0-9]|\bREG_(R[A-Z0-9]{1,2}|EFL|CR2)\b|%[fg]s\b'
# the kernel's table for new CPUs has the *at forms and their like only; the
# jail traps two of them by name where they exist
refuse "a system call that newer CPUs lack" \
	'\b(SYS|__NR)_(mkdir|rmdir|stat|lstat|access|dup2|pipe|unlink|rename|link|symlink|chmod|chown|lchown|creat|fork|vfork|getdents|epoll_create|epoll_wait|poll|select|time|utime|utimes|alarm|pause|signalfd|eventfd|inotify_init|mknod|getpgrp|arch_prctl)\b'
if grep -rnE --include='*.[ch]' '\bSYS_(open|readlink)\b' src |
	grep -vE '^src/names/jail/(jail|trap)\.c:'; then
	echo "the lines above name a system call that newer CPUs lack; use its *at form" >&2
	bad=1
fi
refuse "the first glibc of a CPU" 'GLIBC_2\.2\.5'

exit $bad
