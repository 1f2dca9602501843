#include "engine/helper_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <system_error>

#include "sluice/error.hpp"

namespace sluice::engine {

namespace {

constexpr HelperThread::Clock::duration k_longest_pause = std::chrono::hours(24);  // no sum of times overflows

/// Signals of the program go to the program's threads: the new one inherits that all are blocked.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(SignalsBlocked const&) = delete;
    SignalsBlocked& operator=(SignalsBlocked const&) = delete;

  private:
    sigset_t before_;
};

}  // namespace

HelperThread::~HelperThread() {
    {
        std::lock_guard const lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

HelperThread::Entry* HelperThread::find(Job const& job) noexcept {
    auto const at = std::ranges::find(entries_, &job, &Entry::job);
    return at == entries_.end() ? nullptr : &*at;
}

void HelperThread::add(Job& job) {
    std::lock_guard const lock(mutex_);
    if (!thread_.joinable()) try {
            SignalsBlocked const blocked;
            thread_ = std::thread([this] { live(); });
        } catch (std::system_error const& error) {
            throw Error(ErrorCode::unsupported, std::string("the helper thread cannot be made: ") + error.what());
        }
    entries_.push_back({&job, Clock::now()});
    changed_.notify_all();
}

void HelperThread::remove(Job& job) noexcept {
    std::unique_lock lock(mutex_);
    std::erase_if(entries_, [&](Entry const& entry) { return entry.job == &job; });
    changed_.wait(lock, [&] { return running_ != &job; });
}

void HelperThread::wake(Job& job) noexcept {
    std::lock_guard const lock(mutex_);
    if (Entry* const entry = find(job)) entry->due = Clock::now();
    changed_.notify_all();
}

void HelperThread::live() {
    pthread_setname_np(pthread_self(), "sluice-helper");
    prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; the kernel's 50 µs are as long as what is waited for
    std::unique_lock lock(mutex_);
    while (!ends_) {
        auto const next = std::ranges::min_element(entries_, {}, &Entry::due);
        if (next == entries_.end()) {
            changed_.wait(lock);
            continue;
        }
        if (next->due > Clock::now()) {
            changed_.wait_until(lock, Clock::time_point(next->due));
            continue;
        }
        Job& job = *next->job;
        running_ = &job;
        next->due = Clock::time_point::max();  // who wakes it while it runs makes it due again
        lock.unlock();
        Clock::duration const pause = job.run();
        lock.lock();
        running_ = nullptr;
        if (Entry* const entry = find(job))
            entry->due = std::min(entry->due, Clock::now() + std::min(pause, k_longest_pause));
        changed_.notify_all();
    }
}

}  // namespace sluice::engine
