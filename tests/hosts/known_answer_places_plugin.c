/* known_answer_places_plugin.c - keeps blocks of others, in a namespace of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
void *kept[100];
_Thread_local void *kept_tls[100];

void keep(int i, void *a, void *b);

void keep(int i, void *a, void *b)
{
	kept[i] = a;
	kept_tls[i] = b;
}
