/* elf_parts.h - what the files of elf.h share: bounded reading of an ELF file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ELF_PARTS_H
#define SEEP_ELF_PARTS_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/program/elf.h"

/* 0, or -EBADMSG if [offset, offset + len) is not in the file. */
int elf_read_at(const struct elf *e, void *to, size_t len, uint64_t offset);

/* The header of a section. -EBADMSG: there is none of this number. */
int elf_read_section(const struct elf *e, unsigned index, Elf64_Shdr *ret);

#endif
