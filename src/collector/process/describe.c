/* describe.c - what the header of a segment says about its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/hash.h"
#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/heap/resizing.h"
#include "collector/segment/kernel.h"
#include "collector/heap/blocks.h"
#include "collector/log/log.h"
#include "collector/segment/mem.h"
#include "collector/segment/place.h"
#include "collector/event/mapping.h"
#include "collector/segment/tick.h"

/* Empty if it is not known, too long, or outside of our root directory. */
static void working_dir(char *to, uint64_t bytes)
{
	if (sys_call(SYS_getcwd, (long)to, (long)bytes, 0, 0) <= 0 || to[0] != '/')
		to[0] = 0;
}

/*
 * The name that exec was given, relative to the working directory, which has
 * not changed yet. Needed if there is no /proc, or if the path is longer than
 * /proc can say. The working directory is not known either in that last case,
 * and only the relative name remains.
 */
static void exe_without_proc(char to[DESCRIBE_PATH_BYTES])
{
	const char *name = (const char *)kernel_auxval(AT_EXECFN);
	uint64_t at = 0;
	struct fmt f;

	to[0] = 0;
	if (!name)
		return;
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	if (name[0] != '/') {
		working_dir(to, DESCRIBE_PATH_BYTES);
		at = fmt_length(to, DESCRIBE_PATH_BYTES);
	}
	fmt_init(&f, to + at, DESCRIBE_PATH_BYTES - at);
	if (at)
		fmt_string(&f, "/");
	fmt_string(&f, name);
	if (!f.ok)
		to[0] = 0;
}

/*
 * In "ld.so PROGRAM" the kernel has executed the loader, and /proc says so. There
 * is no other loader then, and glibc has put PROGRAM in place of its own name.
 */
static bool is_run_by_loader(void)
{
	return kernel_auxval(AT_BASE) == 0;
}

void describe_exe(char to[DESCRIBE_PATH_BYTES])
{
	long n;

	if (is_run_by_loader()) {
		exe_without_proc(to);
		if (to[0])
			return;
	}
	n = sys_readlink("/proc/self/exe", to, DESCRIBE_PATH_BYTES - 1);
	if (n > 0)
		to[n] = 0;
	else
		exe_without_proc(to);
}

/* Keeps the end of a path that does not fit, behind "...". */
static void copy_path(char *to, uint64_t bytes, const char *path)
{
	uint64_t n = fmt_length(path, DESCRIBE_PATH_BYTES), at;
	struct fmt f;

	fmt_init(&f, to, bytes);
	at = n < bytes ? 0 : n - (bytes - sizeof("..."));
	while (at && at < n && path[at] != '/')
		at++;
	if (at)
		fmt_string(&f, "...");
	fmt_string(&f, path + at);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void describe_boot(struct seg_header *h)
{
	char text[48];
	uint32_t n = 0;
	char *c;

	kernel_read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (c = text; *c && n < 32; c++) {
		int d = hex_digit(*c);

		if (d < 0)
			continue;
		h->boot_id[n / 2] = (uint8_t)(h->boot_id[n / 2] << 4 | (uint8_t)d);
		n++;
	}
}

/* Field 22 of /proc/self/stat; the name in field 2 may contain anything. */
static uint64_t start_jiffies(void)
{
	char text[1024];
	long n = kernel_read_file("/proc/self/stat", text, sizeof(text));
	const char *end = text + (n > 0 ? n : 0);
	const char *c = end;
	uint64_t v = 0;
	int field = 2;

	while (c > text && *c != ')')
		c--;
	while (c < end && field < 22) {
		if (*c++ == ' ')
			field++;
	}
	fmt_scan_decimal(c, end, &v);
	return v;
}

void describe_process(struct seg_header *h, char **argv, const char *exe)
{
	struct stat st;
	uint64_t at = 0;

	h->pid = kernel_pid(SYS_getpid);
	h->ppid = kernel_pid(SYS_getppid);
	if (sys_call(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)&st, 0) == 0)
		h->pid_ns = st.st_ino;
	h->start_jiffies = start_jiffies();
	describe_boot(h);
	copy_path(h->exe, sizeof(h->exe), exe);
	working_dir(h->start_dir, sizeof(h->start_dir));
	for (; argv && *argv; argv++) {
		uint64_t n = fmt_length(*argv, SEG_COMMAND_BYTES);

		if (at + n + 2 > SEG_COMMAND_BYTES) {
			h->command_truncated = 1;
			break;
		}
		memcpy(h->command + at, *argv, n);
		at += n + 1;
	}
}

