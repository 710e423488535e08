/* systemctl.c - runs systemctl, with a deadline and a bound on its answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/unit.h"

#include "kit/os/clock.h"
#include "kit/os/helper.h"

enum { ARGUMENTS_MAX = 32, STDERR_BYTES = 4096, NOT_FOUND = 127 };

#define SECOND_NS UINT64_C(1000000000)

/* A pipe from the child, and what came through it. */
struct stream {
	int fd;
	char *text;
	size_t len, max;
	bool is_long; /* there was more than max */
};

static int start_stream(struct stream *s, size_t max, int *ret_writer)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	s->text = malloc(max + 1);
	if (!s->text) {
		(void)close(fds[0]);
		(void)close(fds[1]);
		return -ENOMEM;
	}
	s->text[0] = '\0';
	s->fd = fds[0];
	s->max = max;
	*ret_writer = fds[1];
	return 0;
}

static void end_stream(struct stream *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
}

/* Reads what is there. The rest of a text that is too long is thrown away. */
static void read_stream(struct stream *s)
{
	char rest[4096];
	bool fits = s->len < s->max;
	ssize_t n =
	    read(s->fd, fits ? s->text + s->len : rest, fits ? s->max - s->len : sizeof(rest));

	if (n > 0 && fits)
		s->text[s->len += (size_t)n] = '\0';
	else if (n > 0)
		s->is_long = true;
	else if (n == 0 || errno != EINTR)
		end_stream(s);
}

struct order {
	bool is_user;
	const char *const *arguments;
	int out, err; /* its descriptors 1 and 2 */
};

/* A helper that becomes systemctl. */
static int become(int none, void *order)
{
	const struct order *x = order;
	const char *const *arguments = x->arguments;
	const char *argv[ARGUMENTS_MAX + 4] = {"systemctl", "--no-pager"};
	size_t n = 2;
	int null = open("/dev/null", O_RDONLY);

	(void)none;
	if (x->is_user)
		argv[n++] = "--user";
	while (*arguments && n < ARGUMENTS_MAX + 3)
		argv[n++] = *arguments++;
	argv[n] = NULL;
	if (dup2(null, 0) < 0 || dup2(x->out, 1) < 0 || dup2(x->err, 2) < 0 ||
	    setenv("LC_ALL", "C", 1) < 0 || setenv("SYSTEMD_COLORS", "0", 1) < 0)
		return NOT_FOUND;
	(void)unsetenv("SYSTEMD_LOG_LEVEL");
	(void)unsetenv("LD_PRELOAD"); /* it is none of the traced programs */
	(void)signal(SIGPIPE, SIG_DFL);
	execvp("systemctl", (char *const *)(uintptr_t)argv);
	return NOT_FOUND;
}

/* False: the deadline has passed. */
static bool read_all(struct stream *out, struct stream *err, uint64_t until)
{
	while (out->fd >= 0 || err->fd >= 0) {
		struct pollfd fds[2] = {
		    {.fd = out->fd, .events = POLLIN}, {.fd = err->fd, .events = POLLIN}};
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= until)
			return false;
		if (poll(fds, 2, (int)((until - now) / 1000000) + 1) < 0 && errno != EINTR)
			return false;
		if (out->fd >= 0 && fds[0].revents)
			read_stream(out);
		if (err->fd >= 0 && fds[1].revents)
			read_stream(err);
	}
	return true;
}

/* The first line, without the full stop at its end. */
static void cut_first_line(char *text)
{
	size_t n = strcspn(text, "\n");

	while (n > 0 && (text[n - 1] == '.' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
}

static int judge(int status, const struct stream *out, char *words, struct fault *where)
{
	static const struct {
		const char *part;
		int err;
	} kinds[] = {
	    {"has not been booted with systemd", -ENOTCONN},
	    {"Failed to connect to bus", -ENOTCONN},
	    {"Access denied", -EPERM},
	    {"Permission denied", -EPERM},
	    {"Interactive authentication required", -EPERM},
	};

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return fault_set(where, -ENOENT, "there is no systemctl");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return out->is_long ? fault_set(where, -EFBIG, "systemctl printed too much") : 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strstr(words, kinds[i].part))
			continue;
		cut_first_line(words);
		return fault_set(where, kinds[i].err, "%s", words);
	}
	cut_first_line(words);
	return fault_set(where, -EIO, "%s", words[0] ? words : "systemctl failed without a word");
}

static int wait_for(pid_t pid, bool in_time)
{
	int status = 0;

	if (!in_time)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

int systemctl_run(
    bool is_user, const char *const *arguments, int seconds, char **ret_answer, struct fault *where)
{
	struct stream out = {.fd = -1}, err = {.fd = -1};
	struct order order = {.is_user = is_user, .arguments = arguments, .out = -1, .err = -1};
	const struct helper_plan plan = {.run = become, .context = &order};
	int result, status;
	bool in_time;
	pid_t pid;

	result = start_stream(&out, SYSTEMCTL_BYTES, &order.out);
	if (result == 0)
		result = start_stream(&err, STDERR_BYTES, &order.err);
	if (result == 0)
		result = helper_start(&plan, &pid, NULL);
	if (order.out >= 0)
		(void)close(order.out);
	if (order.err >= 0)
		(void)close(order.err);
	if (result < 0) {
		(void)fault_set(where, result, "systemctl: %s", strerror(-result));
		goto out;
	}
	in_time = read_all(&out, &err, clock_ns(CLOCK_MONOTONIC) + (uint64_t)seconds * SECOND_NS);
	status = wait_for(pid, in_time);
	result = in_time
	    ? judge(status, &out, err.text, where)
	    : fault_set(where, -ETIMEDOUT, "systemctl has not answered within %d s", seconds);
	if (result == 0 && ret_answer) {
		*ret_answer = out.text;
		out.text = NULL;
	}
out:
	end_stream(&out);
	end_stream(&err);
	free(out.text);
	free(err.text);
	return result;
}
