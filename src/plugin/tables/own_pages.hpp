// SPDX-License-Identifier: BSD-3-Clause
/// Pages of Sluice's own mappings that are in memory now: the plugin's code and data, and the record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

/// Pages of this process that are in memory, in bytes.
struct Resident {
    std::uint64_t private_bytes = 0;  ///< anonymous
    std::uint64_t shared_bytes = 0;   ///< of shared memory
    std::uint64_t file_bytes = 0;     ///< of files
    std::uint64_t all() const noexcept { return private_bytes + shared_bytes + file_bytes; }
    bool operator==(Resident const&) const = default;
};

/// Counted in full, also where other processes map the same pages: the ranks of a node share the plugin's code.
/// Any thread may call.
class OwnPages {
  public:
    /// The mappings of the module that this code is in. Looks at nothing yet.
    OwnPages();
    /// Another mapping of Sluice: of a file on a disk, or of memory. Of more than `k_ranges`, the last are not counted.
    void add(void const* from, std::uint64_t bytes, bool on_disk) noexcept;

    /// Asks the kernel, which takes about 20 µs. Where it does not tell, the pages of before stay.
    void look() noexcept;
    /// What the last look has found.
    Resident found() const noexcept {
        return {look_at(found_.private_bytes), look_at(found_.shared_bytes), look_at(found_.file_bytes)};
    }
    /// The part of it that other ranks of the node share: pages of the module's file.
    std::uint64_t code() const noexcept { return look_at(code_); }

  private:
    struct Range {
        std::uintptr_t from = 0;
        std::uint64_t bytes = 0;
        bool on_disk = true;
    };
    static constexpr std::size_t k_ranges = 12;

    std::mutex looking_;  // held while the following are written
    std::array<Range, k_ranges> ranges_{};
    std::size_t count_ = 0;
    std::size_t of_module_ = 0;  // the first ranges
    Resident found_;
    std::uint64_t code_ = 0;
};

}  // namespace sluice::plugin
