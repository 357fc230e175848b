/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to write to standard output; argv[1] says which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vmpi.h>

/* One line in many pieces. */
static void pieces(int rank)
{
	struct iovec parts[2] = { { (void *)(size_t) "v1 ", 3 },
				  { (void *)(size_t) "v2 ", 3 } };

	setvbuf(stdout, NULL, _IOFBF, 4096);
	printf("rank %d ", rank);
	vmpi_yield();
	fputs("fputs ", stdout);
	vmpi_yield();
	fflush(stdout);
	if (write(1, "write ", 6) < 0 || writev(1, parts, 2) < 0)
		abort();
	vmpi_yield();
	putchar('c');
	vmpi_yield();
	puts(" end");
}

static void many(int rank)
{
	for (int i = 0; i < 500; i++) {
		printf("%d.%d ", rank, i);
		printf("%s\n", "some text that makes the line longer");
	}
}

/* Many lines in one call. */
static void block(int rank)
{
	static char text[500 * 300];
	size_t used = 0;

	for (int i = 0; i < 500; i++)
		used += (size_t)sprintf(text + used, "%d.%d %0*d\n", rank, i,
					250 + i % 7, 0);
	fwrite(text, 1, used, stdout);
}

static void own_file(int rank)
{
	char name[32];

	snprintf(name, sizeof(name), "own.%d", rank);
	if (!freopen(name, "w", stdout))
		abort();
	vmpi_barrier(vmpi_world());
	printf("rank %d\n", rank);
}

static void child(int rank)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		printf("child of %d\n", rank);
		exit(10 + rank);
	}
	waitpid(pid, &status, 0);
	printf("rank %d: child's status %d\n", rank, WEXITSTATUS(status) - 10);
}

/* Asks for a number without a newline, in different ways. */
static void ask(int rank, const char *how)
{
	FILE *to = strcmp(how, "stderr") ? stdout : stderr;
	char line[20] = "";
	int number = 0;

	if (rank > 0)
		return;
	if (!strcmp(how, "unbuffered"))
		setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(how, "write") ? write(1, "N = ", 4) != 4 :
				    fputs("N = ", to) < 0)
		abort();
	if (!strcmp(how, "fflush"))
		fflush(stdout);
	else if (!strcmp(how, "all"))
		fflush(NULL);
	if (!strcmp(how, "fgets") && fgets(line, sizeof(line), stdin))
		number = atoi(line);
	else if (!strcmp(how, "scanf") && scanf("%d", &number) != 1)
		abort();
	else if (read(0, line, sizeof(line) - 1) > 0)
		number = atoi(line);
	printf("%d\n", number + 1);
}

/* Rank 1 prints a line while one of rank 0 has begun. */
static void between(int rank)
{
	if (rank == 0) {
		printf("a");
		fflush(stdout);
		printf("b");
		fflush(stdout);
	}
	vmpi_barrier(vmpi_world());
	if (rank == 1)
		printf("x\n");
	vmpi_barrier(vmpi_world());
	if (rank == 0)
		printf("c\n");
	vmpi_barrier(vmpi_world());
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "pieces";
	int rank = vmpi_rank();

	if (!strcmp(what, "pieces"))
		pieces(rank);
	else if (!strcmp(what, "many"))
		many(rank);
	else if (!strcmp(what, "block"))
		block(rank);
	else if (!strcmp(what, "own"))
		own_file(rank);
	else if (!strcmp(what, "child"))
		child(rank);
	else if (!strcmp(what, "flood"))
		for (;;)
			puts("a line of many");
	else if (!strcmp(what, "ask"))
		ask(rank, argv[2]);
	else if (!strcmp(what, "between"))
		between(rank);
	else if (!strcmp(what, "open"))
		printf("no newline %d", rank);
	else if (!strcmp(what, "opens")) {
		printf("no newline %d", rank);
		vmpi_barrier(vmpi_world());
		fprintf(stderr, "error %d\n", rank);
	} else if (!strcmp(what, "dies")) {
		printf("no newline %d", rank);
		vmpi_barrier(vmpi_world());
		if (rank == 2)
			abort();
		vmpi_barrier(vmpi_world());
	} else if (!strcmp(what, "both")) {
		printf("o%d\n", rank);
		fprintf(stderr, "e%d\n", rank);
	} else if (!strcmp(what, "close")) {
		printf("before %d\n", rank);
		if (fclose(stdout))
			abort();
	} else if (!strcmp(what, "long")) {
		for (int i = 0; i < 300000; i++)
			putchar('a' + rank);
		putchar('\n');
	}
	return 0;
}
