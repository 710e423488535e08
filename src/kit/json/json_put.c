/* json_put.c - writes pieces of JSON to a stream. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/json_put.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "kit/words/text.h"

/* JSON writes characters above 16 bits as two halves, as UTF-16 does. */
static void put_escaped(FILE *out, uint32_t c)
{
	if (c >= 0x10000) {
		c -= 0x10000;
		(void)fprintf(out, "\\u%04" PRIx32, 0xd800 | c >> 10);
		c = 0xdc00 | (c & 0x3ff);
	}
	(void)fprintf(out, "\\u%04" PRIx32, c);
}

void json_string(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (!text) {
		(void)fputs("null", out);
		return;
	}
	(void)putc('"', out);
	while (*p) {
		size_t n = text_utf8((const char *)p);
		uint32_t c = n ? text_decode((const char *)p, n) : 0;

		if (*p >= 0x20 && *p < 0x7f) {
			if (*p == '"' || *p == '\\')
				(void)putc('\\', out);
			(void)putc(*p, out);
		} else if (n == 0) {
			(void)fputs("\\ufffd", out);
		} else if (text_is_odd(c)) {
			put_escaped(out, c);
		} else {
			(void)fwrite(p, 1, n, out);
		}
		p += n ? n : 1;
	}
	(void)putc('"', out);
}

void json_shown(FILE *out, const char *text)
{
	char *shown = NULL;
	size_t len = 0;
	FILE *memory = text ? open_memstream(&shown, &len) : NULL;

	if (memory) {
		text_print(memory, text);
		if (fclose(memory) != 0) {
			free(shown);
			shown = NULL;
		}
	}
	/* out of memory: at least escape it as JSON does */
	json_string(out, shown ? shown : text);
	free(shown);
}

void json_key(FILE *out, const char *name)
{
	(void)fprintf(out, ",\"%s\":", name);
}

void json_number(FILE *out, const char *name, uint64_t value)
{
	(void)fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

void json_number_or_null(FILE *out, const char *name, bool known, uint64_t value)
{
	if (known)
		json_number(out, name, value);
	else
		json_text(out, name, NULL);
}

void json_text(FILE *out, const char *name, const char *value)
{
	json_key(out, name);
	json_string(out, value);
}

void json_boolean(FILE *out, const char *name, bool value)
{
	(void)fprintf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

void json_hex(FILE *out, const char *name, const uint8_t *bytes, size_t len)
{
	bool zero = true;

	for (size_t i = 0; i < len; i++)
		zero = zero && bytes[i] == 0;
	json_key(out, name);
	if (zero) {
		(void)fputs("null", out);
		return;
	}
	(void)putc('"', out);
	for (size_t i = 0; i < len; i++)
		(void)fprintf(out, "%02x", bytes[i]);
	(void)putc('"', out);
}

void json_time(FILE *out, const char *name, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char buffer[64];
	struct tm tm;

	json_key(out, name);
	if (realtime_ns == 0 || !gmtime_r(&seconds, &tm) ||
	    strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out, "\"%s.%03uZ\"", buffer, (unsigned)(realtime_ns / 1000000 % 1000));
}

void json_list(FILE *out, const char *name, const uint64_t *values, size_t count)
{
	json_key(out, name);
	(void)putc('[', out);
	for (size_t i = 0; i < count; i++)
		(void)fprintf(out, "%s%" PRIu64, i ? "," : "", values[i]);
	(void)putc(']', out);
}
