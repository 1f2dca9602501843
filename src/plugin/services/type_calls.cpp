// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/type_calls.hpp"

#include "plugin/binding/plugin.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/services/job.hpp"

namespace sluice::plugin {

namespace {

/// Null while nothing acts.
Datatypes* known_types() noexcept {
    Job* const job = g_plugin.served.load(std::memory_order_acquire);
    return job != nullptr ? &job->watch.datatypes() : nullptr;
}

int made(int code, MPI_Datatype const* type) noexcept {
    Datatypes* const known = known_types();
    if (code == MPI_SUCCESS && known != nullptr && *type != MPI_DATATYPE_NULL) known->add(*type);
    return code;
}

template <class Number>
int told_contents(int code, Number number, MPI_Datatype const* types) noexcept {
    Datatypes* const known = known_types();
    for (Number i = 0; code == MPI_SUCCESS && known != nullptr && i < number; ++i)
        known->add_reference(types[i]);
    return code;
}

}  // namespace

int commit_type(int (*below)(MPI_Datatype*), MPI_Datatype* type) {
    return made(below(type), type);
}

int copy_type(int (*below)(MPI_Datatype, MPI_Datatype*), MPI_Datatype old, MPI_Datatype* copy) {
    int const code = below(old, copy);
    Datatypes* const known = known_types();
    return known != nullptr && code == MPI_SUCCESS && known->find(old) ? made(code, copy) : code;
}

int parametrized_type(int (*below)(int, int, MPI_Datatype*), int first, int second, MPI_Datatype* type) {
    return made(below(first, second, type), type);
}

int parametrized_integer(int (*below)(int, MPI_Datatype*), int range, MPI_Datatype* type) {
    return made(below(range, type), type);
}

int contents_of_type(int (*below)(MPI_Datatype, int, int, int, int*, MPI_Aint*, MPI_Datatype*), MPI_Datatype type,
                     int most_integers, int most_addresses, int most_types, int* integers, MPI_Aint* addresses,
                     MPI_Datatype* types) {
    int const code = below(type, most_integers, most_addresses, most_types, integers, addresses, types);
    int number = 0;
    int unused = 0;
    if (code == MPI_SUCCESS && known_types() != nullptr)
        MPI_Type_get_envelope(type, &unused, &unused, &number, &unused);
    return told_contents(code, number, types);
}

int contents_of_large_type(int (*below)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*,
                                        MPI_Count*, MPI_Datatype*),
                           MPI_Datatype type, MPI_Count most_integers, MPI_Count most_addresses, MPI_Count most_counts,
                           MPI_Count most_types, int* integers, MPI_Aint* addresses, MPI_Count* counts,
                           MPI_Datatype* types) {
    int const code =
        below(type, most_integers, most_addresses, most_counts, most_types, integers, addresses, counts, types);
    MPI_Count number = 0;
#if MPI_VERSION >= 4
    MPI_Count unused = 0;
    int combiner = 0;
    if (code == MPI_SUCCESS && known_types() != nullptr)
        MPI_Type_get_envelope_c(type, &unused, &unused, &unused, &number, &combiner);
#endif
    return told_contents(code, number, types);
}

int free_type(int (*below)(MPI_Datatype*), MPI_Datatype* type) {
    Datatypes* const known = known_types();
    if (known == nullptr || type == nullptr) return below(type);
    MPI_Datatype const freed = *type;
    std::uint64_t const number = known->number_of(freed);
    int const code = below(type);
    if (code == MPI_SUCCESS && number != 0) known->remove(freed, number);
    return code;
}

}  // namespace sluice::plugin
