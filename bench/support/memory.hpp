// SPDX-License-Identifier: BSD-3-Clause
/// The memory that a process holds, as the kernel counts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::bench {

/// Watches the resident memory of this process from the construction of this object to `peak_growth`.
class ResidentWatch {
  public:
    /// Returns free heap to the kernel and resets the kernel's high-water mark, so that the peak is that of the code
    /// that follows.
    ResidentWatch();
    /// Returns the bytes by which the high-water mark (VmHWM) rose above the memory that was resident at the start.
    std::uint64_t peak_growth() const;
    /// Returns the bytes by which the proportional set (Pss: shared pages divided among their users) has grown since
    /// the start.
    std::uint64_t standing_growth() const;

  private:
    std::uint64_t resident_;
    std::uint64_t proportional_;
};

/// Pages directly from the kernel, untouched; freed when this object dies.
class Pages {
  public:
    Pages() = default;
    explicit Pages(std::size_t bytes);
    Pages(Pages&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Pages& operator=(Pages&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Pages();
    std::byte* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return bytes_; }

  private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace sluice::bench
