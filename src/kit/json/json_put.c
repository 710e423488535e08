/* json_put.c - writes JSON to a stream: levels, commas, keys, values. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/json_put.h"

#include "kit/words/text.h"

/* ---- levels ---- */

struct json json_begin(FILE *file, const char *version)
{
	struct json j = {.file = file};

	json_object(&j, NULL);
	json_number(&j, "schema", JSON_SCHEMA);
	json_text(&j, "seep", version);
	return j;
}

int json_finish(struct json *j, int err)
{
	json_ends(j, j->depth);
	(void)putc_unlocked('\n', j->file);
	return err < 0 ? err : ferror(j->file) ? -EIO : 0;
}

/* What comes before each value. */
static void put_name(struct json *j, const char *name)
{
	if (j->has_item)
		(void)putc_unlocked(',', j->file);
	if (j->on_line || j->levels[j->depth] == '\n')
		(void)putc_unlocked('\n', j->file);
	if (name) {
		(void)putc_unlocked('"', j->file);
		(void)fputs_unlocked(name, j->file);
		(void)fputs_unlocked("\":", j->file);
	}
	j->has_item = true;
	j->on_line = false;
}

static void begin_level(struct json *j, const char *name, char begin, char end)
{
	put_name(j, name);
	(void)putc_unlocked(begin, j->file);
	j->levels[++j->depth] = end;
	j->has_item = false;
}

void json_object(struct json *j, const char *name)
{
	begin_level(j, name, '{', '}');
}

void json_list(struct json *j, const char *name)
{
	begin_level(j, name, '[', ']');
}

void json_rows(struct json *j, const char *name)
{
	begin_level(j, name, '[', '\n');
}

void json_end(struct json *j)
{
	if (j->on_line)
		(void)putc_unlocked('\n', j->file);
	(void)putc_unlocked(j->levels[j->depth] == '}' ? '}' : ']', j->file);
	if (j->brief == j->depth)
		j->brief = 0;
	j->depth--;
	j->has_item = true;
	j->on_line = false;
}

void json_ends(struct json *j, unsigned count)
{
	while (count-- > 0)
		json_end(j);
}

void json_line(struct json *j)
{
	j->on_line = true;
}

void json_key(struct json *j, const char *name)
{
	put_name(j, name);
	j->has_item = false;
}

/* ---- texts ---- */

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

static void put_string(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	(void)putc_unlocked('"', out);
	while (*p) {
		size_t n = text_utf8((const char *)p);
		uint32_t c = n ? text_decode((const char *)p, n) : 0;

		if (*p >= 0x20 && *p < 0x7f) {
			if (*p == '"' || *p == '\\')
				(void)putc_unlocked('\\', out);
			(void)putc_unlocked(*p, out);
		} else if (n == 0) {
			(void)fputs("\\ufffd", out);
		} else if (text_is_odd(c)) {
			put_escaped(out, c);
		} else {
			(void)fwrite_unlocked(p, 1, n, out);
		}
		p += n ? n : 1;
	}
	(void)putc_unlocked('"', out);
}

/* Is a value left out, because it is 0 or null and has a name? */
static bool is_left_out(const struct json *j, const char *name)
{
	return name && j->brief > 0 && j->brief == j->depth;
}

void json_text(struct json *j, const char *name, const char *value)
{
	if (!value) {
		json_null(j, name);
		return;
	}
	put_name(j, name);
	put_string(j->file, value);
}

void json_shown(struct json *j, const char *name, const char *value)
{
	char *shown = NULL;
	size_t len = 0;
	FILE *memory = value ? open_memstream(&shown, &len) : NULL;

	if (memory) {
		text_print(memory, value);
		if (fclose(memory) != 0) {
			free(shown);
			shown = NULL;
		}
	}
	/* out of memory: at least escape it as JSON does */
	json_text(j, name, shown ? shown : value);
	free(shown);
}

/* ---- other values ---- */

/* printf would take most of the time. */
static void put_number(FILE *out, uint64_t n)
{
	char buffer[20], *end = buffer + sizeof(buffer), *at = end;

	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	(void)fwrite_unlocked(at, 1, (size_t)(end - at), out);
}

void json_number(struct json *j, const char *name, uint64_t value)
{
	if (value == 0 && is_left_out(j, name))
		return;
	put_name(j, name);
	put_number(j->file, value);
}

void json_number_or_null(struct json *j, const char *name, bool known, uint64_t value)
{
	if (known)
		json_number(j, name, value);
	else
		json_null(j, name);
}

void json_signed(struct json *j, const char *name, int64_t value)
{
	json_format(j, name, "%" PRId64, value);
}

void json_fraction(struct json *j, const char *name, int digits, double value)
{
	json_format(j, name, "%.*f", digits, value);
}

void json_fraction_or_null(struct json *j, const char *name, bool known, int digits, double value)
{
	if (known)
		json_fraction(j, name, digits, value);
	else
		json_null(j, name);
}

void json_boolean(struct json *j, const char *name, bool value)
{
	put_name(j, name);
	(void)fputs_unlocked(value ? "true" : "false", j->file);
}

void json_null(struct json *j, const char *name)
{
	if (is_left_out(j, name))
		return;
	put_name(j, name);
	(void)fputs_unlocked("null", j->file);
}

void json_pairs(struct json *j, const char *name, const struct json_pair *pairs)
{
	json_object(j, name);
	for (; pairs->name; pairs++)
		json_number(j, pairs->name, pairs->value);
	json_end(j);
}

void json_format(struct json *j, const char *name, const char *format, ...)
{
	va_list arguments;

	put_name(j, name);
	va_start(arguments, format);
	(void)vfprintf(j->file, format, arguments);
	va_end(arguments);
}

void json_copy(struct json *j, const char *text, size_t len)
{
	put_name(j, NULL);
	(void)fwrite_unlocked(text, 1, len, j->file);
}

void json_numbers(struct json *j, const char *name, const uint64_t *values, size_t count)
{
	while (is_left_out(j, name) && count > 0 && values[count - 1] == 0)
		count--;
	json_list(j, name);
	for (size_t i = 0; i < count; i++)
		json_number(j, NULL, values[i]);
	json_end(j);
}

void json_hex(struct json *j, const char *name, const uint8_t *bytes, size_t len)
{
	bool zero = true;

	for (size_t i = 0; i < len; i++)
		zero = zero && bytes[i] == 0;
	if (zero) {
		json_null(j, name);
		return;
	}
	put_name(j, name);
	(void)putc('"', j->file);
	for (size_t i = 0; i < len; i++)
		(void)fprintf(j->file, "%02x", bytes[i]);
	(void)putc('"', j->file);
}

void json_time(struct json *j, const char *name, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char buffer[64];
	struct tm tm;

	put_name(j, name);
	if (realtime_ns == 0 || !gmtime_r(&seconds, &tm) ||
	    strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		(void)fputs("null", j->file);
	else
		(void)fprintf(
		    j->file, "\"%s.%03uZ\"", buffer, (unsigned)(realtime_ns / 1000000 % 1000));
}
