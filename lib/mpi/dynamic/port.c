/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and names: MPI_Open_port, MPI_Publish_name and what belongs to them.
 *
 * The name of a port consists of the job, the rank's number in it and the
 * number of the port: "vmpi:0123456789abcdef:3:17".
 */
#include "mpi/dynamic/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rank/state.h"
#include "core/runtime/process.h"
#include "core/runtime/spares.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/dynamic/door.h"
#include "mpi/dynamic/notice.h"

#define KIND_PORT "port"
#define KIND_NAME "name"
#define NAME_FORMAT "vmpi:%s:%d:%u"

/* A port of the rank, or a name that it has published. */
struct entry {
	struct vm_list link;
	struct vm_notice *notice;
	bool is_name;
	int door;   /* of a port: for other jobs; or -1 */
	char *port; /* its name; and of a service that is published, */
	char *name;
};

/* Of a rank; its list is guarded by the lock of the state. */
struct vm_ports {
	struct vm_list entries;
};

uint32_t vm_port_number(void)
{
	return atomic_fetch_add_explicit(&vm_node->ports, 1,
					 memory_order_relaxed);
}

static void entry_free(struct entry *entry)
{
	if (entry->door >= 0)
		close(entry->door);
	if (entry->notice)
		vm_notice_remove(entry->notice);
	free(entry->port);
	free(entry->name);
	free(entry);
}

void vm_ports_free(struct vm_mpi *mpi)
{
	if (!mpi->ports)
		return;
	while (!vm_list_empty(&mpi->ports->entries)) {
		struct entry *entry = vm_container_of(mpi->ports->entries.next,
						      struct entry, link);

		vm_list_remove(&entry->link);
		entry_free(entry);
	}
	free(mpi->ports);
	mpi->ports = NULL;
}

/* Puts up a notice and remembers it: 0, an MPI error, or -VMPI_ESTATE: there is
 * such a name. */
static int entry_add(struct vm_call *call, const char *name, const char *port)
{
	struct vm_mpi *mpi = call->mpi;
	struct entry *entry = calloc(1, sizeof(*entry));
	struct vm_ports *fresh = malloc(sizeof(*fresh));
	int rc = -VMPI_ENOMEM;

	if (entry)
		entry->door = -1;
	/* The first one of a rank. */
	if (!mpi->ports)
		vm_notices_clean();
	if (entry && fresh && (entry->port = strdup(port)) &&
	    (entry->name = strdup(name ? name : "")))
		rc = vm_notice_put(&entry->notice, name ? KIND_NAME : KIND_PORT,
				   name ? name : port, name ? port : "");
	if (rc) {
		if (rc == -VMPI_EIO)
			rc = vm_error(call, MPI_ERR_OTHER,
				      "there is no place for it in /dev/shm: "
				      "%s",
				      strerror(errno));
		if (entry)
			entry_free(entry);
		free(fresh);
		return rc;
	}
	entry->is_name = name != NULL;
	vm_lock_take(&mpi->lock);
	if (!mpi->ports) {
		vm_list_init(&fresh->entries);
		mpi->ports = fresh;
		fresh = NULL;
	}
	vm_list_append(&mpi->ports->entries, &entry->link);
	vm_lock_give(&mpi->lock);
	free(fresh);
	return 0;
}

/* Finds a port (name: NULL) or a published name of the rank, and takes it out
 * of the list if that is wanted. */
static struct entry *entry_find(struct vm_mpi *mpi, const char *name,
				const char *port, bool take)
{
	struct entry *found = NULL;
	struct vm_list *link;

	vm_lock_take(&mpi->lock);
	if (mpi->ports) {
		vm_list_each(link, &mpi->ports->entries) {
			struct entry *entry =
				vm_container_of(link, struct entry, link);

			if (entry->is_name == (name != NULL) &&
			    !strcmp(entry->port, port) &&
			    !strcmp(entry->name, name ? name : ""))
				found = entry;
		}
	}
	if (found && take)
		vm_list_remove(&found->link);
	vm_lock_give(&mpi->lock);
	return found;
}

static int check_port_name(struct vm_call *call, const char *name)
{
	int rc = vm_check_pointer(call, name, "port_name");

	if (rc == 0 && strnlen(name, MPI_MAX_PORT_NAME) == MPI_MAX_PORT_NAME)
		rc = vm_error(call, MPI_ERR_PORT,
			      "port_name is longer than %d characters",
			      MPI_MAX_PORT_NAME - 1);
	return rc;
}

