/* place_words.c - why the directory that was asked for was not used. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/place_words.h"

#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *file_system(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} known[] = {
	    {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
	    {NFS_SUPER_MAGIC, "NFS"},
	    {BTRFS_SUPER_MAGIC, "btrfs"},
	    {FUSE_SUPER_MAGIC, "FUSE"},
	    {V9FS_MAGIC, "9p"},
	    {0x2fc12fc1, "ZFS"},
	    {EXT4_SUPER_MAGIC, "ext4"},
	    {XFS_SUPER_MAGIC, "XFS"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type)
			return known[i].name;
	return NULL;
}

static void print_file_system(const char *path, uint32_t type, char *text, size_t bytes)
{
	const char *name = file_system(type);
	char number[32];

	(void)snprintf(number, sizeof(number), "a file system of type %#x", (unsigned)type);
	(void)snprintf(text, bytes, "%s is on %s, where a store to memory may stall the program",
	    path, name ? name : number);
}

bool place_words(const struct seg_header *h, char *text, size_t bytes)
{
	const char *path = h->place_asked[0] ? h->place_asked : "(a long path)";
	uint32_t detail = h->place_detail;
	int error = detail <= INT32_MAX ? (int)detail : 0;

	switch (h->place_refused) {
	case SEG_PLACE_FINE:
		return false;
	case SEG_PLACE_MISSING:
	case SEG_PLACE_CLOSED:
		(void)snprintf(text, bytes, "%s cannot be opened: %s", path, strerror(error));
		break;
	case SEG_PLACE_OWNER:
		(void)snprintf(text, bytes, "%s belongs to uid %u", path, (unsigned)detail);
		break;
	case SEG_PLACE_SHARED:
		(void)snprintf(text, bytes, "%s can be written by others (mode %04o)", path,
		    (unsigned)detail & 07777);
		break;
	case SEG_PLACE_NO_DIRECTORY:
		(void)snprintf(text, bytes, "%s is not a directory", path);
		break;
	case SEG_PLACE_FILE_SYSTEM:
		print_file_system(path, detail, text, bytes);
		break;
	case SEG_PLACE_FILES:
		(void)snprintf(text, bytes, "%s has too many files (seep ls --prune)", path);
		break;
	case SEG_PLACE_ROOM:
		(void)snprintf(text, bytes, "%s has too little room", path);
		break;
	case SEG_PLACE_NO_FILE:
		(void)snprintf(text, bytes, "%s: no file could be made there", path);
		break;
	default:
		(void)snprintf(text, bytes, "%s: for a reason unknown to this seep", path);
	}
	return true;
}

const char *place_words_setting(const struct seg_header *h)
{
	return h->place_setting == SEG_SETTING_BASE ? "SEEP_BASE" : "SEEP_DIR";
}

const char *place_words_reason(uint32_t why)
{
	static const char *const words[] = {
	    [SEG_PLACE_MISSING] = "missing",
	    [SEG_PLACE_OWNER] = "owner",
	    [SEG_PLACE_SHARED] = "shared",
	    [SEG_PLACE_NO_DIRECTORY] = "no_directory",
	    [SEG_PLACE_CLOSED] = "closed",
	    [SEG_PLACE_FILE_SYSTEM] = "file_system",
	    [SEG_PLACE_FILES] = "too_many_files",
	    [SEG_PLACE_ROOM] = "no_room",
	    [SEG_PLACE_NO_FILE] = "no_file",
	};

	return why < sizeof(words) / sizeof(words[0]) && words[why] ? words[why] : "unknown";
}
