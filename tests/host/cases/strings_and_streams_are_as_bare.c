/* strings_and_streams_are_as_bare.c - memory that libc allocates for its callers has the same contents and sizes as bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T10 */
#include <dirent.h>
#include <glob.h>
#include <iconv.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static void formatted(void)
{
	char *text = NULL;

	for (int n = 0; n < 3000; n += 499) {
		int len = asprintf(&text, "%0*d|%s", n, 7, "end");

		printf("asprintf %d %zu\n", len, strlen(text));
		char *copy = strdup(text), *part = strndup(text, 11);

		printf("%d %s\n", strcmp(copy, text), part);
		free(copy);
		free(part);
		free(text);
	}
	wchar_t *wide = wcsdup(L"wide");

	printf("%zu\n", wcslen(wide));
	free(wide);
}

static void streams(void)
{
	char *text = NULL, *line = NULL;
	size_t bytes = 0, room = 0, lines = 0;
	FILE *f = open_memstream(&text, &bytes);

	for (int i = 0; i < 500; i++)
		fprintf(f, "line %d %*s\n", i, i, "x");
	fclose(f);
	printf("memstream %zu\n", bytes);
	f = fmemopen(text, bytes, "r");
	for (ssize_t n; (n = getline(&line, &room, f)) > 0; lines++)
		if (lines % 100 == 0)
			printf("getline %zd %zu\n", n, room);
	printf("lines %zu\n", lines);
	fclose(f);
	free(line);
	free(text);
}

static void lookups(void)
{
	struct dirent **names;
	glob_t found;
	regex_t re;
	regmatch_t match[3];
	char *here = getcwd(NULL, 0), *real = realpath(".", NULL);

	printf("cwd %d\n", strcmp(here, real));
	free(here);
	free(real);
	int n = scandir(".", &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		printf("entry %s\n", names[i]->d_name);
		free(names[i]);
	}
	free(names);
	printf("glob %d %zu\n", glob("/etc/pass*", 0, NULL, &found), found.gl_pathc);
	globfree(&found);
	regcomp(&re, "(a+)(b*)c", REG_EXTENDED);
	printf("regexec %d %d\n", regexec(&re, "xxaabbc", 3, match, 0), (int)match[2].rm_so);
	regfree(&re);
	iconv_t cd = iconv_open("UTF-16LE", "UTF-8");
	char in[] = "text", out[32], *from = in, *to = out;
	size_t left = 4, room = sizeof(out);

	printf("iconv %zu %zu\n", iconv(cd, &from, &left, &to, &room), room);
	iconv_close(cd);
}

int main(void)
{
	fclose(fopen("one", "we"));
	fclose(fopen("two", "we"));
	formatted();
	streams();
	lookups();
	return 0;
}
