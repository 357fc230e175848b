/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file has to exist and to be executable.  The loader checks the rest of
 * one linked by vmpicc; here only the note by which it is recognized is
 * searched, and what speaks against loading an ordinary executable.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/image/image.h"
#include "core/image/ordinary.h"
#include "report/cli.h"
#include "script.h"
#include "vmpi.h"

/* 0, or the errno that execve() would give. */
static int program_check(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (!S_ISREG(status.st_mode))
		return ENOEXEC;
	return access(path, X_OK) ? errno : 0;
}

/* Why the file at path may not be executed. */
static const char *denial(const char *path)
{
	struct statvfs system;
	struct stat status;

	if (stat(path, &status))
		return "a directory on the way to it may not be entered";
	if (!statvfs(path, &system) && system.f_flag & ST_NOEXEC)
		return "no file may be executed where it is, as that is mounted "
		       "noexec; it has to be elsewhere";
	return "this file may not be executed (chmod +x?)";
}

static void refuse(const char *name, const char *path, int error)
{
	vm_cli_say("%s: %s", name,
		   error == ENOENT  ? "there is no such program" :
		   error == EISDIR  ? "this is a directory, not a program" :
		   error == ENOEXEC ? "this is not a file, and no program" :
		   error == EACCES  ? denial(path) :
				      strerror(error));
}

static int path_take(char **path, const char *name, const char *origin)
{
	char *there = NULL;
	int error = program_check(name);

	if (error == ENOENT && name[0] != '/') {
		if (asprintf(&there, "%s/%s", origin, name) < 0)
			return vm_cli_no_memory();
		if (program_check(there) == 0) {
			*path = there;
			return 0;
		}
		free(there);
	}
	if (error) {
		refuse(name, name, error);
		return -VMPI_ENOENT;
	}
	*path = strdup(name);
	return *path ? 0 : vm_cli_no_memory();
}

/* The directories of PATH, an empty one being the current directory. */
static int path_search(char **path, const char *name, const char *directories)
{
	char *denied = NULL;
	size_t length;

	for (const char *at = directories;; at += length + 1) {
		char *candidate;
		int error;

		length = strcspn(at, ":");
		if (asprintf(&candidate, "%.*s%s%s", (int)length, at,
			     length ? "/" : "./", name) < 0)
			return vm_cli_no_memory();
		error = program_check(candidate);
		if (!error) {
			*path = candidate;
			free(denied);
			return 0;
		}
		/* A folder that is not for us may have it or not. */
		if (error == EACCES && !denied && !access(candidate, F_OK))
			denied = candidate;
		else
			free(candidate);
		if (!at[length])
			break;
	}
	if (denied)
		refuse(name, denied, EACCES);
	else
		vm_cli_say("%s: there is no such program in PATH%s%s", name,
			   program_check(name) ? "" : "; did you mean ./",
			   program_check(name) ? "" : name);
	free(denied);
	return -VMPI_ENOENT;
}

/* A path that begins with '-' would be an option of what starts the program. */
static int option_avoid(char **path)
{
	char *there;

	if (path[0][0] != '-')
		return 0;
	if (asprintf(&there, "./%s", *path) < 0)
		return vm_cli_no_memory();
	free(*path);
	*path = there;
	return 0;
}

int program_find(char **path, const char *name, const char *origin,
		 const char *first)
{
	const char *directories = getenv("PATH");
	char standard[256], *both = NULL;
	int rc;

	if (!name[0]) {
		vm_cli_say("the name of the program is empty");
		return -VMPI_ENOENT;
	}
	if (strchr(name, '/')) {
		rc = path_take(path, name, origin);
		return rc ? rc : option_avoid(path);
	}
	if (!directories) {
		confstr(_CS_PATH, standard, sizeof(standard));
		directories = standard;
	}
	if (first && asprintf(&both, "%s:%s", first, directories) < 0)
		return vm_cli_no_memory();
	rc = path_search(path, name, both ? both : directories);
	free(both);
	return rc ? rc : option_avoid(path);
}

/* A library has no interpreter; nor has a program that is linked statically. */
static bool is_library(const struct vm_elf *elf)
{
	ElfW(Xword) flags;

	return elf->header->e_type == ET_DYN &&
	       !vm_elf_segment(elf, PT_INTERP) &&
	       !(vm_elf_dynamic(elf, DT_FLAGS_1, &flags) && flags & DF_1_PIE);
}

static enum program_kind kind_of(const struct vm_elf *elf, char *why,
				 size_t bytes)
{
	char text[160];
	ElfW(Addr) address;
	const char *reason;

	why[0] = '\0';
	if (vm_elf_note(elf, "vmpi", VM_IMAGE_NOTE, sizeof(int32_t), &address))
		return PROGRAM_IMAGE;
	reason = vm_ordinary_why(elf, text, sizeof(text));
	if (!reason)
		return PROGRAM_ORDINARY;
	snprintf(why, bytes, "%s", reason);
	return PROGRAM_PROCESS;
}

int program_kind(enum program_kind *kind, char *why, size_t bytes,
		 const char *path, const char *name)
{
	char other[64];
	struct vm_elf elf;
	int rc;

	*kind = PROGRAM_PROCESS;
	snprintf(why, bytes, "it is a script, or cannot be read");
	if (script_is(path))
		return script_check(path, name);
	rc = vm_elf_open(&elf, path, name);
	if (rc)
		return rc;
	*kind = kind_of(&elf, why, bytes);
	if (vm_ordinary_musl(&elf)) {
		vm_cli_say(
			"%s: this program was linked with musl, and vmpi's "
			"libraries need glibc; build it with vmpicc, or another "
			"compiler for glibc",
			name);
		rc = -VMPI_EINVAL;
	} else if (*kind != PROGRAM_IMAGE &&
		   vm_ordinary_foreign(&elf, other, sizeof(other))) {
		vm_cli_say(
			"%s: this program was built for another MPI (%s); build it "
			"with vmpicc, or with mpi.h of vmpi and -lmpi_abi",
			name, other);
		rc = -VMPI_EINVAL;
	} else if (*kind == PROGRAM_PROCESS && is_library(&elf)) {
		vm_cli_say(
			"%s: this is a shared library; a program is needed, built "
			"with vmpicc, or with -lmpi_abi",
			name);
		rc = -VMPI_EINVAL;
	}
	vm_elf_close(&elf);
	return rc;
}

int program_libs_print(const char *path, const char *name,
		       const struct vm_image_choice *choice)
{
	struct vm_image_lib *libs = NULL;
	size_t count = 0;
	struct vm_elf elf;
	int rc = vm_elf_open(&elf, path, name);

	if (rc)
		return rc;
	rc = vm_image_libs(&elf, choice, &libs, &count);
	if (!rc)
		vm_cli_say(
			"%s: ranks share a process; each has its own copy of "
			"the program",
			name);
	for (size_t i = 0; i < count && !rc; i++)
		vm_cli_say("%s: %s is %s (%s)", name, libs[i].name,
			   libs[i].own ? "private" : "shared", libs[i].path);
	vm_image_libs_free(libs, count);
	vm_elf_close(&elf);
	return rc;
}
