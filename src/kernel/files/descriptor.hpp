// SPDX-License-Identifier: BSD-3-Clause
/// The owner of a file descriptor, and the numbers that descriptors of Sluice have.
///
///     0 1 2 | 3 4 5 …           … | limit/2 …            | limit
///     never | open for a moment   | stays open           |        limit: RLIMIT_NOFILE, the soft one
///
/// A program may have closed 0, 1 or 2 and count on its next open() getting that number; what is written to such a
/// number, it or a library of it wrote for the terminal. Tools move descriptors of theirs to fixed small numbers. A
/// descriptor that stays open is therefore far above those that the program's own opens get.
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

/// Takes over `number`, as the kernel returned it, for a descriptor that is open for a moment: if it is 0, 1 or 2, the
/// descriptor moves to another number. Without a number there is none, and errno tells why. It is closed on exec.
Descriptor above_standard(int number) noexcept;

/// Takes over `number`, as the kernel returned it, for a descriptor that stays open: it moves to half of the limit or
/// above. There is none if the limit is below k_least_limit_to_keep, because each number may be one that the program
/// needs; errno is EMFILE then. It is closed on exec.
Descriptor out_of_the_way(int number) noexcept;

inline constexpr int k_least_limit_to_keep = 256;

/// From here on the calling thread has a table of descriptors of its own, which is empty; the other threads of the
/// process keep theirs. Returns 0, or an errno: then nothing has changed.
int leave_table_of_process() noexcept;
/// A number of the process's table means nothing to this thread.
bool has_left_table_of_process() noexcept;

}  // namespace sluice::kernel
