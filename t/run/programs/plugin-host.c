/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose ranks open libraries: the arguments are one of its own and
 * the system's. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int program_number = 5;
int program_value(void);

int program_value(void)
{
	return program_number;
}

static int rank, wrong;

#define CHECK(what)                                               \
	do {                                                      \
		if (!(what)) {                                    \
			printf("rank %d: not %s\n", rank, #what); \
			wrong++;                                  \
		}                                                 \
	} while (0)

/* The function of a library, or one that says what is wrong. */
static int none(int number)
{
	return printf("rank %d: %d: %s\n", rank, number, dlerror()) - 100000;
}

static int (*find(void *handle, const char *name))(int)
{
	int (*found)(int) = NULL;

	if (handle)
		*(void **)&found = dlsym(handle, name);
	return found ? found : none;
}

static void rounds(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(path, RTLD_NOW), *again;

		CHECK(handle != NULL);
		if (!handle) {
			printf("rank %d: %s\n", rank, dlerror());
			return;
		}
		CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD) == !handle);
		CHECK(find(handle, "plugin_add")(rank) == rank);
		MPI_Barrier(MPI_COMM_WORLD);
		again = dlopen(path, RTLD_LAZY);
		CHECK(again == handle);
		CHECK(find(again, "plugin_add")(1) == rank + 1);
		CHECK(find(again, "plugin_calls")(0) == 2);
		CHECK(find(again, "plugin_thread")(rank) == rank);
		CHECK(find(again, "plugin_program")(0) == 3 * rank);
		CHECK(!dlclose(handle) && !dlclose(handle));
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK(find(again, "plugin_add")(0) == rank + 1);
		CHECK(!dlclose(again));
	}
	/* Stays open until the rank ends. */
	CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL);
}

int main(int argc, char **argv)
{
	void *self = dlopen(NULL, RTLD_NOW), *system;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	program_number = rank;
	CHECK(self && dlsym(self, "program_number") == &program_number);
	CHECK(!dlclose(self));
	rounds(argv[1]);
	CHECK(!dlopen("libnothing.so", RTLD_NOW));
	CHECK(dlerror() != NULL);
	system = dlopen(argv[2], RTLD_NOW);
	CHECK(system && dlsym(system, "cos"));
	CHECK(!dlclose(system));
	printf("rank %d: %d faults\n", rank, wrong);
	MPI_Finalize();
	return wrong;
}
