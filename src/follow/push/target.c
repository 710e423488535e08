/* target.c - the URL of a server of profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/post.h"

#include <strings.h>

#include "kit/words/text.h"

#define PROCEDURE "/push.v1.PusherService/Push"

enum { URL_MAX = 1024, TENANT_MAX = 150 };

static int refuse(struct fault *where, const char *text, const char *why)
{
	char clean[128];

	(void)text_escape(clean, sizeof(clean), text);
	return fault_set(where, -EINVAL, "\"%s\" %s", clean, why);
}

/* [::1], 127.x.x.x or localhost, without its port. */
static bool is_local(const char *host, size_t len)
{
	char name[64];

	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	if (name[0] != '[')
		name[strcspn(name, ":")] = '\0';
	else if (strchr(name, ']'))
		strchr(name, ']')[1] = '\0';
	return strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
	    (strncmp(name, "127.", 4) == 0 && strspn(name, "0123456789.") == strlen(name));
}

/* A port of digits, if there is one; brackets are closed. */
static bool is_host(const char *host, size_t len)
{
	const char *end = host + len, *port = host;
	size_t digits;

	if (len == 0 || *host == ':')
		return false;
	if (*host == '[') {
		size_t n = 1 + strspn(host + 1, "0123456789abcdefABCDEF:.");

		if (n >= len || n < 3 || host[n] != ']')
			return false;
		port = host + n + 1;
	} else {
		while (port < end && *port != ':')
			port++;
	}
	if (port == end)
		return true;
	digits = strspn(port + 1, "0123456789");
	return *port == ':' && digits > 0 && digits <= 5 && port + 1 + digits == end &&
	    strtoul(port + 1, NULL, 10) <= 65535 && strtoul(port + 1, NULL, 10) > 0;
}

int target_read(const char *text, struct target *ret, struct fault *where)
{
	struct target t = {0};
	const char *host;
	size_t host_len, len = strlen(text);

	if (strncasecmp(text, "http://", 7) == 0)
		host = text + 7;
	else if (strncasecmp(text, "https://", 8) == 0)
		host = text + 8;
	else
		return refuse(where, text,
		    "is no URL of a server: http://HOST:PORT or "
		    "https://HOST[:PORT][/PATH]");
	t.is_encrypted = host == text + 8;
	host_len = strcspn(host, "/");
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("\\\"<>^`{|}", *c))
			return refuse(where, text, "is no URL: a character in it must be escaped");
	if (memchr(host, '@', host_len))
		return refuse(where, "URL",
		    "must have no user and password, which others could read: "
		    "put them into a file, as USER:PASSWORD, for --token-file");
	if (strpbrk(text, "?#"))
		return refuse(where, text, "must end with its path");
	if (!is_host(host, host_len))
		return refuse(where, text, "has no host, or no valid port");
	if (len > URL_MAX)
		return refuse(where, "URL", "is too long");
	t.is_local = is_local(host, host_len);
	while (len > 0 && text[len - 1] == '/')
		len--;
	(void)snprintf(t.url, sizeof(t.url), "%.*s%s", (int)len, text,
	    len >= strlen(PROCEDURE) &&
	            strncmp(text + len - strlen(PROCEDURE), PROCEDURE, strlen(PROCEDURE)) == 0
	        ? ""
	        : PROCEDURE);
	(void)text_escape(t.shown, sizeof(t.shown), text);
	*ret = t;
	return 0;
}

bool target_is_tenant(const char *text)
{
	size_t len = strlen(text);

	/* as Pyroscope allows them */
	return len > 0 && len <= TENANT_MAX && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
	    strspn(text,
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	        "0123456789!-_.*'()|") == len;
}
