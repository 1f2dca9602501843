// SPDX-License-Identifier: BSD-3-Clause
/// What runs in the place of the functions that begin and end a job. Defined in job/, for wrappers do not
/// include the job.
#pragma once

#include <mpi.h>

namespace sluice::plugin {

int initialize(int (*below)(int*, char***), void* caller, int* argc, char*** argv);
int initialize_thread(int (*below)(int*, char***, int, int*), void* caller, int* argc, char*** argv, int required,
                      int* provided);
int finalize(int (*below)(), void* caller);
/// Also from within another call: from an error handler, a signal handler, a reduction operation, a copy function.
int abort_job(int (*below)(MPI_Comm, int), MPI_Comm comm, int code);

/// The program sees its own thread level, also where a service has raised it.
int query_level(int (*below)(int*), int* provided);

#if MPI_VERSION >= 4
/// A program that starts MPI by sessions alone has no MPI_Init: it is not watched, and a line at its end says so.
int note_session(int (*below)(MPI_Info, MPI_Errhandler, MPI_Session*), MPI_Info info, MPI_Errhandler handler,
                 MPI_Session* session);
#endif

}  // namespace sluice::plugin