int vm_port_door(struct vm_mpi *mpi, const char *name)
{
	const struct entry *entry = entry_find(mpi, NULL, name, false);

	return entry ? entry->door : -1;
}

int vm_port_find(struct vm_call *call, const char *name,
		 struct vm_port_place *place)
{
	char job[VM_PROCESS_JOB_BYTES], again[64];
	char from[VM_PROCESS_JOB_BYTES] = "";
	int index = -1, rc = check_port_name(call, name);
	bool own;

	if (rc != 0)
		return rc;
	vm_process_job(job);
	*place = (struct vm_port_place){ .name = name };
	if (sscanf(name, "vmpi:%16[0-9a-f]:%d:%u", from, &index,
		   &place->number) != 3 ||
	    snprintf(again, sizeof(again), NAME_FORMAT, from, index,
		     place->number) < 0 ||
	    strcmp(again, name) != 0)
		return vm_error(call, MPI_ERR_PORT,
				"\"%s\" is not the name of a port", name);
	own = !strcmp(job, from);
	if (own && index >= 0 && index < vm_node->rank_room)
		place->rank = vm_rank_at(index);
	if ((own && !place->rank) ||
	    ((!own || vm_process_near(place->rank)) &&
	     vm_notice_read(KIND_PORT, name, NULL, 0) != 0))
		return vm_error(call, MPI_ERR_PORT, "port %s is not open%s",
				name, own ? "" : " on this host");
	return 0;
}

/* A port has a door before it is to be seen. */
static int port_add(struct vm_call *call, const char *name)
{
	struct entry *entry;
	int door, rc = vm_door_open(&door, name);

	if (rc)
		return vm_error(call, MPI_ERR_OTHER,
				"there is no socket for it: %s",
				strerror(errno));
	rc = entry_add(call, NULL, name);
	entry = rc ? NULL : entry_find(call->mpi, NULL, name, false);
	if (entry)
		entry->door = door;
	else
		close(door);
	return rc;
}

int PMPI_Open_port(MPI_Info info, char *port_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Open_port);
	char job[VM_PROCESS_JOB_BYTES], name[64];
	int rc = vm_check_hints(&call, info);

	if (rc == 0)
		rc = vm_check_pointer(&call, port_name, "port_name");
	if (rc == 0) {
		vm_process_job(job);
		snprintf(name, sizeof(name), NAME_FORMAT, job,
			 call.mpi->rank->index, vm_port_number() & 0xfffffff);
		rc = port_add(&call, name);
	}
	if (rc == 0)
		memcpy(port_name, name, strlen(name) + 1);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Close_port(const char *port_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Close_port);
	struct entry *entry;
	int rc = check_port_name(&call, port_name);

	if (rc == 0) {
		entry = entry_find(call.mpi, NULL, port_name, true);
		if (entry)
			entry_free(entry);
		else
			rc = vm_error(&call, MPI_ERR_PORT,
				      "\"%s\" is not a port that this rank has "
				      "opened and not closed",
				      port_name);
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Publish_name(const char *service_name, MPI_Info info,
		      const char *port_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Publish_name);
	int rc = vm_check_pointer(&call, service_name, "service_name");

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = check_port_name(&call, port_name);
	if (rc == 0)
		rc = entry_add(&call, service_name, port_name);
	if (rc == -VMPI_ESTATE)
		rc = vm_error(&call, MPI_ERR_SERVICE,
			      "service \"%s\" is published already",
			      service_name);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Unpublish_name(const char *service_name, MPI_Info info,
			const char *port_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Unpublish_name);
	struct entry *entry;
	int rc = vm_check_pointer(&call, service_name, "service_name");

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = check_port_name(&call, port_name);
	if (rc == 0) {
		entry = entry_find(call.mpi, service_name, port_name, true);
		if (entry)
			entry_free(entry);
		else
			rc = vm_error(&call, MPI_ERR_SERVICE,
				      "this rank has not published service "
				      "\"%s\" with that port",
				      service_name);
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Lookup_name);
	int rc = vm_check_pointer(&call, service_name, "service_name");

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = vm_check_pointer(&call, port_name, "port_name");
	if (rc == 0 && vm_notice_read(KIND_NAME, service_name, port_name,
				      MPI_MAX_PORT_NAME) != 0)
		rc = vm_error(&call, MPI_ERR_NAME,
			      "no service \"%s\" is published on this host",
			      service_name);
	return vm_call_exit_self(&call, rc);
}
