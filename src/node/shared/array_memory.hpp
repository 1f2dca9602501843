// SPDX-License-Identifier: BSD-3-Clause
/// Memory for arrays that peers of the node can map (sluice/allocate.hpp), and the parts of peers that this process
/// maps.
///
///     allocate ──> part of the shared file ──(refused)──> private memory, and why
///     find(address) ──> the part around it, to be sent to peers
///     of_peer(part) ──> its place in this process, mapped at its first use
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "node/shared/shared_file.hpp"

namespace sluice::node {

/// Thread-safe. Each array takes whole pages. Nothing of it belongs to MPI, so arrays may be freed after MPI_Finalize.
/// After fork() the child has a private view of each array.
class ArrayMemory {
  public:
    /// How long a part of a peer stays mapped at least.
    enum class Keeping : std::uint8_t {
        among_the_last,  ///< until k_most_of_peers other parts have been asked for in this way
        until_forgotten
    };
    /// Parts of peers that stay mapped; of more, those that were used least recently are unmapped.
    static constexpr std::size_t k_most_of_peers = 1024;

    /// `shares`: false if arrays are private from the start (simulator, settings), for the reason `why`.
    static std::shared_ptr<ArrayMemory> make(bool shares, std::string why = {});
    ~ArrayMemory();
    ArrayMemory(ArrayMemory const&) = delete;
    ArrayMemory& operator=(ArrayMemory const&) = delete;

    /// Returns zeroed pages. Throws std::bad_alloc.
    void* allocate(std::uint64_t bytes);
    /// The same, but null instead of private memory.
    void* allocate_shared(std::uint64_t bytes);
    void free(void* array) noexcept;
    /// Whether `array` is the beginning of one of its arrays.
    bool owns(void const* array) const noexcept;

    /// A range that lies in a shared array.
    struct Place {
        SharedPart part;
        std::uint64_t inside = 0;  ///< bytes from the beginning of the part
    };
    std::optional<Place> find(void const* data, std::uint64_t bytes) const noexcept;
    /// Why allocate() has given private memory, at the first call after it did; otherwise empty.
    std::string take_reason_to_tell();

    /// Returns where a part of a peer begins in this process, or null if it cannot be mapped.
    std::byte* of_peer(SharedPart const& part, Keeping keeping = Keeping::among_the_last) noexcept;
    /// Unmaps a part that its owner is about to free, however long it was to be kept.
    void forget(SharedPart const& part) noexcept;
    /// Bytes of peers that are mapped here: they count in this process's resident set, but are not its own.
    std::uint64_t bytes_of_peers() const noexcept;

    /// For tests: the next `failures` calls of allocate_shared (also inside allocate) or of of_peer are refused.
    void fail_shared(unsigned failures) noexcept { failing_shared_ = failures; }
    void fail_of_peers(unsigned failures) noexcept { failing_peers_ = failures; }

  private:
    struct Array {
        std::shared_ptr<SharedFile> file;  // null: private memory
        SharedPart part;
        std::uint64_t bytes = 0;  // whole pages
    };
    struct OfPeer {
        SharedPart part;
        std::byte* base = nullptr;
        bool is_held = false;  // until it is forgotten
    };
    friend struct ArraysAtFork;

    ArrayMemory(bool shares, std::string why);
    void* add_shared(std::uint64_t bytes);
    void* add_private(std::uint64_t bytes);
    void enter_child() noexcept;
    std::list<OfPeer>::iterator find_of_peer(SharedPart const& part) noexcept;
    void hold(OfPeer& peer, Keeping keeping) noexcept;
    void unmap_one_not_held() noexcept;
    void unmap(std::list<OfPeer>::iterator peer) noexcept;

    mutable std::mutex mutex_;
    bool shares_;
    std::string why_;  // why there is no shared memory
    bool has_to_tell_ = false;
    bool has_told_ = false;
    std::shared_ptr<SharedFile> file_;          // for the next array
    std::map<std::byte const*, Array> arrays_;  // by their beginning
    std::list<OfPeer> of_peers_;                // the one used last is the first
    std::size_t held_of_peers_ = 0;
    std::uint64_t bytes_of_peers_ = 0;
    unsigned failing_shared_ = 0;
    unsigned failing_peers_ = 0;
};

}  // namespace sluice::node
