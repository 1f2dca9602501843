// SPDX-License-Identifier: BSD-3-Clause
/// A small file of /proc or of a control group that is looked at again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::kernel {

/// Opened once and closed on exec; a look is one pread of 0.2 to 3 µs, where opening it anew would cost as much again.
/// What it refers to is fixed when it is opened: /proc/self stays the process that opened it. Does not allocate after
/// its construction. May be read by several threads.
class KeptFile {
  public:
    KeptFile() = default;
    explicit KeptFile(std::string const& path);
    KeptFile(KeptFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    KeptFile& operator=(KeptFile&& other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~KeptFile();

    bool is_open() const noexcept { return file_ >= 0; }
    /// Its first bytes, as many as `room` takes; none where it cannot be read (any more).
    std::string_view read(std::span<char> room) const noexcept;
    /// The number that it begins with.
    std::optional<std::uint64_t> number() const noexcept;

  private:
    int file_ = -1;
};

/// The number that `text` begins with.
std::optional<std::uint64_t> number_in(std::string_view text) noexcept;

/// The number behind `key` at the beginning of a line, as in "VmRSS:    1234 kB". `key` must be the whole word.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) noexcept;

}  // namespace sluice::kernel
