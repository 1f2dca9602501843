// SPDX-License-Identifier: BSD-3-Clause
/// Tells when memory that has been registered is unmapped, moved or emptied, also by raw system calls, which the hooks
/// of communication libraries do not see: events of a userfaultfd. No page waits, and none is protected.
///
///     program   munmap ── the kernel: unmapped ── waits ─────────────> returns ── next call: fence()
///     thread                     poll: an event ── handling ── read ──────^ ── changed(range) ── handled
///
/// What changes a mapping returns once its event has been read, so the range is told a little later; fence() waits for
/// that. The thread never allocates, unmaps, registers or calls MPI: it cannot wait for what it is waited for by.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernel/files/descriptor.hpp"
#include "kernel/helper_thread.hpp"
#include "memory/registration/range.hpp"

namespace sluice::plugin {

class MappingWatch final : private kernel::HelperThread::Job {
  public:
    using Range = memory::registration::Range;

    class Listener {
      public:
        /// On the thread of the watch: no content that was there is there any more. Must not allocate or wait.
        virtual void changed(Range range) noexcept = 0;

      protected:
        ~Listener() = default;
    };

    /// Why there is none, in one line: empty if it works.
    std::string open(Listener& listener);
    MappingWatch() = default;
    MappingWatch(MappingWatch const&) = delete;
    MappingWatch& operator=(MappingWatch const&) = delete;
    ~MappingWatch() { close(); }
    void close() noexcept;
    /// In a child of fork(), whose mappings are not watched.
    void abandon() noexcept;

    /// Watches the pages from now on. False if they cannot be: pages of files, another userfaultfd, or no place.
    bool watch(Range range) noexcept;
    bool watches(Range range) const noexcept;
    /// Watches the pages no more, nor what is watched together with them: another service guards them from now on.
    /// Each range that was watched is told as a change.
    void release(Range range) noexcept;
    /// After this, each change that was complete before it has been told.
    void fence() const noexcept {
        while (handling_.load(std::memory_order_acquire))
            [[unlikely]] pause();
    }

  private:
    class Lock {
      public:
        explicit Lock(std::atomic_flag& held) noexcept;
        ~Lock() { held_.clear(std::memory_order_release); }
        Lock(Lock const&) = delete;
        Lock& operator=(Lock const&) = delete;

      private:
        std::atomic_flag& held_;
    };
    static void pause() noexcept;
    kernel::HelperThread::Clock::duration run() noexcept override;
    int descriptor() const noexcept override { return events_.get(); }
    bool take_event() noexcept;
    void change(Range range) noexcept;
    Range release_one(Range pages) noexcept;
    std::size_t first_behind(std::uintptr_t address) const noexcept;
    bool holds(Range pages) const noexcept;
    bool enter(Range pages) noexcept;
    void leave(Range pages) noexcept;

    static constexpr std::size_t k_most = 1024;
    kernel::Descriptor events_;
    Listener* listener_ = nullptr;
    std::atomic<bool> handling_{false};
    mutable std::atomic_flag held_ = ATOMIC_FLAG_INIT;  // for the ranges
    std::size_t used_ = 0;
    std::array<Range, k_most> ranges_{};  // by begin; none overlaps another
    kernel::HelperThread thread_;
};

}  // namespace sluice::plugin
