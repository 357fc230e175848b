/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nearly every library has some writable data, if only for its destructors, so
 * the size of the data says nothing.
 */
#include "core/image/lib_rule.h"

#include <string.h>

#include "base/log.h"

static bool begins(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strncmp(name, *list, strlen(*list)))
			return true;
	return false;
}

/* One per process: threads and exceptions, memory, machines and networks. */
static bool is_one(const char *name)
{
	static const char *const names[] = {
		"libstdc++.so.",
		"libgcc_s.so.",
		"libc++.so.",
		"libc++abi.so.",
		"libunwind.so.",
		"libgomp.so.",
		"libomp.so",
		"libiomp5.so",
		"libatomic.so.",
		"libquadmath.so.",
		"libasan.so.",
		"libtsan.so.",
		"libubsan.so.",
		"liblsan.so.",
		"libjemalloc.so.",
		"libtcmalloc",
		"libmimalloc.so.",
		"libtbb",
		"libnuma.so.",
		"libhwloc.so.",
		"libpmix.so.",
		"libfabric.so.",
		"libucp.so.",
		"libucs.so.",
		"libuct.so.",
		"libibverbs.so.",
		"libcuda.so.",
		"libcudart.so.",
		NULL,
	};

	return begins(name, names);
}

/* Libraries of systems that are files, or tables of files, of a rank, or that
 * plan without a lock, as FFTW: no two threads may be in it; or collect garbage
 * on one stack. */
static bool is_of_rank(const char *name)
{
	static const char *const names[] = { "libfftw",	  "libgfortran.so.",
					     "libgc.so",  "libhdf5",
					     "libnetcdf", NULL };

	return begins(name, names);
}

static bool of_system(const char *path)
{
	static const char *const folders[] = { "/lib/", "/lib64/", "/usr/lib/",
					       "/usr/lib64/", NULL };

	return begins(path, folders);
}

/* Whether the program has a copy of one of its variables, which would be shared
 * by nobody.  What is in the list of is_one() does not change. */
static bool is_copied(const struct vm_elf *lib, const struct vm_elf *program)
{
	struct vm_elf_slot slot;
	size_t next = 0;

	while (vm_elf_slot(program, &next, &slot))
		if (slot.copy &&
		    vm_elf_define(
			    lib,
			    vm_elf_string(
				    program,
				    program->symbols[slot.symbol].st_name)))
			return true;
	return false;
}

/* A library may be known by a path, as one of LD_PRELOAD is. */
static const char *file_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

bool vm_lib_named(const char *list, const char *name)
{
	name = file_of(name);
	while (list && *list) {
		size_t bytes = strcspn(list, ",");

		if (bytes && !strncmp(name, list, bytes) &&
		    (!name[bytes] || name[bytes] == '.'))
			return true;
		list += bytes + (list[bytes] == ',');
	}
	return false;
}

bool vm_lib_is_foreign(const char *name)
{
	static const char *const names[] = {
		"libmpi.so.",
		"libmpich.so.",
		"libmpi_cray.so.",
		"libmpi_gnu_",
		"libmpi_intel.",
		"libmpicxx.so.",
		"libmpi_cxx.so.",
		"libmpifort.so.",
		"libmpi_mpifh.so.",
		"libmpi_usempi",
		NULL,
	};

	return begins(name, names);
}

bool vm_lib_is_call(const char *name)
{
	static const char *const prefixes[] = { "MPI_", "MPIX_", "PMPI_",
						NULL };

	return begins(name, prefixes);
}

bool vm_lib_is_tool(const struct vm_elf *elf)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const ElfW(Sym) *symbol = &elf->symbols[i];

		if (vm_elf_is_export(symbol) &&
		    ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    vm_lib_is_call(vm_elf_string(elf, symbol->st_name)))
			return true;
	}
	return false;
}

bool vm_lib_calls_mpi(const struct vm_elf *elf)
{
	static const char *const names[] = { "MPI_",  "PMPI_", "MPIX_",
					     "vmpi_", "mpi_",  NULL };

	return vm_elf_imports(elf, names);
}

bool vm_lib_rule(const struct vm_image_lib *lib, const struct vm_elf *program,
		 const struct vm_image_choice *choice)
{
	if (vm_lib_named(choice->shared, lib->name))
		return false;
	if (vm_lib_named(choice->private, lib->name))
		return true;
	if (lib->tool || vm_lib_calls_mpi(&lib->elf))
		return true;
	if (is_one(lib->name))
		return false;
	return is_of_rank(lib->name) || !of_system(lib->path) ||
	       is_copied(&lib->elf, program);
}

static bool is_named(const char *name, const char *word, int bytes)
{
	name = file_of(name);
	return !strncmp(name, word, (size_t)bytes) &&
	       (!name[bytes] || name[bytes] == '.');
}

/* The first name of a list that is no library's, or NULL; *bytes: its length.
 */
static const char *unknown(const char *list, const struct vm_image_lib *libs,
			   size_t count, int *bytes)
{
	for (; list && *list; list += *bytes + (list[*bytes] == ',')) {
		size_t i = 0;

		*bytes = (int)strcspn(list, ",");
		while (i < count && !is_named(libs[i].name, list, *bytes))
			i++;
		if (i == count)
			return list;
	}
	return NULL;
}

int vm_lib_rule_check(const struct vm_elf *program,
		      const struct vm_image_choice *choice,
		      const struct vm_image_lib *libs, size_t count)
{
	static const char *const loaders[] = { "dlopen", NULL };
	const char *name;
	int bytes = 0;

	if (vm_elf_imports(program, loaders))
		return 0;
	name = unknown(choice->private, libs, count, &bytes);
	if (!name)
		name = unknown(choice->shared, libs, count, &bytes);
	if (!name)
		return 0;
	vm_log(VM_ERROR,
	       "--private, --shared: %.*s is no library of %s, or of the C "
	       "library; ldd lists them",
	       bytes, name, program->path);
	return -VMPI_EINVAL;
}
