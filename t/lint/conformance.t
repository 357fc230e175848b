#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each MPI function that the library has is called by a program of t/mpi, and
# docs/conformance.md says which.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
exec "$VMPI_SRC/.ci/conformance" --check
