// SPDX-License-Identifier: BSD-3-Clause
/// The thread level that services need is asked for behind the program's back: the program sees the level that it would
/// have without them.
///
///     program asks for     services need     MPI_Init_thread asks for     the program sees
///     (MPI_Init)           SERIALIZED        SERIALIZED                   what this MPI's MPI_Init gives
///     FUNNELED             SERIALIZED        SERIALIZED                   FUNNELED, or less if the MPI gives less
///     MULTIPLE             SERIALIZED        MULTIPLE                     what the MPI gives
#pragma once

namespace sluice::plugin {

/// Initialises MPI by `below`, or at a higher level by the function beside it if `needed` is above what MPI_Init gives.
int init_at(int needed, int (*below)(int*, char***), int* argc, char*** argv);
int init_thread_at(int needed, int (*below)(int*, char***, int, int*), int* argc, char*** argv, int required,
                   int* provided);

/// What the program has, where the MPI has `level`.
int level_of_program(int level) noexcept;

}  // namespace sluice::plugin
