/* dwarf_units.c - which DWARF unit contains the code at an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/debuginfo.h"

#include <dwarf.h>
#include <gelf.h>

#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum { LOOK_BACK = 64 }; /* ranges of units that overlap */

struct units_range {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this one and those before */
	uint32_t unit;
};

bool dwarf_units_is_code(const struct units *u, uint64_t start, uint64_t end)
{
	if (start >= end)
		return false;
	for (size_t i = 0; i < u->code_count; i++)
		if (start >= u->code[i].start && start < u->code[i].end)
			return true;
	return u->code_count == 0;
}

static int find_code(struct units *u, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0 || n == 0)
		return 0;
	u->code = calloc(n, sizeof(*u->code));
	if (!u->code)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		u->code[u->code_count++] =
		    (struct units_range){.start = p.p_vaddr, .end = p.p_vaddr + p.p_memsz};
	}
	return 0;
}

static int add_ranges(struct units *u, uint32_t number)
{
	struct units_unit *unit = &u->list[number];
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(&unit->die, at, &base, &start, &end)) > 0) {
		unit->has_ranges = true;
		if (!dwarf_units_is_code(u, start, end))
			continue;
		if (room_make(&u->ranges, &u->range_room, u->range_count, sizeof(*u->ranges)) < 0)
			return -ENOMEM;
		u->ranges[u->range_count++] =
		    (struct units_range){.start = start, .end = end, .unit = number};
	}
	return 0;
}

BY(by_start, struct units_range, UP(start) ?: UP(unit))

static void sort_ranges(struct units *u)
{
	uint64_t reach = 0;

	if (u->range_count == 0)
		return;
	qsort(u->ranges, u->range_count, sizeof(*u->ranges), by_start);
	for (size_t i = 0; i < u->range_count; i++) {
		if (u->ranges[i].end > reach)
			reach = u->ranges[i].end;
		u->ranges[i].reach = reach;
	}
}

static int add_units(struct units *u, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	Dwarf_Attribute attr;
	uint8_t type;
	Dwarf_Die die, split;

	while (dwarf_get_units(dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
		struct units_unit *more;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (room_make(&u->list, &u->room, u->count, sizeof(*u->list)) < 0)
			return -ENOMEM;
		more = &u->list[u->count++];
		*more = (struct units_unit){.die = die, .split = die};
		more->dir = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attr));
		if (type == DW_UT_skeleton && split.addr)
			more->split = split;
		else if (type == DW_UT_skeleton)
			u->missing++;
		if (add_ranges(u, (uint32_t)(u->count - 1)) < 0)
			return -ENOMEM;
	}
	sort_ranges(u);
	return 0;
}

uint32_t dwarf_units_find(const struct units *u, uint64_t address)
{
	size_t low = sorted_first(u->ranges, u->range_count, x, x->start <= address);
	uint32_t best = UNITS_NONE;

	for (size_t n = 0; low > 0 && n < LOOK_BACK; low--, n++) {
		const struct units_range *r = &u->ranges[low - 1];

		if (r->end > address && r->unit < best)
			best = r->unit;
		if (low == 1 || u->ranges[low - 2].reach <= address)
			break;
	}
	return best;
}

int dwarf_units_init(struct units *u, Dwarf *dwarf, Elf *elf)
{
	int err = find_code(u, elf);

	return err < 0 ? err : add_units(u, dwarf);
}

void dwarf_units_release(struct units *u)
{
	free(u->list);
	free(u->ranges);
	free(u->code);
	*u = (struct units){0};
}
