// SPDX-License-Identifier: BSD-3-Clause
#include "probes/node_barrier.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace sluice::probes {

struct NodeBarrier::Page {
    std::atomic<std::uint32_t> arrived;  ///< in all rounds together, so that it is never set back
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the page is shared between processes");

NodeBarrier::NodeBarrier(std::string const& file, int processes) : processes_(static_cast<std::uint32_t>(processes)) {
    int const opened = open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct stat facts {};
    void* at = MAP_FAILED;
    if (opened >= 0 && fstat(opened, &facts) == 0 && facts.st_size >= static_cast<off_t>(sizeof(Page)))
        at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    int const why = errno;
    if (opened >= 0) close(opened);
    if (at == MAP_FAILED)
        throw std::runtime_error("cannot share the barrier " + file + " (a file of 4096 zero bytes): " +
                                 (opened >= 0 && facts.st_size == 0 ? "it is empty" : std::strerror(why)));
    page_ = static_cast<Page*>(at);
}

NodeBarrier::~NodeBarrier() {
    munmap(page_, sizeof(Page));
}

void NodeBarrier::wait(int seconds) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint32_t const before = page_->arrived.fetch_add(1);
    std::uint32_t const full = (before / processes_ + 1) * processes_;
    // A later round may have begun when we look, hence not "equal".
    while (page_->arrived.load() < full) {
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error(std::to_string(page_->arrived.load() % processes_) + " of " +
                                     std::to_string(processes_) + " processes reached the barrier within " +
                                     std::to_string(seconds) + " seconds");
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

}  // namespace sluice::probes
