/* SPDX-License-Identifier: BSD-3-Clause */
/* metis_none.c: of a build without METIS: rows are not dealt out by it. */
#include "lib/mpi/comm.h"

const yk_mpi_partition_fn yk_mpi_partition = NULL;
