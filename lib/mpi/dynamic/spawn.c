/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting ranks: MPI_Comm_spawn and MPI_Comm_spawn_multiple.
 *
 * The root starts them in its process (core/runtime/spares.h): it makes their
 * world, and for each of them its end of the intercommunicator, before the first
 * one runs.  The parents then make theirs as in MPI_Intercomm_create.  What
 * cannot be in its process becomes another job (mpi/dynamic/start.h).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/meeting/chan_make.h"
#include "core/meeting/meet.h"
#include "core/rank/context.h"
#include "core/rank/state.h"
#include "core/runtime/node.h"
#include "core/runtime/spares.h"
#include "mpi/call/errh.h"
#include "mpi/call/info.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/inter.h"
#include "mpi/dynamic/start.h"

/* What a root has been asked for. */
struct spawn_order {
	struct vm_spawn_command *commands;
	int count;
	int wanted, total; /* of all commands */
	struct vm_rank **ranks;
	struct vm_talk *talk; /* with a job that was started */
};

static int check_order(struct vm_call *call, struct spawn_order *order)
{
	int rc = 0;

	order->wanted = 0;
	for (int i = 0; i < order->count && rc == 0; i++) {
		struct vm_spawn_command *command = &order->commands[i];

		rc = vm_check_pointer(call, command->name, "command");
		if (rc == 0 && command->wanted < 0)
			rc = vm_error(call, MPI_ERR_ARG,
				      "maxprocs %d is negative",
				      command->wanted);
		if (rc == 0)
			rc = vm_spawn_check_keys(call, command->info);
		if (rc == 0 &&
		    __builtin_add_overflow(order->wanted, command->wanted,
					   &order->wanted))
			rc = MPI_ERR_ARG;
		command->count = command->wanted;
	}
	if (rc == 0 && order->wanted == 0)
		rc = vm_error(call, MPI_ERR_ARG, "maxprocs is 0");
	order->total = order->wanted;
	return rc;
}

/* Takes places for the ranks; for fewer than wanted if the caller is content
 * with that. */
static int places_take(struct vm_call *call, struct spawn_order *order)
{
	struct vm_spawn_command *first = order->commands;
	int soft, rc;

	order->ranks = calloc((size_t)order->wanted, sizeof(*order->ranks));
	if (!order->ranks)
		return MPI_ERR_NO_MEM;
	rc = vm_spares_take(order->ranks, order->total);
	while (rc == -VMPI_ELIMIT && order->count == 1) {
		soft = vm_spawn_soft(first->info, order->total - 1);
		if (soft < 1)
			break;
		order->total = first->count = soft;
		rc = vm_spares_take(order->ranks, order->total);
	}
	if (rc != -VMPI_ELIMIT)
		return rc;
	order->total = 0;
	return vm_error(call, MPI_ERR_SPAWN,
			"%d ranks, but a process can have started %d at a time "
			"(core_spawn_max), some of which may run",
			order->wanted, vm_node->spare_count);
}

/* Loads the programs of all ranks. */
static int programs_load(struct vm_call *call, const struct spawn_order *order)
{
	int at = 0;

	for (int i = 0; i < order->count; i++) {
		const struct vm_spawn_command *command = &order->commands[i];
		const struct vm_spare_program program = {
			.command = command->name,
			.arguments = command->arguments,
			.folders = vm_info_value(command->info, "path"),
			.ranks = order->ranks + at,
			.count = command->count,
		};

		if (!command->count)
			continue;
		if (vm_node_hooks.spare_load(&program))
			return vm_error(call, MPI_ERR_SPAWN,
					"%s cannot be started as ranks of this "
					"process",
					command->name);
		at += command->count;
	}
	return 0;
}

/* The group of parents and children; NULL when out of memory. */
static struct vm_group *family(const struct vm_inter_both *both)
{
	struct vm_group *group = vm_group_new(both->size);

	for (int i = 0; group && i < both->size; i++)
		group->ranks[i] = vm_rank_named(&both->ranks[i]);
	return group;
}

/* Gives a rank, which does not run yet, its state and its communicator with the
 * parents: 0 or MPI_ERR_NO_MEM. */
static int child_make(struct vm_group *group, const struct vm_inter_both *both,
		      int number, int appnum)
{
	struct vm_rank *rank = group->ranks[both->first_size + number];
	struct vm_meet *place = vm_meet_shared(group, both->context, rank);
	struct vm_mpi *mpi = vm_mpi_of(rank);
	struct vm_chan *chan = NULL;
	int rc;

	if (place && mpi)
		chan = vm_chan_new(rank, group, place, both->context,
				   both->first_size + number);
	vm_meet_drop(place);
	if (!chan)
		return MPI_ERR_NO_MEM;
	mpi->appnum = appnum;
	rc = vm_comm_new(mpi, &mpi->parent, chan, &mpi->world);
	if (rc != 0)
		return rc;
	vm_inter_set(mpi->parent, both->first_size);
	mpi->parent->name = strdup("MPI_COMM_PARENT");
	return mpi->parent->name ? 0 : MPI_ERR_NO_MEM;
}

