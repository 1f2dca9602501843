// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/patient_write.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/without_signals.hpp"

namespace sluice::kernel {

namespace {

/// Where a text goes. Writes to it do not block if the kernel offers that.
class Target {
  public:
    explicit Target(int file) noexcept : file_(file) {
        struct stat status {};
        if (fstat(file, &status) != 0) return;
        is_socket_ = S_ISSOCK(status.st_mode);
        may_block_ = !S_ISREG(status.st_mode) && !is_socket_;
        if (!may_block_) return;
        // O_NONBLOCK belongs to the open file, which the program and its launcher share: so it is opened once more, by
        // the table of this thread, which may have one of its own.
        std::array<char, 32> path{};
        std::snprintf(path.data(), path.size(), "/proc/thread-self/fd/%d", file);
        own_ = above_standard(open(path.data(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (own_.is_open()) file_ = own_.get();
    }

    ssize_t write(std::string_view text) const noexcept {
        if (is_socket_) return send(file_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        // A pipe with room for anything has room for so much.
        std::size_t const most = may_block_ && !own_.is_open() ? PIPE_BUF : text.size();
        return ::write(file_, text.data(), std::min(text.size(), most));
    }

    bool has_room(std::chrono::milliseconds patience) const noexcept {
        pollfd what{file_, POLLOUT, 0};
        int ready = 0;
        do
            ready = poll(&what, 1, static_cast<int>(patience.count()));
        while (ready < 0 && errno == EINTR);
        return ready > 0;
    }

    bool must_ask_first() const noexcept { return may_block_ && !own_.is_open(); }

  private:
    int file_;
    bool is_socket_ = false;
    bool may_block_ = false;
    Descriptor own_;
};

}  // namespace

bool write_patiently(int file, std::string_view text, std::chrono::milliseconds patience) noexcept {
    WithoutFileSignals const quiet;
    Target const target(file);
    while (!text.empty()) {
        if (target.must_ask_first() && !target.has_room(patience)) return false;
        ssize_t const wrote = target.write(text);
        if (wrote > 0) {
            text.remove_prefix(static_cast<std::size_t>(wrote));
            continue;
        }
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && target.has_room(patience)) continue;
        return false;
    }
    return true;
}

}  // namespace sluice::kernel
