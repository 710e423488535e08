/* shadow_stacks_are_respected.c - with hardware shadow stacks switched on, no return address of ours or others is changed: exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T59 */
/* flags: -fcf-protection=full */
/* needs: cpu:user_shstk */
/* env: GLIBC_TUNABLES=glibc.cpu.x86_shstk=on:glibc.cpu.hwcaps=SHSTK */
#include "small_host.h"
