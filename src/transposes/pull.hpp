// SPDX-License-Identifier: BSD-3-Clause
/// A transpose into another array inside a node: each member reads its part from the arrays of the others.
///
///     member j:  array ── its address, in a message ──> member i:  pieces ── one copy ──> staging ── copy_box ──>
///     array
///
/// The arrays that are read do not change, so nothing is waited for between the addresses and the end, at which the
/// caller sees to it that no member returns before all have read. A part is read box by box, each as large as stays in
/// the cache.
#pragma once

#include <mpi.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "node/remote_memory.hpp"
#include "sluice/transpose.hpp"
#include "transposes/copy_box.hpp"
#include "transposes/exchange.hpp"
#include "transposes/geometry.hpp"

namespace sluice::transposes {

class Pull {
  public:
    Pull(Geometry const& geometry, node::RemoteMemory& peers, Wire const& wire, std::span<std::byte> staging,
         TransposeReport& report) noexcept
        : geometry_(geometry), peers_(peers), wire_(wire), staging_(staging), report_(report) {}

    /// Returns false if the memory of a member could not be read; what was written to `to` is then without meaning.
    bool run(std::byte const* from, std::byte* to);

  private:
    /// What members tell each other first, byte for byte.
    struct Address {
        node::AccessCard card;
        std::uint64_t array = 0;
    };
    /// A box of a member's part, counted from the beginning of the part.
    struct Box {
        Extents begin{};
        Extents extents{};
    };

    Address address_of(int member, int other, Address const& mine) const;
    bool read_part(int member, node::Remote const& array);
    bool read_box(int member, node::Remote const& array, Box const& box);
    bool read_runs(node::Remote const& array, Extents const& strides, Box const& box);

    Geometry const& geometry_;
    node::RemoteMemory& peers_;
    Wire wire_;
    std::span<std::byte> staging_;
    TransposeReport& report_;
    Place to_;
};

}  // namespace sluice::transposes
