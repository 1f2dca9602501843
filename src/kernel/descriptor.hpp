// SPDX-License-Identifier: BSD-3-Clause
/// The owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace sluice::kernel {

class Descriptor {
  public:
    Descriptor() = default;
    /// `number` as the kernel returned it: negative if there is none.
    explicit Descriptor(int number) noexcept : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    bool is_open() const noexcept { return number_ >= 0; }
    int get() const noexcept { return number_; }
    /// The caller closes it.
    int release() noexcept { return std::exchange(number_, -1); }
    void reset() noexcept {
        if (number_ >= 0) close(std::exchange(number_, -1));
    }

  private:
    int number_ = -1;
};

}  // namespace sluice::kernel
