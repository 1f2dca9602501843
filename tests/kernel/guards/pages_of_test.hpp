// SPDX-License-Identifier: BSD-3-Clause
/// Pages for the tests of guards, and what the kernel says of them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "kernel/guards/guarded_pages.hpp"

namespace sluice::tests {

inline constexpr std::size_t k_page = 4096;

/// A private anonymous mapping, which each test may change as it likes.
class Pages {
  public:
    explicit Pages(std::size_t count, int protection = PROT_READ | PROT_WRITE, int flags = MAP_PRIVATE | MAP_ANONYMOUS)
        : bytes_(count * k_page), begin_(static_cast<std::byte*>(mmap(nullptr, bytes_, protection, flags, -1, 0))) {}
    Pages(Pages const&) = delete;
    Pages& operator=(Pages const&) = delete;
    ~Pages() { munmap(begin_, bytes_); }

    std::byte* page(std::size_t number) const { return begin_ + number * k_page; }
    std::size_t bytes() const { return bytes_; }
    void fill(std::byte value) const {
        for (std::size_t i = 0; i < bytes_; ++i)
            begin_[i] = value;
    }

  private:
    std::size_t bytes_;
    std::byte* begin_;
};

inline std::size_t count_mappings() {
    std::ifstream file("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);)
        ++count;
    return count;
}

/// Bytes of this process in memory or in huge pages, as `key` ("Rss:", "AnonHugePages:") of smaps_rollup.
inline std::uint64_t rollup(std::string const& key) {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;)
        if (word == key) {
            std::uint64_t kib = 0;
            file >> kib;
            return kib * 1024;
        }
    return 0;
}

/// The test of a rung that this machine lacks is skipped, and says why.
#define SLUICE_NEEDS_RUNG(guards, wanted)                                           \
    if ((guards).rung() != (wanted))                                                \
    GTEST_SKIP() << "the rung " << kernel::name_of(wanted) << " is not to be had: " \
                 << ((guards).why_not().empty() ? "the kernel lacks UFFDIO_MOVE" : (guards).why_not())

/// Runs the function in a child process; true if it returned true.
template <class Function>
bool in_child(Function const& function) {
    pid_t const child = fork();
    if (child == 0) _exit(function() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace sluice::tests
