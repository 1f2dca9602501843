/// Buffers whose pages are known to be in memory, so that the kernel is asked about each but once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::interpose {

class ResidentBuffers {
  public:
    bool knows(void const* buffer, std::uint64_t bytes) const noexcept {
        Entry const& entry = entries_[slot_of(buffer)];
        return entry.generation == generation_ && entry.buffer == buffer && entry.bytes >= bytes;
    }
    void add(void const* buffer, std::uint64_t bytes) noexcept {
        entries_[slot_of(buffer)] = {buffer, bytes, generation_};
    }
    /// Memory was given back to the kernel: an address may come again with new pages.
    void forget_all() noexcept { ++generation_; }

  private:
    static constexpr std::size_t k_slots = 256;
    struct Entry {
        void const* buffer = nullptr;
        std::uint64_t bytes = 0;
        std::uint64_t generation = 0;
    };
    static std::size_t slot_of(void const* buffer) noexcept {
        return (reinterpret_cast<std::uint64_t>(buffer) * 0x9e37'79b9'7f4a'7c15ULL >> 40) % k_slots;
    }
    std::array<Entry, k_slots> entries_{};
    std::uint64_t generation_ = 1;
};

}  // namespace sluice::interpose
