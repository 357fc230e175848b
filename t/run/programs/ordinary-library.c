/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that does not call MPI, of ordinary.c. */
int library_count = 1000;
int *library_address(void);
int library_next(void), library_program(void);
extern int program_table[3], program_value(void);

int *library_address(void)
{
	return &library_count;
}

int library_next(void)
{
	return ++library_count;
}

int library_program(void)
{
	return program_table[2] + program_value();
}
