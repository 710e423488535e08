/* test_smaps.c - the mappings of a process and what is resident of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "host/proc/roots.h"

static struct smaps parsed(const char *text, char **ret_text)
{
	struct smaps s;

	*ret_text = strdup(text);
	assert_non_null(*ret_text);
	assert_int_equal(smaps_parse(*ret_text, &s), 0);
	return s;
}

TEST(fields_belong_to_the_mapping_above_them)
{
	char *text;
	struct smaps s = parsed("55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0    [heap]\n"
	                        "Size:                132 kB\n"
	                        "Rss:                  12 kB\n"
	                        "AnonHugePages:         4 kB\n"
	                        "Swap:                  8 kB\n"
	                        "SwapPss:               8 kB\n"
	                        "VmFlags: rd wr mr mw me ac\n"
	                        "7f0000000000-7f0000001000 r--p 00000000 fe:01 77   /usr/lib/a b\n"
	                        "Rss:                   4 kB\n",
	    &text);

	assert_int_equal(s.count, 2);
	assert_int_equal(s.at[0].kind, SMAPS_HEAP);
	assert_int_equal(s.at[0].rss, 12 * 1024);
	assert_int_equal(s.at[0].swap, 8 * 1024);
	assert_int_equal(s.at[0].huge, 4 * 1024);
	assert_int_equal(s.at[1].kind, SMAPS_FILE);
	assert_string_equal(s.at[1].name, "/usr/lib/a b");
	assert_int_equal(s.at[1].rss, 4096);
	assert_ptr_equal(smaps_at(&s, 0x55d0c0000fff), &s.at[0]);
	assert_null(smaps_at(&s, 0x55d0c0021000));
	smaps_release(&s);
	free(text);
}

TEST(data_belongs_to_the_code_of_the_same_file)
{
	char *text;
	struct smaps s = parsed("1000-2000 r--p 00000000 fe:01 77 /lib/x.so\n"
	                        "2000-3000 r-xp 00000000 fe:01 77 /lib/x.so\n"
	                        "3000-4000 rw-p 00000000 fe:01 77 /lib/x.so\n"
	                        "4000-5000 rw-p 00000000 fe:02 77 /data/other\n"
	                        "5000-6000 rw-s 00000000 fe:01 77 /lib/x.so\n"
	                        "6000-7000 r-xp 00000000 fe:01 78 /opt/libseep.so\n"
	                        "7000-8000 r-xp 00000000 fe:01 79 /opt/libseep-cxx.so (deleted)\n"
	                        "8000-9000 r-xp 00000000 fe:01 80 /opt/libseepage.so\n"
	                        "9000-a000 r-xp 00000000 00:00 0 [vdso]\n",
	    &text);
	static const uint32_t expected[] = {SMAPS_MODULE, SMAPS_MODULE, SMAPS_MODULE, SMAPS_FILE,
	    SMAPS_FILE, SMAPS_COLLECTOR, SMAPS_COLLECTOR, SMAPS_MODULE, SMAPS_MODULE};

	assert_int_equal(s.count, 9);
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.at[i].kind, expected[i]);
	smaps_release(&s);
	free(text);
}

TEST(memory_above_a_guard_page_is_a_stack)
{
	char *text;
	struct smaps s = parsed("7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
	                        "7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
	                        /* an arena of glibc, its reserve, and the next arena */
	                        "7f0004000000-7f0004100000 rw-p 00000000 00:00 0 \n"
	                        "7f0004100000-7f0008000000 ---p 00000000 00:00 0 \n"
	                        "7f0008000000-7f0008100000 rw-p 00000000 00:00 0 \n"
	                        "7f0010000000-7f0010001000 rw-p 00000000 00:00 0 [anon:my stack]\n"
	                        "7ff000000000-7ff000001000 rw-p 00000000 00:00 0 [stack]\n",
	    &text);
	static const uint32_t expected[] = {SMAPS_ANONYMOUS, SMAPS_STACK, SMAPS_ANONYMOUS,
	    SMAPS_ANONYMOUS, SMAPS_ANONYMOUS, SMAPS_STACK, SMAPS_STACK};

	assert_int_equal(s.count, 7);
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.at[i].kind, expected[i]);
	smaps_release(&s);
	free(text);
}

TEST(shared_memory_is_told_from_files)
{
	char *text;
	struct smaps s = parsed("1000-2000 rw-s 00000000 00:01 5 /dev/shm/x\n"
	                        "2000-3000 rw-s 00000000 00:01 6 /memfd:pool (deleted)\n"
	                        "3000-4000 rw-s 00000000 00:01 7 /SYSV00000000 (deleted)\n"
	                        "4000-5000 rw-s 00000000 00:01 8 /dev/zero (deleted)\n"
	                        "5000-6000 rw-s 00000000 fe:01 9 /var/lib/db\n",
	    &text);

	assert_int_equal(s.count, 5);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s.at[i].kind, SMAPS_SHARED);
	assert_int_equal(s.at[4].kind, SMAPS_FILE);
	smaps_release(&s);
	free(text);
}

TEST(lines_that_make_no_sense_are_left_out)
{
	char *text;
	struct smaps s = parsed("Rss:  4 kB\n"
	                        "2000-1000 rw-p 00000000 00:00 0 \n"
	                        "Rss:  4 kB\n"
	                        "5000-6000 rw-p 00000000 00:00 0 [anon:a\\012Rss: 9 kB]\n"
	                        "Rss:  99999999999999999999 kB\n"
	                        "4000-5000 rw-p 00000000 00:00 0 \n" /* not in order */
	                        "Rss:  4 kB\n"
	                        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [v]\n"
	                        "6001-7000 rw-p 00000000 00:00 0 \n"
	                        "nonsense",
	    &text);

	assert_int_equal(s.count, 1);
	assert_int_equal(s.at[0].start, 0x5000);
	assert_int_equal(s.at[0].rss, 4096); /* no more than its size */
	assert_string_equal(s.at[0].name, "[anon:a\\012Rss: 9 kB]");
	smaps_release(&s);
	free(text);
}

TEST(the_sum_of_all_is_read)
{
	struct smaps_sums sums;

	assert_true(smaps_rollup("55d0-7fff ---p 00000000 00:00 0 [rollup]\n"
	                         "Rss:   100 kB\nPss:  9 kB\n"
	                         "Shared_Hugetlb:   2048 kB\n"
	                         "Private_Hugetlb:   4096 kB\n"
	                         "Swap:  5 kB\nSwapPss:  3 kB\n",
	    &sums));
	assert_int_equal(sums.rss, 100 * 1024);
	assert_int_equal(sums.swap, 5 * 1024);
	assert_int_equal(sums.hugetlb, 6 << 20);
	assert_false(smaps_rollup("", &sums));
}
