/* synonyms.c - words of other tools, and what they are called here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/synonyms.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/shell/input.h"
#include "command/options/opts.h"
#include "command/options/values.h"

#define NO_ATTACH \
	"the collector is loaded when a program starts, so start it with: " \
	"seep record CMD (a traced process: seep report PID; why one is not " \
	"traced: seep doctor PID)"

struct synonym {
	const char *words; /* with bars between */
	const char *meaning;
};

static const struct synonym commands[] = {
    {"attach|inject", NO_ATTACH},
    {"list|ps|status|processes", "seep ls lists the processes"},
    {"run|exec|trace|profile|memcheck", "seep record CMD runs a command"},
    {"start", "seep record CMD runs a command, seep on PID resumes recording"},
    {"stop", "seep off PID stops recording"},
    {"show|stat|stats|analyze|analyse|print|info|summary", "seep report shows a recording"},
    {"flamegraph|flame|html|gui|web|open",
        "seep view shows a flame graph in the browser, seep export --format "
        "collapsed writes the input of flamegraph.pl"},
    {"compare", "seep diff compares two inputs"},
    {"convert", "seep export --format FORMAT writes formats of other tools"},
    {"monitor|live", "seep top shows what running processes allocate"},
    {"daemon", "seep watch keeps a history of what is traced"},
    {NULL, NULL},
};

/* Options whose meaning is an option of the same command, if it has that. */
static const struct {
	const char *words, *option, *meaning;
} options[] = {
    {"n|limit|max|head|lines-max", "top", "--top N"},
    {"f", "format", "--format FORMAT"},
    {"since|between", "growth", "--growth FROM..TO"},
    {"function|filter|grep", "include", "--include RE"},
    {"out|outfile", "output", "--output FILE"},
    {"every", "interval", "--interval TIME"},
    {NULL, NULL, NULL},
};

static const struct synonym formats[] = {
    {"flamegraph|flame|folded|svg|stackcollapse", "collapsed"},
    {"go|pb|pb.gz|proto|profile", "pprof"},
    {"kcachegrind|cachegrind", "callgrind"},
    {"graphviz|gv", "dot"},
    {"ms_print", "massif"},
    {"dh_view", "dhat"},
    {NULL, NULL},
};

static const char *meaning_of(const struct synonym *s, const char *word)
{
	for (; s->words; s++)
		if (values_word(s->words, word) >= 0)
			return s->meaning;
	return NULL;
}

const char *synonyms_format(const char *word)
{
	return meaning_of(formats, word);
}

const char *synonyms_command(const char *word, char text[SYNONYMS_BYTES])
{
	const char *known = meaning_of(commands, word);
	struct stat st;
	pid_t pid;

	if (known)
		(void)snprintf(text, SYNONYMS_BYTES, "%s", known);
	else if (input_is_pid(word, &pid))
		(void)snprintf(text, SYNONYMS_BYTES,
		    "to see what the process %s holds: seep report %s", word, word);
	else if (strlen(word) > SYNONYMS_BYTES / 2 || stat(word, &st) < 0)
		return NULL;
	else if (S_ISREG(st.st_mode) && access(word, X_OK) == 0)
		(void)snprintf(text, SYNONYMS_BYTES, "to record a program: seep record %s", word);
	else
		(void)snprintf(text, SYNONYMS_BYTES, "to see it: seep report %s", word);
	return text;
}

static const struct opts_option *option_of(const struct cmd *c, const char *name)
{
	for (const struct opts_group *g = c->options; g && g->rows; g++)
		for (const struct opts_option *o = g->rows; o->name; o++)
			if (strcmp(o->name, name) == 0)
				return o;
	return NULL;
}

/* --json: a format. */
static const char *format_option(const struct cmd *c, const char *name, char text[SYNONYMS_BYTES])
{
	static const char exported[] = "json|html|csv|pprof|collapsed|massif|"
	                               "dhat|callgrind|heaptrack|speedscope|dot";
	const struct opts_option *format = option_of(c, "format");
	const char *other = synonyms_format(name);

	if (format && values_word(format->arg, name) >= 0)
		(void)snprintf(text, SYNONYMS_BYTES, "--format %s", name);
	else if (other || values_word(exported, name) >= 0)
		(void)snprintf(
		    text, SYNONYMS_BYTES, "seep export --format %s", other ? other : name);
	else
		return NULL;
	return text;
}

const char *synonyms_option(const struct cmd *c, const char *name, char text[SYNONYMS_BYTES])
{
	if (strcmp(c->name, "record") == 0 && values_word("p|pid|attach", name) >= 0) {
		(void)snprintf(text, SYNONYMS_BYTES, "%s", NO_ATTACH);
		return text;
	}
	for (size_t i = 0; options[i].words; i++)
		if (values_word(options[i].words, name) >= 0 && option_of(c, options[i].option))
			return options[i].meaning;
	return format_option(c, name, text);
}
