// SPDX-License-Identifier: BSD-3-Clause
/// Calls that make a datatype of the program usable or end it: they pass, and the table of datatypes is told of those
/// that succeeded. Their wrappers run at every entry, because a callback of the program may make types inside a call of
/// MPI.
#pragma once

#include <mpi.h>

namespace sluice::plugin {

int commit_type(int (*below)(MPI_Datatype*), MPI_Datatype* type);
/// A copy of a type that can be used can be used.
int copy_type(int (*below)(MPI_Datatype, MPI_Datatype*), MPI_Datatype old, MPI_Datatype* copy);
/// These give a type of MPI, which is not freed.
int parametrized_type(int (*below)(int, int, MPI_Datatype*), int first, int second, MPI_Datatype* type);
int parametrized_integer(int (*below)(int, MPI_Datatype*), int range, MPI_Datatype* type);
/// The types that another was made of may come under the handles that the program made it with, each to be freed once
/// more.
int contents_of_type(int (*below)(MPI_Datatype, int, int, int, int*, MPI_Aint*, MPI_Datatype*), MPI_Datatype type,
                     int most_integers, int most_addresses, int most_types, int* integers, MPI_Aint* addresses,
                     MPI_Datatype* types);
int contents_of_large_type(int (*below)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*,
                                        MPI_Count*, MPI_Datatype*),
                           MPI_Datatype type, MPI_Count most_integers, MPI_Count most_addresses, MPI_Count most_counts,
                           MPI_Count most_types, int* integers, MPI_Aint* addresses, MPI_Count* counts,
                           MPI_Datatype* types);
int free_type(int (*below)(MPI_Datatype*), MPI_Datatype* type);

}  // namespace sluice::plugin
