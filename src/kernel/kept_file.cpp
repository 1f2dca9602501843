// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/kept_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "kernel/proc_text.hpp"

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

}  // namespace sluice::kernel
