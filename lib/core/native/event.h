/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for an event beside other things.
 */
#ifndef CORE_NATIVE_EVENT_H
#define CORE_NATIVE_EVENT_H

#include <stdbool.h>

#include "core/native/waiters.h"

/* Queues the caller, who has begun to wait (vm_queued_begin()), unless the event
 * has happened: whether it has.  If not, vm_queued_leave() follows. */
bool vm_event_enter(vmpi_event *event, struct vm_queued *self);

#endif
