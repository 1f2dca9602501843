// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/kept_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::kernel {

KeptFile::KeptFile(char const* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}

KeptFile::~KeptFile() {
    if (file_ >= 0) close(file_);
}

std::string_view KeptFile::read(std::span<char> room) const noexcept {
    if (file_ < 0) return {};
    ssize_t const got = pread(file_, room.data(), room.size(), 0);
    return {room.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::optional<std::uint64_t> KeptFile::number() const noexcept {
    std::array<char, 32> room;
    return number_in(read(room));
}

std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data()) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) noexcept {
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with(key)) continue;
        std::string_view const rest = line.substr(key.size());
        std::size_t const digit = rest.find_first_not_of(" \t");
        if (digit != std::string_view::npos && (digit > 0 || key.ends_with(':')))
            if (auto const number = number_in(rest.substr(digit))) return number;
    }
    return std::nullopt;
}

}  // namespace sluice::kernel
