/* code.h - x86-64: what the bytes around a return address say. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CODE_H
#define SEEP_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/* How many bytes before and at a return address are looked at. */
enum { CPU_CALL_BYTES = 7, CPU_EPILOGUE_BYTES = 5 };

/*
 * A function with a frame pointer begins with push and mov: the frame pointer
 * of its caller is where its own points to, below its return address.
 */
enum { CPU_FP_CFA = 16 };

/*
 * The length of `call *...` by its byte behind the opcode ff and the one after
 * that; 0 if it is another instruction. A prefix is not counted.
 */
SEEP_INLINE uint32_t cpu_indirect_call_bytes(uint8_t modrm, uint8_t sib)
{
	uint32_t mod = modrm >> 6, rm = modrm & 7, bytes = 2;

	if ((modrm & 0x38) != 0x10)
		return 0;
	if (mod == 3)
		return 2;
	if (rm == 4) {
		bytes++;
		if (mod == 0 && (sib & 7) == 5)
			return bytes + 4;
	} else if (mod == 0 && rm == 5) {
		return bytes + 4;
	}
	return bytes + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Do the n bytes before `end` end with a call instruction? */
SEEP_INLINE bool cpu_follows_call(const uint8_t *end, uint32_t n)
{
	uint32_t i;

	if (n >= 5 && end[-5] == 0xe8)
		return true;
	for (i = 2; i <= n && i <= CPU_CALL_BYTES; i++) {
		if (end[-(int)i] == 0xff &&
		    cpu_indirect_call_bytes(end[1 - (int)i], i > 2 ? end[2 - (int)i] : 0) == i)
			return true;
	}
	return false;
}

enum cpu_epilogue {
	CPU_EPILOGUE_NONE,
	CPU_EPILOGUE_SP,     /* CFA = sp + cfa */
	CPU_EPILOGUE_POP_FP, /* the same, the caller's fp is at CFA - 16 */
	CPU_EPILOGUE_FP,     /* the frame pointer rule */
};

/* Are the n bytes at `code` the end of a function? *ret_cfa: its CFA. */
SEEP_INLINE enum cpu_epilogue cpu_epilogue(const uint8_t *code, uint32_t n, int32_t *ret_cfa)
{
	enum { RET = 0xc3, LEAVE = 0xc9, POP_FP = 0x5d };

	/* add $N,%rsp; ret: N is a signed byte */
	if (n >= 5 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 && code[3] < 0x80 &&
	    code[3] % 8 == 0 && code[4] == RET) {
		*ret_cfa = code[3] + 8;
		return CPU_EPILOGUE_SP;
	}
	if (n >= 1 && code[0] == RET) {
		*ret_cfa = 8;
		return CPU_EPILOGUE_SP;
	}
	if (n >= 2 && code[0] == POP_FP && code[1] == RET) {
		*ret_cfa = 16;
		return CPU_EPILOGUE_POP_FP;
	}
	if (n >= 2 && code[0] == LEAVE && code[1] == RET)
		return CPU_EPILOGUE_FP;
	return CPU_EPILOGUE_NONE;
}

#endif
