// SPDX-License-Identifier: BSD-3-Clause
/// Pins by registered buffers of an io_uring: the same pinning that adapters do (VmPin counts it), without an adapter.
/// A table of buffers is made once; each registration takes a place in it. Does not allocate after the constructor.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "kernel/files/descriptor.hpp"
#include "memory/registration/registrar.hpp"

namespace sluice::memory::registration {

class FixedBuffers : public Registrar {
  public:
    static constexpr std::uint32_t k_places = 1024;
    static constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 30;  ///< of one buffer: the kernel's own limit

    /// Where the kernel refuses, why_not() tells the reason and add() fails.
    FixedBuffers();

    std::string_view name() const noexcept override { return "io_uring"; }
    std::string why_not() const override { return why_not_; }
    Registered add(Range range) noexcept override;
    Time remove(std::uint64_t key, Range range) noexcept override;

  private:
    int update(std::uint32_t place, Range pages) noexcept;

    kernel::Descriptor ring_;
    std::string why_not_;
    std::mutex mutex_;
    std::vector<std::uint32_t> free_;
};

}  // namespace sluice::memory::registration
