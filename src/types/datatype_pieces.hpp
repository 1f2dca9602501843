// SPDX-License-Identifier: BSD-3-Clause
/// Which bytes of memory a (buffer, count, datatype) names: exactly those, in the order in which MPI packs them.
///
///     MPI type                      TypeMap: three kinds of nodes          PieceCursor: address, bytes
///     vector(3, 2, 4, struct{…})    loop 3 x stride ── list ┬─ run         (0x…00, 8) (0x…10, 24) …
///                                                           └─ loop ── run
///
/// Adjacent runs are merged while the map is made, so data that are dense in memory are a single run whatever their
/// type, and walking them costs nothing for each element.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::types {

/// Contiguous bytes. A piece without bytes marks the end.
struct Piece {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
};

/// A datatype taken apart (MPI_Type_get_envelope and _contents). Does not refer to the datatype afterwards. Takes no
/// heap memory for a dense type, otherwise 48 bytes for each constructor and 24 bytes for each entry of an indexed or
/// struct constructor that does not touch the entry before; nothing grows with the number of pieces. While it is made,
/// the lists of the type exist twice, as MPI returns them. (Open MPI returns a new handle at each use of an inner type,
/// so there a type used twice inside counts twice.)
class TypeMap {
  public:
    enum class Kind : std::uint8_t { run, loop, list };

    /// The offset of a node counts from the position that the node above gives it.
    struct Node {
        Kind kind = Kind::run;
        std::uint32_t child = 0;  ///< loop: the node that is repeated; list: its first entry
        std::uint64_t size = 0;   ///< bytes of all its pieces
        std::uint64_t count = 0;  ///< loop: repetitions; list: entries
        std::int64_t offset = 0;  ///< run and loop: offset of the first byte, of the first repetition
        std::int64_t stride = 0;  ///< loop: from one repetition to the next
    };

    /// An entry of a list: a node at an offset, or a run of its own (`node` == k_none).
    struct Entry {
        std::int64_t offset;
        std::uint64_t size;
        std::uint32_t node;
    };
    static constexpr std::uint32_t k_none = 0xffffffff;
    static constexpr std::uint32_t k_root = 0xfffffffe;  ///< as a child: the root of the map

    /// Throws Error(mpi) if MPI refuses `type`, and Error(unsupported) for a constructor that no MPI-3 function makes.
    explicit TypeMap(MPI_Datatype type);

    std::uint64_t size() const noexcept { return root_.size; }
    std::int64_t extent() const noexcept { return extent_; }
    /// The nesting of loops and lists.
    std::size_t depth() const noexcept { return depth_; }
    /// Heap memory in bytes.
    std::uint64_t memory() const noexcept {
        return nodes_.capacity() * sizeof(Node) + entries_.capacity() * sizeof(Entry);
    }

    Node const& root() const noexcept { return root_; }
    Node const& node(std::uint32_t index) const noexcept { return nodes_[index]; }
    Entry const& entry(std::uint64_t index) const noexcept { return entries_[index]; }

    /// `count` elements of the type, one extent apart, as one node: a run, or a loop over `k_root`.
    Node repeated(std::uint64_t count) const noexcept;

  private:
    friend class TypeMapBuilder;
    std::vector<Node> nodes_;  // children before parents; empty if the root is a run
    std::vector<Entry> entries_;
    Node root_;
    std::int64_t extent_ = 0;
    std::size_t depth_ = 0;
};

/// A position in the pieces of (buffer, count, type). Refers to the map, which must outlive it. Allocates only in its
/// constructor, a few words for each level of the type, and nothing for a dense one.
class PieceCursor {
  public:
    /// `buffer` may be MPI_BOTTOM for a type of absolute addresses.
    PieceCursor(TypeMap const& map, void const* buffer, std::uint64_t count);
    PieceCursor(PieceCursor const&) = delete;  // its frames point into it
    PieceCursor& operator=(PieceCursor const&) = delete;

    /// Bytes of all pieces.
    std::uint64_t size() const noexcept { return top_.size; }
    /// Whether all bytes are contiguous; `first` is then the address of the first one.
    bool is_contiguous() const noexcept { return top_.kind == TypeMap::Kind::run; }
    std::byte* first() const noexcept { return at(base_ + top_.offset); }

    /// Returns the next contiguous bytes, at most `most`, and moves past them.
    Piece next(std::size_t most) noexcept;

  private:
    struct Frame {
        TypeMap::Node const* node;
        std::uint64_t index;  // of the next repetition or entry
        std::int64_t base;
    };

    static std::byte* at(std::int64_t address) noexcept {
        return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
    }
    bool find_run() noexcept;
    void enter(TypeMap::Node const& node, std::int64_t base) noexcept;
    void enter_next(Frame& frame) noexcept;

    TypeMap const* map_ = nullptr;
    TypeMap::Node top_;
    std::int64_t base_ = 0;
    std::vector<Frame> frames_;
    std::size_t depth_ = 0;
    bool begun_ = false;
    std::int64_t run_ = 0;  // address of the rest of the current run
    std::uint64_t run_bytes_ = 0;
};

/// Copies the next `to.size()` bytes of the cursor to `to`. The cursor must have at least that number left.
void pack(PieceCursor& from, std::span<std::byte> to) noexcept;
/// Copies `from` over the next `from.size()` bytes of the cursor, which must have at least that number left.
void unpack(std::span<std::byte const> from, PieceCursor& to) noexcept;

}  // namespace sluice::types
