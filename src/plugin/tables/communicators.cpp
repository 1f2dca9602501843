// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/communicators.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "mpi/handle_key.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

namespace {

/// World ranks of `n` ≤ 256 ranks of `group` from `begin` on.
bool translate(MPI_Group group, MPI_Group world, int begin, int n, std::array<int, 256>& ranks) noexcept {
    std::array<int, 256> local;
    for (int i = 0; i < n; ++i)
        local[static_cast<std::size_t>(i)] = begin + i;
    return MPI_Group_translate_ranks(group, n, local.data(), world, ranks.data()) == MPI_SUCCESS;
}

/// Finds the stride of the members in world ranks; a few hundred at a time, so that it needs no memory of its
/// own.
bool find_members(MPI_Comm comm, Known& known) noexcept {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    groups::StrideFinder finder;
    bool ours = true;
    std::array<int, 256> ranks{};
    for (int begin = 0; ours && begin < known.size; begin += 256) {
        int const n = std::min(256, known.size - begin);
        ours = translate(group, world, begin, n, ranks);
        for (int const rank : std::span(ranks).first(static_cast<std::size_t>(n))) {
            ours = ours && rank != MPI_UNDEFINED;
            finder.take(rank);
        }
    }
    known.ranks = finder.found();
    if (!ours) known.ranks.stride = 0;
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return ours;
}

/// Neighbours in and out, by the kind of topology.
void find_neighbours(MPI_Comm comm, Known& known) noexcept {
    int kind = MPI_UNDEFINED;
    if (MPI_Topo_test(comm, &kind) != MPI_SUCCESS) return;
    if (kind == MPI_CART) {
        int dimensions = 0;
        MPI_Cartdim_get(comm, &dimensions);
        known.sources = known.targets = 2 * dimensions;
        for (int d = 0; d < dimensions && d < 32; ++d) {
            int below = MPI_PROC_NULL;
            int above = MPI_PROC_NULL;
            MPI_Cart_shift(comm, d, 1, &below, &above);
            if (below == MPI_PROC_NULL) known.no_neighbours |= std::uint64_t{1} << (2 * d);
            if (above == MPI_PROC_NULL) known.no_neighbours |= std::uint64_t{1} << (2 * d + 1);
        }
    } else if (kind == MPI_GRAPH) {
        MPI_Graph_neighbors_count(comm, known.rank, &known.sources);
        known.targets = known.sources;
    } else if (kind == MPI_DIST_GRAPH) {
        int weighted = 0;
        MPI_Dist_graph_neighbors_count(comm, &known.sources, &known.targets, &weighted);
    }
}

}  // namespace

Known shape_from_mpi(MPI_Comm comm) noexcept {
    Known known;
    int inter = 0;
    if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return known;
    if (inter != 0) {
        MPI_Comm_remote_size(comm, &known.remote);
        return known;
    }
    MPI_Comm_size(comm, &known.size);
    MPI_Comm_rank(comm, &known.rank);
    find_neighbours(comm, known);
    return known;
}

void Communicators::start(int world_rank, int world_size, Terms terms) {
    terms_ = terms;
    std::lock_guard const lock(changing_);
    std::uint32_t const id = terms.may_agree && terms.one_thread ? next_id_++ : 0;
    Known world;
    world.size = world_size;
    world.rank = world_rank;
    world.ranks = {0, 1};
    world.id = id;
    enter(world, next_number_++, record::k_no_site, 0, 0);
    keep(MPI_COMM_WORLD, world);
    Known self;
    self.size = 1;
    self.ranks = {world_rank, 1};
    enter(self, next_number_++, record::k_no_site, 0, 0);
    keep(MPI_COMM_SELF, self);
}

/// Collective over `made`, and not under the lock, for another thread may be doing the same on another communicator. An
/// operation of the program that MPI runs meanwhile may throw.
/// Its number in the report; with one thread the same is its id.
std::uint32_t Communicators::agree(MPI_Comm made, Known& known) {
    if (known.size > 1 && terms_.may_agree && terms_.one_thread) {
        // The largest of what the members would take is new to all of them.
        if (MPI_Allreduce(&next_id_, &known.id, 1, MPI_UINT32_T, MPI_MAX, made) != MPI_SUCCESS) known.id = 0;
        if (known.id > 0) next_id_ = known.id + 1;
        return known.id;
    }
    std::uint32_t number = 0;
    if (known.size == 1 || !terms_.may_agree || known.rank == 0) {
        std::lock_guard const lock(changing_);
        number = next_number_++;
    }
    if (known.size > 1 && terms_.may_agree) MPI_Bcast(&number, 1, MPI_UINT32_T, 0, made);
    return number;
}

