/* net.h - from seep to seep-net, for commands that speak HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NET_H
#define SEEP_NET_H

/*
 * A copy of the arguments of a command, from before opts_parse() has put them
 * into another order. Kept as long as the program runs.
 */
char **net_keep(int argc, char **argv);

/*
 * In seep: becomes seep-net with these arguments; if it is missing, one line and
 * exit 3. In seep-net: returns. Call it after opts_parse(), so that --help and
 * mistakes need no seep-net.
 */
void net_enter(const char *command, char **kept);

#endif
