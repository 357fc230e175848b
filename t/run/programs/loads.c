/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads another MPI's library, ./libmpi.so.40, and joins the job, or waits until
 * vmpirun has written to the file of the first argument; its exit code is the
 * number of the other arguments.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Waits until vmpirun has said what it has to say. */
static void wait_for(const char *path)
{
	struct stat file;

	for (int i = 0; i < 20000; i++, usleep(10000))
		if (!stat(path, &file) && file.st_size)
			return;
	printf("nothing was said\n");
}

int main(int argc, char **argv)
{
	if (!dlopen("./libmpi.so.40", RTLD_NOW))
		printf("%s\n", dlerror());
	if (!strcmp(argv[1], "join")) {
		MPI_Init(NULL, NULL);
		MPI_Finalize();
		return 0;
	}
	wait_for(argv[1]);
	return argc - 2;
}
