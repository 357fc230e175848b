/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment: phases, versions, time, memory.
 */
#include "mtap.h"

#include <unistd.h>

/* Each resource that a rank stays within is one for a communicator. */
static void hardware(void)
{
	char key[MPI_MAX_INFO_KEY], value[8] = "";
	bool good = true, machine = false;
	int count = 0, room, flag, restricted;
	MPI_Info info, wish;
	MPI_Comm comm;

	MPI_Get_hw_resource_info(&info);
	MPI_Info_get_nkeys(info, &count);
	MPI_Info_create(&wish);
	for (int i = 0; i < count; i++) {
		MPI_Info_get_nthkey(info, i, key);
		room = sizeof(value);
		MPI_Info_get_string(info, key, &room, value, &flag);
		restricted = !strcmp(value, "true");
		good &= flag && (restricted || !strcmp(value, "false"));
		machine |= restricted && !strcmp(key, "hwloc://Machine");
		MPI_Info_set(wish, "mpi_hw_resource_type", key);
		/* All ranks have the same keys, in the same order. */
		MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0,
				    wish, &comm);
		good &= restricted == (comm != MPI_COMM_NULL);
		if (comm != MPI_COMM_NULL)
			MPI_Comm_free(&comm);
	}
	all_ok(count > 2 && machine, "a rank stays within the machine");
	all_ok(good,
	       "and all resources that it stays within are communicators");
	MPI_Info_free(&info);
	MPI_Info_free(&wish);
}

int main(int argc, char **argv)
{
	int before = 1, during = 0, over = 1, level = -1, main_thread = 0;
	int version = 0, subversion = -1, length = -1, major = 0, minor = -1;
	char library[MPI_MAX_LIBRARY_VERSION_STRING];
	char name[MPI_MAX_PROCESSOR_NAME], host[MPI_MAX_PROCESSOR_NAME];
	double start, tick;
	void *memory = NULL;
	MPI_Info info;
	MPI_Aint a, b;

	MPI_Initialized(&before);
	MPI_Finalized(&over);
	MPI_Get_version(&version, &subversion);
	mtap_init(&argc, &argv);
	MPI_Initialized(&during);
	all_ok(!before && during && !over, "MPI_Initialized and MPI_Finalized");
	all_ok(version == 4 && subversion == 1,
	       "MPI_Get_version works before MPI_Init");
	all_ok(version == MPI_VERSION && subversion == MPI_SUBVERSION,
	       "and says what mpi.h says");
	MPI_Query_thread(&level);
	MPI_Is_thread_main(&main_thread);
	all_ok(level == MPI_THREAD_MULTIPLE && main_thread,
	       "threads may do everything");
	MPI_Get_library_version(library, &length);
	all_ok(strncmp(library, "vmpi ", 5) == 0 &&
		       (int)strlen(library) == length,
	       "the library says its name");
	MPI_Abi_get_version(&major, &minor);
	all_ok(major == 1 && minor == 0, "the ABI is 1.0");
	all_ok(sizeof(MPI_Status) == 32, "a status has 32 bytes");
	MPI_Get_processor_name(name, &length);
	gethostname(host, sizeof(host));
	all_ok(strcmp(name, host) == 0 && (int)strlen(name) == length,
	       "the processor is the host");

	start = MPI_Wtime();
	usleep(2000);
	tick = MPI_Wtick();
	all_ok(MPI_Wtime() - start >= 0.0019 && MPI_Wtime() - start < 5,
	       "MPI_Wtime counts seconds");
	all_ok(tick > 0 && tick < 1e-3, "MPI_Wtick is the resolution");
	all_ok(MPI_Pcontrol(1) == MPI_SUCCESS, "MPI_Pcontrol does nothing");

	MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
	memset(memory, 1, 1000);
	MPI_Get_address(memory, &a);
	MPI_Get_address((char *)memory + 100, &b);
	all_ok(MPI_Aint_diff(b, a) == 100 && MPI_Aint_add(a, 100) == b,
	       "addresses can be added and subtracted");
	MPI_Free_mem(memory);
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
	MPI_Alloc_mem(1000, info, &memory);
	MPI_Info_free(&info);
	all_ok((uintptr_t)memory % 65536 == 0, "memory is aligned as asked");
	MPI_Free_mem(memory);

	hardware();
	MPI_Comm_free(&mtap_comm);
	MPI_Finalize();
	MPI_Initialized(&during);
	MPI_Finalized(&over);
	MPI_Get_version(&version, &subversion);
	if (rank != 0)
		return 0;
	ok(during && over, "after MPI_Finalize both are true");
	return done_testing();
}