void Communicators::add(MPI_Comm made, std::uint32_t site, std::uint64_t memory, std::uint64_t now_us) {
    if (made == MPI_COMM_NULL) return;
    Known known = shape_from_mpi(made);
    if (known.size == 0 && known.remote == 0) return;
    bool ours = false;
    std::uint32_t number = 0;
    if (known.size > 0) {
        ours = find_members(made, known);
        if (ours) number = agree(made, known);
    }
    std::lock_guard const lock(changing_);
    if (!ours) ++record_.head.passed_on;
    // A number that a rank gave alone may be another communicator's on another rank.
    bool const has_name = known.size == 1 || terms_.may_agree || !terms_.reports;
    if (known.size > 0 && has_name) enter(known, number, site, memory, now_us);
    if (known.size > 0 && !has_name) ++record_.head.comms_not_kept;
    if (known.size > 0 && known.rank == 0 && known.entry >= record::k_comms) ++record_.head.comms_led;
    keep(made, known);
}

/// Its entry in the record.
void Communicators::enter(Known& known, std::uint32_t number, std::uint32_t site, std::uint64_t memory,
                          std::uint64_t now_us) noexcept {
    if (record_.head.comms < record::k_comms) {
        known.entry = static_cast<std::uint32_t>(record_.head.comms);
        record::Comm& entry = record_.comms[known.entry];
        entry.root = static_cast<std::uint32_t>(std::max(known.ranks.first, 0));
        entry.number = number;
        entry.size = static_cast<std::uint32_t>(known.size);
        entry.rank = static_cast<std::uint32_t>(known.rank);
        entry.first = entry.root;
        entry.stride = known.ranks.stride;
        entry.site = site;
        entry.memory_kib = static_cast<std::uint32_t>(memory / 1024);
        entry.made_us = now_us;
        ++record_.head.comms;
    } else {
        ++record_.head.comms_not_kept;
    }
}

void Communicators::keep(MPI_Comm comm, Known known) noexcept {
    known.serial = next_serial_++;
    try {
        known_[mpi::handle_key(comm)] = known;
    } catch (std::bad_alloc const&) {
        ++record_.head.comms_not_kept;
    }
    last_key_ = 0;
}

void Communicators::remove(MPI_Comm comm, Known const& known, std::uint64_t now_us) noexcept {
    std::lock_guard const lock(changing_);
    auto const found = known_.find(mpi::handle_key(comm));
    // Another thread may have been given the handle meanwhile.
    if (found == known_.end() || found->second.serial != known.serial) return;
    if (found->second.entry < record::k_comms)
        record_.comms[found->second.entry].freed_us = std::max<std::uint64_t>(now_us, 1);
    known_.erase(found);
    last_key_ = 0;
}

Known Communicators::find(MPI_Comm comm) noexcept {
    CallersLock const lock(changing_);
    std::uint64_t const key = mpi::handle_key(comm);
    if (key == last_key_) return last_;
    auto const found = known_.find(key);
    if (found == known_.end()) return {};
    last_key_ = key;
    last_ = found->second;
    return last_;
}

int Communicators::world_rank(MPI_Comm comm, int rank) noexcept {
    Known const known = find(comm);
    if (known.size == 0 || rank < 0 || rank >= known.size) return -1;
    if (known.ranks.is_regular() || known.size == 1) return static_cast<int>(known.ranks.at(rank));
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int found = MPI_UNDEFINED;
    MPI_Group_translate_ranks(group, 1, &rank, world, &found);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return found == MPI_UNDEFINED ? -1 : found;
}

int Communicators::members(MPI_Comm comm, Known const& known, int begin, std::array<int, 256>& ranks) noexcept {
    int const n = std::min(256, known.size - begin);
    if (n <= 0) return 0;
    if (known.ranks.is_regular() || known.size == 1) {
        for (int i = 0; i < n; ++i)
            ranks[static_cast<std::size_t>(i)] = static_cast<int>(known.ranks.at(begin + i));
        return n;
    }
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    bool const known_ranks = translate(group, world, begin, n, ranks);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return known_ranks ? n : 0;
}

bool Communicators::add_to_each(MPI_Comm comm, std::uint64_t bytes) noexcept {
    Known const known = find(comm);
    if (known.size == 1) return true;
    if (known.size == 0 || !known.ranks.is_regular() || known.entry >= record::k_comms) return false;
    record::Comm& entry = record_.comms[known.entry];
    plugin::add(entry.each_bytes, bytes);
    plugin::add(entry.each_messages, 1);
    return true;
}

}  // namespace sluice::plugin
