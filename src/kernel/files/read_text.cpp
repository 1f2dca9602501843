// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/read_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

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
