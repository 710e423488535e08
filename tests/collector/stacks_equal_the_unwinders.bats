#!/usr/bin/env bats
# stacks_equal_the_unwinders - stacks equal those of libgcc's unwinder (the long form is make verify).
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "stacks of hostile and real programs equal _Unwind_Backtrace's" {
	[[ -e $BUILD/libseep-verify.so ]] || lacking "build/libseep-verify.so"
	SEEP_BUILD=$BUILD "$LIB/verify_programs.sh" ${SEEP_FULL:+full}
}
