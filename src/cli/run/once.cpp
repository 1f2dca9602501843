// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/once.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>

#include "kernel/launcher.hpp"

namespace sluice::cli {

namespace {

/// Claims the text for this process among the children of one launcher on this node, until the process ends. Returns
/// false if another process has claimed it already.
bool takes_the_word(std::string const& text) {
    std::string const name = fmt::format("sluice-{}-{}-{:x}", getuid(), getppid(), std::hash<std::string>{}(text));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // A first byte of 0 makes a name that has no file and disappears with the process.
    std::size_t const length = std::min(name.size(), sizeof address.sun_path - 1);
    std::copy_n(name.begin(), length, address.sun_path + 1);
    int const taken = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    auto const* const where = reinterpret_cast<sockaddr const*>(&address);
    auto const bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return taken < 0 || bind(taken, where, bytes) == 0 || errno != EADDRINUSE;
}

}  // namespace

void complain(std::string const& text) {
    bool const among_others = kernel::rank_of_launcher() != nullptr;
    if (among_others && !takes_the_word(text)) return;
    fmt::print(stderr, "sluice: {}\n", text);
    if (among_others) usleep(500'000);  // ranks that are a little later find the name taken
}

}  // namespace sluice::cli
