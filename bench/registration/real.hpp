// SPDX-License-Identifier: BSD-3-Clause
/// Runs a stream in real time, with buffers that exist, a registrar of the kernel and a helper that is a thread: what
/// the turned clock cannot tell is what the helper costs the program.
#pragma once

#include <optional>
#include <string_view>

#include "memory/registration/registrar.hpp"
#include "registration/stream.hpp"

namespace sluice::bench {

struct RealRun {
    double seconds = 0;
    std::uint64_t peak = 0;
    double average = 0;
    std::uint64_t messages = 0;
    std::uint64_t registered_by_main = 0;
    std::uint64_t refused = 0;  ///< messages whose registration failed
};

/// Buffers of a stream, mapped and touched. Two streams are never mapped at once by this benchmark.
class RealBuffers {
  public:
    explicit RealBuffers(Stream const& stream);
    RealBuffers(RealBuffers const&) = delete;
    RealBuffers& operator=(RealBuffers const&) = delete;
    ~RealBuffers();
    static std::uint64_t bytes_of(Stream const& stream);
    memory::registration::Range real(memory::registration::Range range) const {
        return {range.begin - first_ + at_, range.bytes};
    }

  private:
    std::uintptr_t first_;
    std::uint64_t bytes_;
    std::uintptr_t at_ = 0;
};

/// `scheme` is leave_pinned, direct or sluice; all busy times are divided by `faster`. At the end as much is pinned as
/// before, or an exception is thrown: the kernel's VmPin and VmLck are asked.
RealRun run_real(Stream const& stream, RealBuffers const& buffers, std::string_view scheme,
                 memory::registration::Registrar& registrar, double faster);

/// Returns the time that the stream takes by itself.
double seconds_of(Stream const& stream);

}  // namespace sluice::bench
