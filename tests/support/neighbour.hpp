// SPDX-License-Identifier: BSD-3-Clause
/// Another process of the node, which takes memory and frees it on request.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace sluice::tests {

/// A child of this process, so it must be made before MPI_Init. It ends with this object.
class Neighbour {
  public:
    Neighbour() {
        if (pipe(to_) != 0 || pipe(from_) != 0) throw std::runtime_error("no pipe");
        process_ = fork();
        if (process_ == 0) live();
        close(to_[0]);
        close(from_[1]);  // so that the reading process notices when this one dies
        fcntl(from_[0], F_SETFL, O_NONBLOCK);
    }
    Neighbour(Neighbour const&) = delete;
    Neighbour& operator=(Neighbour const&) = delete;
    ~Neighbour() {
        close(to_[1]);
        waitpid(process_, nullptr, 0);
        close(from_[0]);
    }
    pid_t process() const { return process_; }

    /// Takes another MiB, without waiting until it is taken.
    void begin_to_take() const { ask('+'); }
    void begin_to_free() const { ask('-'); }
    /// Returns true once for each request.
    bool has_done_it() const {
        char done = 0;
        ssize_t const got = read(from_[0], &done, 1);
        if (got == 0) throw std::runtime_error("the neighbour is gone");
        return got == 1;
    }
    void take(int mebibytes) const { do_it('+', mebibytes); }
    void free(int mebibytes) const { do_it('-', mebibytes); }

  private:
    static constexpr std::size_t k_step = std::size_t{1} << 20;

    void ask(char what) const {
        if (write(to_[1], &what, 1) != 1) throw std::runtime_error("the neighbour is gone");
    }
    void do_it(char what, int times) const {
        for (int i = 0; i < times; ++i) {
            ask(what);
            pollfd answer{from_[0], POLLIN, 0};
            while (!has_done_it())
                poll(&answer, 1, -1);
        }
    }
    [[noreturn]] void live() const {
        close(to_[1]);
        std::vector<void*> taken;
        for (char what = 0; read(to_[0], &what, 1) == 1;) {
            if (what == '+') {
                // The kernel populates the pages: if a sanitizer noted these writes, its notes would take memory, too.
                taken.push_back(
                    mmap(nullptr, k_step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
            } else {
                munmap(taken.back(), k_step);
                taken.pop_back();
            }
            if (write(from_[1], &what, 1) != 1) break;
        }
        _exit(0);
    }
    int to_[2]{};
    int from_[2]{};
    pid_t process_;
};

}  // namespace sluice::tests
