// SPDX-License-Identifier: BSD-3-Clause
/// A small file of /proc or of a control group that is read repeatedly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::kernel {

/// Room for one look at a file of the kernel about a process or a control group; their texts are shorter.
using KeptText = std::array<char, 8192>;

/// The file is opened once and closed on exec. A look is one pread of 0.2 to 3 µs; opening the file each time would
/// double that. What it refers to is fixed when it is opened: /proc/self stays the process that opened it. Does not
/// allocate after its construction. Several threads may read it.
class KeptFile {
  public:
    KeptFile() = default;
    explicit KeptFile(char const* path);
    explicit KeptFile(std::string const& path) : KeptFile(path.c_str()) {}
    KeptFile(KeptFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    KeptFile& operator=(KeptFile&& other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~KeptFile();

    bool is_open() const noexcept { return file_ >= 0; }
    /// Returns the first bytes of the file, as many as `room` holds; empty if it cannot be read.
    std::string_view read(std::span<char> room) const noexcept;
    /// Returns the number at the beginning of the file.
    std::optional<std::uint64_t> number() const noexcept;

  private:
    int file_ = -1;
};

}  // namespace sluice::kernel