void describe_place(struct seg_header *h)
{
	if (place_asked.why == SEG_PLACE_FINE) {
		if (config.dir_replaced) { /* too long to be looked at */
			h->place_refused = SEG_PLACE_MISSING;
			h->place_detail = ENAMETOOLONG;
		}
		return;
	}
	h->place_refused = place_asked.why;
	h->place_detail = place_asked.detail;
	h->place_setting = place_asked.is_base ? SEG_SETTING_BASE : SEG_SETTING_DIR;
	copy_path(h->place_asked, sizeof(h->place_asked), place_asked.dir);
}

void describe_child(
    struct seg_header *h, const struct seg_header *parent, uint32_t pid, uint32_t number)
{
	/* not the cycle counter: a process may be forbidden to read it */
	uint64_t mix =
	    hash_mix(cpu_thread_pointer() ^ tick_realtime(false), (uint64_t)number << 32 | pid);
	int i;

	/* what was true before the fork, from private memory */
	memcpy(h->parent_uuid, parent->uuid, 16);
	memcpy(h->grandparent_uuid, parent->parent_uuid, 16);
	h->parent_first_id = parent->first_id;
	for (i = 0; i < 16; i++) {
		mix = hash_mix(mix, parent->uuid[i] + (uint64_t)i);
		h->uuid[i] = (uint8_t)(mix >> 40);
	}
	memcpy(h->boot_id, parent->boot_id, sizeof(h->boot_id));
	memcpy(h->session, parent->session, sizeof(h->session));
	memcpy(h->exe, parent->exe, sizeof(h->exe));
	memcpy(h->start_dir, parent->start_dir, sizeof(h->start_dir));
	memcpy(h->command, parent->command, sizeof(h->command));
	h->command_truncated = parent->command_truncated;
	h->place_refused = parent->place_refused;
	h->place_detail = parent->place_detail;
	h->place_setting = parent->place_setting;
	memcpy(h->place_asked, parent->place_asked, sizeof(h->place_asked));
	h->pid_ns = parent->pid_ns;
	h->sequence = parent->sequence + 1;
	h->ppid = parent->pid;
	h->pid = pid;
	h->medium = parent->medium;
	h->sample_bytes = parent->sample_bytes;
}

void describe_memory(struct seg_header *h)
{
	h->live_root = (uint64_t)(uintptr_t)live_root;
	h->live_root_bits = CELL_ROOT_BITS;
	h->live_mid_bits = CELL_MID_BITS;
	h->live_leaf_bits = CELL_LEAF_BITS;
	h->live_granule_bits = (uint8_t)live_granule_bits;
	h->live_cell_version = log_is_on ? CELL_VERSION_LOG : CELL_VERSION;
	h->spill_root = (uint64_t)(uintptr_t)blocks_spill_levels;
	h->ignored_root = (uint64_t)(uintptr_t)ignored_levels;
	h->moving_root = (uint64_t)(uintptr_t)&resizing_first;
	if (config.mappings)
		h->mapped_root = (uint64_t)(uintptr_t)ranges_root;
	h->ours_table = (uint64_t)(uintptr_t)ours_table;
	h->ours_entries = OWN_MEMORY_MAX;
	h->control_address = (uint64_t)(uintptr_t)place.control;
}

void describe_slots(struct seg_header *h, const struct slots *s, uint64_t segment_bytes)
{
	if (!s->count)
		return;
	h->slots_offset = segment_bytes;
	h->slot_bytes = s->large_bytes;
	h->slot_count = s->count;
}
