// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/read_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "kernel/files/descriptor.hpp"

namespace sluice::kernel {

std::string_view read_text(char const* path, std::span<char> room) noexcept {
    Descriptor file = above_standard(open(path, O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return {};
    ssize_t const got = pread(file.get(), room.data(), room.size(), 0);
    int const error = errno;
    file.reset();
    errno = error;
    return {room.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

namespace {

/// The file comes in pieces, which may end within a line.
class WantedLines {
  public:
    WantedLines(std::span<std::string_view const> words, std::span<char> room) noexcept : words_(words), room_(room) {}

    /// False at the end of the file, or of what can be read.
    bool read_from(int file) noexcept {
        ssize_t const got = ::read(file, piece_.data() + held_, piece_.size() - held_);
        if (got < 0) return errno == EINTR;
        held_ += static_cast<std::size_t>(got);
        take_lines();
        return got > 0;
    }
    std::string_view found() const noexcept { return {room_.data(), kept_}; }

  private:
    void take_lines() noexcept {
        std::string_view left(piece_.data(), held_);
        for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
            if (!in_long_line_) keep(left.substr(0, end + 1));
            in_long_line_ = false;
            left.remove_prefix(end + 1);
        }
        in_long_line_ = in_long_line_ || left.size() == piece_.size();
        held_ = in_long_line_ ? 0 : left.size();
        std::copy(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(held_), piece_.begin());
    }
    void keep(std::string_view line) noexcept {
        bool const is_wanted =
            std::any_of(words_.begin(), words_.end(), [&](std::string_view word) { return line.starts_with(word); });
        if (!is_wanted || line.size() > room_.size() - kept_) return;
        std::copy(line.begin(), line.end(), room_.begin() + static_cast<std::ptrdiff_t>(kept_));
        kept_ += line.size();
    }

    std::span<std::string_view const> words_;
    std::span<char> room_;
    std::array<char, 512> piece_;
    std::size_t held_ = 0;  // of a line that has not ended
    std::size_t kept_ = 0;
    bool in_long_line_ = false;
};

}  // namespace

std::string_view read_lines(char const* path, std::span<std::string_view const> words, std::span<char> room) noexcept {
    Descriptor file = above_standard(open(path, O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return {};
    WantedLines lines(words, room);
    while (lines.read_from(file.get())) {
    }
    int const error = errno;
    file.reset();
    errno = error;
    return lines.found();
}

std::string whole_text(std::string const& path) {
    Descriptor const file = above_standard(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    std::array<char, 4096> room;
    for (ssize_t got = 0; file.is_open(); text.append(room.data(), static_cast<std::size_t>(got))) {
        got = ::read(file.get(), room.data(), room.size());
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
    }
    return text;
}

}  // namespace sluice::kernel
