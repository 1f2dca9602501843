// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/message_bytes.hpp"

#include <algorithm>

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

namespace {

template <class Count>
std::uint64_t sum(Count const counts[], MPI_Datatype type, std::uint64_t n) noexcept {
    if (counts == nullptr) return 0;
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < n; ++i)
        total += static_cast<std::uint64_t>(std::max<Count>(counts[i], 0));
    return bytes(1, type) * total;
}

template <class Count>
std::uint64_t sum(Count const counts[], MPI_Datatype const types[], std::uint64_t n) noexcept {
    if (counts == nullptr || types == nullptr) return 0;
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < n; ++i)
        if (counts[i] > 0) total += bytes(counts[i], types[i]);
    return total;
}

template <class Count>
std::uint64_t own(Count const counts[], MPI_Datatype type, MPI_Comm comm) noexcept {
    int rank = 0;
    if (counts == nullptr || MPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return 0;
    return bytes(counts[rank], type);
}

/// Neighbours in and out; by the kind of topology.
struct Degree {
    int in = 0;
    int out = 0;
};

Degree degree_of(MPI_Comm comm) noexcept {
    Degree degree;
    int kind = MPI_UNDEFINED;
    if (MPI_Topo_test(comm, &kind) != MPI_SUCCESS) return degree;
    if (kind == MPI_CART) {
        int dimensions = 0;
        MPI_Cartdim_get(comm, &dimensions);
        degree.in = degree.out = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Graph_neighbors_count(comm, rank, &degree.in);
        degree.out = degree.in;
    } else if (kind == MPI_DIST_GRAPH) {
        int weighted = 0;
        MPI_Dist_graph_neighbors_count(comm, &degree.in, &degree.out, &weighted);
    }
    return degree;
}

}  // namespace

void learn_types() noexcept {
    for (MPI_Datatype const type : {MPI_BYTE,
                                    MPI_CHAR,
                                    MPI_DOUBLE,
                                    MPI_INT,
                                    MPI_FLOAT,
                                    MPI_LONG,
                                    MPI_DOUBLE_PRECISION,
                                    MPI_INTEGER,
                                    MPI_REAL,
                                    MPI_PACKED,
                                    MPI_INT64_T,
                                    MPI_UINT64_T,
                                    MPI_UNSIGNED_LONG,
                                    MPI_UNSIGNED,
                                    MPI_INT32_T,
                                    MPI_UINT32_T,
                                    MPI_SHORT,
                                    MPI_INT8_T,
                                    MPI_UINT8_T,
                                    MPI_UNSIGNED_CHAR,
                                    MPI_SIGNED_CHAR,
                                    MPI_INT16_T,
                                    MPI_UINT16_T,
                                    MPI_LOGICAL,
                                    MPI_COMPLEX,
                                    MPI_CHARACTER,
                                    MPI_LONG_LONG,
                                    MPI_DOUBLE_COMPLEX,
                                    MPI_C_BOOL,
                                    MPI_AINT,
                                    MPI_OFFSET,
                                    MPI_COUNT,
                                    MPI_C_DOUBLE_COMPLEX}) {
        MPI_Count size = 0;
        MPI_Count low = 0;
        MPI_Count extent = 0;
        if (type == MPI_DATATYPE_NULL || MPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0 ||
            MPI_Type_get_extent_x(type, &low, &extent) != MPI_SUCCESS || low != 0 || extent != size)
            continue;
        g_plugin.dense_types.add(type, static_cast<std::uint64_t>(size));
    }
}

std::uint64_t bytes(MPI_Count count, MPI_Datatype type) noexcept {
    if (count <= 0) return 0;
    if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
        return static_cast<std::uint64_t>(count) * size;
    MPI_Count size = 0;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

std::uint64_t bytes(int const counts[], MPI_Datatype type, std::uint64_t n) noexcept {
    return sum(counts, type, n);
}
std::uint64_t bytes(MPI_Count const counts[], MPI_Datatype type, std::uint64_t n) noexcept {
    return sum(counts, type, n);
}
std::uint64_t bytes(int const counts[], MPI_Datatype const types[], std::uint64_t n) noexcept {
    return sum(counts, types, n);
}
std::uint64_t bytes(MPI_Count const counts[], MPI_Datatype const types[], std::uint64_t n) noexcept {
    return sum(counts, types, n);
}
std::uint64_t mine(int const counts[], MPI_Datatype type, MPI_Comm comm) noexcept {
    return own(counts, type, comm);
}
std::uint64_t mine(MPI_Count const counts[], MPI_Datatype type, MPI_Comm comm) noexcept {
    return own(counts, type, comm);
}

std::uint64_t size(MPI_Comm comm) noexcept {
    int inter = 0;
    int ranks = 0;
    if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
    if ((inter != 0 ? MPI_Comm_remote_size(comm, &ranks) : MPI_Comm_size(comm, &ranks)) != MPI_SUCCESS) return 0;
    return static_cast<std::uint64_t>(std::max(ranks, 0));
}

std::uint64_t sources(MPI_Comm comm) noexcept {
    return static_cast<std::uint64_t>(std::max(degree_of(comm).in, 0));
}

std::uint64_t targets(MPI_Comm comm) noexcept {
    return static_cast<std::uint64_t>(std::max(degree_of(comm).out, 0));
}

bool root_in(MPI_Comm comm, int root) noexcept {
    int rank = -1;
    int inter = 0;
    if (root == MPI_ROOT) return true;
    if (root < 0 || comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0)
        return false;
    return MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

std::uint64_t span_of(MPI_Count count, MPI_Datatype type) noexcept {
    MPI_Count low = 0;
    MPI_Count extent = 0;
    if (count <= 0) return 0;
    if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
        return static_cast<std::uint64_t>(count) * size;
    if (type == MPI_DATATYPE_NULL) return 0;
    if (MPI_Type_get_extent_x(type, &low, &extent) != MPI_SUCCESS || extent <= 0) return bytes(count, type);
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(extent);
}

}  // namespace sluice::plugin
