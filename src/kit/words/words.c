/* words.c - counts, sizes and durations as people read them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/words/words.h"

const char *words_count(char buffer[WORDS_MAX], uint64_t n)
{
	char *p = buffer + WORDS_MAX;
	int digits = 0;

	*--p = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		n /= 10;
		digits++;
	} while (n > 0);
	return memmove(buffer, p, (size_t)(buffer + WORDS_MAX - p));
}

const char *words_ending(uint64_t n, const char *noun)
{
	size_t len = strlen(noun);

	if (n == 1)
		return "";
	return len > 0 && noun[len - 1] == 's' ? "es" : "s";
}

const char *words_counted(char buffer[WORDS_COUNTED_MAX], uint64_t n, const char *noun)
{
	char digits[WORDS_MAX];

	(void)snprintf(buffer, WORDS_COUNTED_MAX, "%s %s%s", words_count(digits, n), noun,
	    words_ending(n, noun));
	return buffer;
}

const char *words_was(uint64_t n)
{
	return n == 1 ? "was" : "were";
}

const char *words_is(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

const char *words_has(uint64_t n)
{
	return n == 1 ? "has" : "have";
}

const char *words_bytes(char buffer[WORDS_MAX], uint64_t n)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)n / 1024;
	size_t i = 0;

	if (n < 1024) {
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " byte%s", n, words_ending(n, "byte"));
		return buffer;
	}
	while (value >= 1023.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		i++;
	}
	(void)snprintf(buffer, WORDS_MAX, "%.1f %s", value, units[i]);
	return buffer;
}

const char *words_time(char buffer[WORDS_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s == 0)
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " ms", ns / 1000000);
	else if (s < 60)
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 ".%u s", s, (unsigned)(ns / 100000000 % 10));
	else if (s < 3600)
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	else
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s / 3600 % 24);
	return buffer;
}
