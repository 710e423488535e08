/* folder_service.h - which service a process that runs belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLDER_SERVICE_H
#define SEEP_FOLDER_SERVICE_H

#include "follow/engine/engine.h"
#include "follow/history/folder_name.h"

/*
 * For folder_name(): its text is that of the process. `uid` is the owner of its
 * segment file.
 */
void folder_service_of(const struct live_process *p, uid_t uid, struct folder_service *ret);

#endif
