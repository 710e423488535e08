/* test_net_metrics.c - the text formats of Prometheus. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "follow/serve/metrics.h"

struct text {
	char *bytes;
	size_t len;
	struct metrics m;
};

static void begin(struct text *t, bool open)
{
	*t = (struct text){.m = {.is_open = open}};
	t->m.out = open_memstream(&t->bytes, &t->len);
	assert_non_null(t->m.out);
}

static void is(struct text *t, const char *wanted)
{
	metrics_end(&t->m);
	assert_int_equal(fclose(t->m.out), 0);
	assert_string_equal(t->bytes, wanted);
	free(t->bytes);
}

TEST(counters_are_named_as_each_format_wants)
{
	struct text t;

	begin(&t, false);
	metrics_family(&t.m, "a", METRICS_COUNTER, "Help.");
	metrics_put(&t.m, UINT64_MAX, METRICS_LAST);
	is(&t,
	    "# HELP a_total Help.\n# TYPE a_total counter\n"
	    "a_total 18446744073709551615\n");
	begin(&t, true);
	metrics_family(&t.m, "a", METRICS_COUNTER, "Help.");
	metrics_put_seconds(&t.m, 1.5, "b", "c", METRICS_LAST);
	is(&t,
	    "# HELP a Help.\n# TYPE a counter\na_total{b=\"c\"} 1.500000\n"
	    "# EOF\n");
}

TEST(labels_are_escaped_whatever_they_are)
{
	struct text t;

	begin(&t, false);
	metrics_family(&t.m, "a", METRICS_GAUGE, "Help.");
	metrics_put(&t.m, 0, "b", "\"} 1\n\\x\033\xff\u202e", "c", "", METRICS_LAST);
	is(&t,
	    "# HELP a Help.\n# TYPE a gauge\n"
	    "a{b=\"\\\"} 1\\\\x0a\\\\x\\\\x1b\\\\xff\\\\u202e\",c=\"\"} 0\n");
}

TEST(accept_chooses_the_format)
{
	static const char *const open[] = {"application/openmetrics-text",
	    "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
	    "text/plain;q=0.1 , APPLICATION/OpenMetrics-Text ; q=0.9",
	    "application/openmetrics-text;q=0.5,text/plain;q=0.5,*/*;q=0.1"};
	static const char *const text[] = {"", "*/*", "text/plain", ",", ";",
	    ",,;;q=", "application/openmetrics-text;q=0", "application/openmetrics-text;q=x",
	    "application/openmetrics-textual", "application/openmetrics-tex",
	    "application/openmetrics-text;q=0.5,text/plain",
	    "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"};

	assert_false(metrics_wants_open(NULL));
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		assert_true(metrics_wants_open(open[i]));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		assert_false(metrics_wants_open(text[i]));
}