/* Makes all that the ranks find when they run. */
static int children_make(const struct spawn_order *order,
			 struct vm_inter_both *both)
{
	struct vm_group *group;
	int number = 0, rc = vm_spares_world(order->ranks, order->total);

	if (rc)
		return rc;
	for (int i = 0; i < order->total; i++)
		both->ranks[both->size++] = vm_rank_name(order->ranks[i]);
	both->context = vm_context_new();
	group = family(both);
	rc = group ? 0 : MPI_ERR_NO_MEM;
	for (int i = 0; i < order->count; i++)
		for (int k = 0; k < order->commands[i].count && rc == 0; k++)
			rc = child_make(group, both, number++, i);
	vm_group_drop(group);
	return rc;
}

/* Whether this process can have the ranks. */
static bool can_have(const struct spawn_order *order)
{
	bool can = vm_node_hooks.spare_load != NULL;

	for (int i = 0; i < order->count && can; i++) {
		const struct vm_spawn_command *command = &order->commands[i];

		can = !vm_spawn_is_apart(command->info) &&
		      vm_node_hooks.spare_can(command->name,
					      vm_info_value(command->info,
							    "path"));
	}
	return can;
}

/* The leader's part: starts the ranks, which are the second side. */
static int spawn_join(struct vm_call *call, struct vm_inter_both *both,
		      const struct vm_group *local, void *arg)
{
	struct spawn_order *order = arg;
	int rc = check_order(call, order);

	(void)local;
	if (rc == 0 && !can_have(order)) {
		both->far = 1;
		return vm_start_job(call, order->commands, order->count,
				    order->talk);
	}
	if (rc == 0)
		rc = places_take(call, order);
	if (rc != 0)
		return rc;
	rc = programs_load(call, order);
	if (rc == 0)
		rc = children_make(order, both);
	if (rc == 0)
		rc = vm_spares_start(order->ranks, order->total);
	if (rc != 0)
		vm_spares_give(order->ranks, order->total);
	return rc;
}

/* Writes a code for each rank that was asked for: those that run come first, per
 * command. */
static void codes_write(const struct spawn_order *order, int rc, int *codes)
{
	int at = 0;

	for (int i = 0; i < order->count; i++)
		for (int k = 0; k < order->commands[i].wanted; k++)
			codes[at++] = rc != 0 ? rc :
				      k < order->commands[i].count ?
						MPI_SUCCESS :
						MPI_ERR_SPAWN;
}

/* order: of the root. */
static int spawn(struct vm_call *call, struct spawn_order *order, int root,
		 MPI_Comm comm, MPI_Comm *intercomm, int *codes)
{
	struct vm_inter_peer peer = { .join = spawn_join,
				      .arg = order,
				      .talk.fd = -1 };
	struct vm_comm *local, *made;
	int rc = vm_check_intra(call, comm, &local);

	vm_comm_none(intercomm);
	if (rc == 0)
		rc = vm_check_pointer(call, intercomm, "intercomm");
	if (rc == 0)
		rc = vm_check_root(call, local, root);
	if (rc == 0) {
		order->talk = &peer.talk;
		rc = vm_inter_create(call, local, root, &peer, intercomm);
		if (peer.talk.fd >= 0)
			close(peer.talk.fd);
		if (codes && local->rank == root) {
			codes_write(order, vm_mpi_error(rc), codes);
		} else if (codes && rc == 0) {
			made = vm_comm_get(*intercomm);
			for (int i = 0; i < made->size; i++)
				codes[i] = MPI_SUCCESS;
		}
	}
	free(order->ranks);
	return vm_call_exit(call, comm, rc);
}

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs,
		    MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
		    int array_of_errcodes[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_spawn);
	struct vm_spawn_command one = { .name = command,
					.arguments = argv,
					.wanted = maxprocs,
					.info = info };
	struct spawn_order order = { .commands = &one, .count = 1 };

	return spawn(&call, &order, root, comm, intercomm, array_of_errcodes);
}

/* Whether the caller is the root, whose arrays count. */
static bool is_root(MPI_Comm comm, int root)
{
	const struct vm_comm *c = vm_comm_get(comm);

	return c && c->rank == root;
}

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[],
			     char **array_of_argv[],
			     const int array_of_maxprocs[],
			     const MPI_Info array_of_info[], int root,
			     MPI_Comm comm, MPI_Comm *intercomm,
			     int array_of_errcodes[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_spawn_multiple);
	struct spawn_order order = { .count = 0 };
	int rc;

	if (is_root(comm, root) && count > 0 && array_of_commands &&
	    array_of_maxprocs && array_of_info) {
		order.commands =
			calloc((size_t)count, sizeof(struct vm_spawn_command));
		order.count = order.commands ? count : 0;
	}
	for (int i = 0; i < order.count; i++)
		order.commands[i] = (struct vm_spawn_command){
			.name = array_of_commands[i],
			.arguments = array_of_argv ? array_of_argv[i] : NULL,
			.wanted = array_of_maxprocs[i],
			.info = array_of_info[i],
		};
	rc = spawn(&call, &order, root, comm, intercomm, array_of_errcodes);
	free(order.commands);
	return rc;
}
