// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/file_mark.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/hash.hpp"

namespace sluice::kernel {

std::uint64_t file_mark(char const* path) noexcept {
    struct stat status {};
    if (stat(path, &status) != 0) return 0;
    auto const number = [](auto value) { return static_cast<std::uint64_t>(value); };
    std::uint64_t const hash = base::Fnv1a()
                                   .add(number(status.st_size))
                                   .add(number(status.st_mtim.tv_sec))
                                   .add(number(status.st_mtim.tv_nsec))
                                   .value();
    // report.json keeps it as a number that every reader of JSON can hold.
    return std::max<std::uint64_t>(hash >> 12, 1);
}

}  // namespace sluice::kernel
