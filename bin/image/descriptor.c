/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's information about a copy: the struct vm_image_descriptor of
 * core/image/image.h, found through the note in entry.S.
 */
#include <stdint.h>

extern int main(int argc, char **argv, char **envp);
extern void *__dso_handle __attribute__((visibility("hidden")));

extern const struct {
	uint32_t version, bytes;
	int (*main)(int argc, char **argv, char **envp);
	void *dso_handle;
} vmpi_image_descriptor;

__attribute__((visibility("hidden"), used))
const __typeof__(vmpi_image_descriptor) vmpi_image_descriptor = {
	1, sizeof(vmpi_image_descriptor), main, &__dso_handle
};
