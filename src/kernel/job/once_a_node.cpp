// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/job/once_a_node.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>

#include "base/hash.hpp"
#include "kernel/job/job_name.hpp"

namespace sluice::kernel {

bool is_first_to_say(std::string_view text) noexcept {
    try {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        // A first byte of 0 makes a name that has no file and disappears with the process.
        int const length =
            std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "sluice-%u-%s-%016llx", geteuid(),
                          job_name().c_str(), static_cast<unsigned long long>(base::Fnv1a().add(text).value()));
        std::size_t const bytes = std::min<std::size_t>(sizeof address.sun_path, static_cast<std::size_t>(length) + 1);
        int const taken = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (taken < 0) return true;
        auto const* const where = reinterpret_cast<sockaddr const*>(&address);
        if (bind(taken, where, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes)) == 0) return true;
        bool const is_said = errno == EADDRINUSE;
        close(taken);
        return !is_said;
    } catch (std::exception const&) {  // no memory for the name
        return true;
    }
}

}  // namespace sluice::kernel
