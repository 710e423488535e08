/* token.c - the secret that a client must know. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/http.h"

#include <strings.h>

/* Up to the longest token and more, so that what is too long is seen. */
static int read_file(int fd, char *to, size_t room, size_t *ret_len)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(fd, to + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	return 0;
}

static int check_file(int fd, const char *path, struct fault *where)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_set(where, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fault_set(where, -EINVAL, "%s: a token is in a plain file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return fault_set(
		    where, -EPERM, "%s belongs to another user, who knows the token", path);
	if (st.st_mode & 077)
		return fault_set(
		    where, -EPERM, "%s: other users may read it; type: chmod 600 %s", path, path);
	return 0;
}

int token_read(const char *path, size_t most, char **ret, struct fault *where)
{
	char text[TOKEN_SENT_MOST + 2] = "";
	size_t len = 0, end = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return fault_set(where, -errno, "%s: %s", path, strerror(errno));
	err = check_file(fd, path, where);
	if (err == 0) {
		err = read_file(fd, text, sizeof(text) - 1, &len);
		if (err < 0)
			(void)fault_set(where, err, "%s: %s", path, strerror(-err));
	}
	(void)close(fd);
	while (err == 0 && end < len && text[end] > ' ' && text[end] < 0x7f)
		end++;
	if (err == 0 &&
	    (end < TOKEN_LEAST || end > most ||
	        (end < len && text[end] != '\n' && text[end] != '\r')))
		err = fault_set(where, -EINVAL,
		    "%s: a token is a line of %d to %zu printable characters "
		    "without spaces",
		    path, TOKEN_LEAST, most);
	if (err == 0) {
		text[end] = '\0';
		*ret = strdup(text);
		if (!*ret)
			err = fault_set(where, -ENOMEM, "out of memory");
	}
	explicit_bzero(text, sizeof(text));
	return err;
}

void token_free(char *token)
{
	if (token)
		explicit_bzero(token, strlen(token));
	free(token);
}

/* The whole of `given` is compared, whatever its first bytes are. */
static bool is_equal(const char *token, const char *given, size_t len)
{
	size_t own = strlen(token);
	unsigned char differ = own != len;

	for (size_t i = 0; i < len; i++)
		differ |= (unsigned char)((unsigned char)token[i % own] ^ (unsigned char)given[i]);
	return differ == 0;
}

static int digit(char c)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* -1: it is no base64, or does not fit. */
static int from_base64(const char *text, char *to, size_t room)
{
	size_t len = strcspn(text, "="), n = 0;
	unsigned bits = 0, have = 0;

	if (strspn(text + len, "=") != strlen(text + len) || strlen(text + len) > 2)
		return -1;
	for (size_t i = 0; i < len; i++) {
		int d = digit(text[i]);

		if (d < 0)
			return -1;
		bits = bits << 6 | (unsigned)d;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		if (n >= room)
			return -1;
		to[n++] = (char)(bits >> have & 0xff);
	}
	return (int)n;
}

bool token_fits(const char *token, const char *authorization)
{
	char plain[TOKEN_MOST + 256];
	const char *colon;
	bool fits = false;
	int n;

	if (!authorization)
		return false;
	if (strncasecmp(authorization, "Bearer ", 7) == 0) {
		authorization += 7;
		authorization += strspn(authorization, " ");
		return is_equal(token, authorization, strlen(authorization));
	}
	if (strncasecmp(authorization, "Basic ", 6) != 0)
		return false;
	authorization += 6;
	authorization += strspn(authorization, " ");
	n = from_base64(authorization, plain, sizeof(plain));
	colon = n > 0 ? memchr(plain, ':', (size_t)n) : NULL;
	if (colon)
		fits = is_equal(token, colon + 1, (size_t)(plain + n - (colon + 1)));
	explicit_bzero(plain, sizeof(plain));
	return fits;
}
