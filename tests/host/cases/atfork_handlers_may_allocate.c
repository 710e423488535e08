/* atfork_handlers_may_allocate.c - handlers registered before and after the collector's allocate and free around every fork, with busy threads. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T35 */
/* preload: atfork_plugin.so */
/* args: threads 20 */
/* ignore: ledger threads */
/* ledger: --doubt INHERITED=2 --others */
#include <pthread.h>
#include <stdlib.h>

static void *around_fork;

static void before_fork(void)
{
	around_fork = malloc(77);
}

static void after_fork(void)
{
	free(around_fork);
}

__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

#include "../../hosts/forks.c"
