/* test_json_put.c - the writer of JSON: commas, levels, what a brief level leaves out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "kit/json/json_put.h"

TEST(commas_and_ends_come_by_themselves)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct json j = json_begin(f, "1.0");

	json_key(&j, "a");
	json_null(&j, NULL);
	JSON_OBJECT(&j, "sum", {"blocks", 0}, {"bytes", UINT64_MAX});
	json_line(&j);
	json_list(&j, "list");
	json_end(&j);
	json_rows(&j, "rows");
	json_object(&j, NULL);
	json_signed(&j, "n", -1);
	json_end(&j);
	json_text(&j, NULL, "\"\n\xff");
	json_fraction_or_null(&j, NULL, false, 1, 0.5);
	json_copy(&j, "1,2", 3);
	assert_int_equal(json_finish(&j, 0), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text,
	    "{\"schema\":1,\"seep\":\"1.0\",\"a\":null,"
	    "\"sum\":{\"blocks\":0,\"bytes\":18446744073709551615},\n"
	    "\"list\":[],\"rows\":[\n{\"n\":-1},\n\"\\\"\\u000a\\ufffd\",\n"
	    "null,\n1,2]}\n");
	free(text);
}

TEST(a_brief_level_leaves_out_zeros_but_not_those_of_levels_in_it)
{
	static const uint64_t values[] = {0, 7, 0, 0};
	char *text = NULL;
	size_t len;
	struct json j = {.file = open_memstream(&text, &len)};

	json_list(&j, NULL);
	json_object(&j, NULL);
	j.brief = j.depth;
	json_number(&j, "zero", 0);
	json_text(&j, "null", NULL);
	json_number(&j, "one", 1);
	json_numbers(&j, "values", values, 4);
	JSON_OBJECT(&j, "sum", {"blocks", 0});
	json_end(&j);
	json_object(&j, NULL);
	json_number(&j, "zero", 0);
	assert_int_equal(json_finish(&j, -1), -1);
	assert_int_equal(fclose(j.file), 0);
	assert_string_equal(
	    text, "[{\"one\":1,\"values\":[0,7],\"sum\":{\"blocks\":0}},{\"zero\":0}]\n");
	free(text);
}
