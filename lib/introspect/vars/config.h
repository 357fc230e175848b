/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of the values of control variables: files, the environment and the
 * text of vmpirun --set.
 *
 * A file has lines `name = value`, blank lines, and comments from a # at the
 * beginning of a line or after a blank to the end of the line.  In the
 * environment a variable is VMPI_ and its name in capitals; an empty one counts
 * as not set, and an unknown one is only warned about.
 */
#ifndef INTROSPECT_VARS_CONFIG_H
#define INTROSPECT_VARS_CONFIG_H

/*
 * Gives all variables their values: default < system file < user file <
 * $VMPI_CONFIG < environment < set, which is text of lines NAME=VALUE or NULL.
 * Values written by vm_cvar_set() at run time stay.  Every mistake is logged
 * with its place, what is wrong and what would be right; the rest is still
 * applied, so that one start shows all mistakes.  0; -VMPI_EINVAL after a
 * mistake, -VMPI_EIO for a file that cannot be read (the first of them counts),
 * -VMPI_ESTATE after vm_vars_freeze(true).  Call from one OS thread, while the
 * environment does not change.
 */
int vm_vars_load(const char *set);

/* The files; NULL for none.  The first two need not exist. */
struct vm_var_files {
	const char *system, *user, *config;
};

/* As vm_vars_load(), with other files than the usual ones. */
int vm_vars_load_from(const struct vm_var_files *files, const char *set);

/*
 * The usual files: sysconfdir/vmpi.conf, vmpi.conf in $XDG_CONFIG_HOME or
 * ~/.config, and $VMPI_CONFIG.  The second name is written to user_path.
 */
#define VM_VAR_PATH_MAX 4096
void vm_var_files_usual(struct vm_var_files *files,
			char user_path[VM_VAR_PATH_MAX]);
#endif
