// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/job/once_a_node.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/hash.hpp"
#include "kernel/files/descriptor.hpp"
#include "kernel/job/job_name.hpp"

namespace sluice::kernel {

namespace {

/// The sockets whose names are texts that this process was the first to say. The program may close them, and the
/// numbers are then those of its own files, so each is known by its inode, which no other socket has.
class SaidTexts {
  public:
    void keep(Descriptor socket) noexcept {
        struct stat status {};
        if (count_ == sockets_.size() || fstat(socket.get(), &status) != 0) return;
        sockets_[count_++] = {socket.release(), status.st_dev, status.st_ino};
    }
    void forget() noexcept {
        for (; count_ > 0; --count_) {
            Socket const& socket = sockets_[count_ - 1];
            struct stat now {};
            if (fstat(socket.number, &now) == 0 && now.st_dev == socket.device && now.st_ino == socket.inode)
                close(socket.number);
        }
    }

  private:
    struct Socket {
        int number;
        dev_t device;
        ino_t inode;
    };
    std::array<Socket, 16> sockets_{};
    std::size_t count_ = 0;
};

constinit SaidTexts g_said;

}  // namespace

bool is_first_to_say(std::string_view text) noexcept {
    try {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        // A first byte of 0 makes a name that has no file and disappears with the process.
        int const length =
            std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "sluice-%u-%s-%016llx", geteuid(),
                          job_name().c_str(), static_cast<unsigned long long>(base::Fnv1a().add(text).value()));
        std::size_t const bytes = std::min<std::size_t>(sizeof address.sun_path, static_cast<std::size_t>(length) + 1);
        Descriptor socket = out_of_the_way(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (!socket.is_open()) return true;
        auto const* const where = reinterpret_cast<sockaddr const*>(&address);
        if (bind(socket.get(), where, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes)) != 0)
            return errno != EADDRINUSE;
        g_said.keep(std::move(socket));
        return true;
    } catch (std::exception const&) {  // no memory for the name
        return true;
    }
}

void forget_what_was_said() noexcept {
    g_said.forget();
}

}  // namespace sluice::kernel
