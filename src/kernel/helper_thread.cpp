// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/helper_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernel/files/descriptor.hpp"
#include "kernel/thread/alarm_clock.hpp"
#include "kernel/thread/make_thread.hpp"
#include "sluice/error.hpp"

namespace sluice::kernel {

namespace {

constexpr HelperThread::Clock::duration k_longest_pause = std::chrono::hours(24);  // so that no sum of times overflows

}  // namespace

/// The thread of one process and the jobs that it runs. A child of fork() inherits a copy without the thread, which may
/// have been half changed at that moment: the child leaves it alone.
class HelperThread::Loop {
  public:
    explicit Loop(Table table);
    ~Loop();
    Loop(Loop const&) = delete;
    Loop& operator=(Loop const&) = delete;

    bool is_of_this_process() const noexcept { return process_ == getpid(); }
    /// In a child: closes its copies of the descriptors.
    void abandon() noexcept { alarm_.abandon(); }
    void add(Job& job);
    void remove(Job& job) noexcept;
    void wake(Job& job) noexcept;

  private:
    struct Entry {
        Job* job;
        int descriptor;
        std::uint64_t number;  // unlike that of each other entry, before and after
        Clock::time_point due;
        std::uint64_t last_turn;  // of entries due at the same time, the one that has not run for longest goes first
    };

    static void* begin(void* loop);
    void tell_that_it_began(int error) noexcept;
    void live();
    void wait(std::unique_lock<std::mutex>& lock, Clock::time_point until);
    void run(std::unique_lock<std::mutex>& lock, Entry& entry);
    void take_news(AlarmClock::News const& news) noexcept;
    void call_thread() noexcept;
    Entry* first() noexcept;
    Entry* find(Job const& job) noexcept;
    Entry* find(std::uint64_t number) noexcept;

    static constexpr int k_not_yet = -1;

    pid_t const process_ = getpid();
    Table const table_;
    AlarmClock alarm_;
    std::mutex mutex_;  // guards the following members
    std::condition_variable ran_;
    std::vector<Entry> entries_;
    std::size_t with_descriptor_ = 0;
    std::uint64_t numbers_ = 0;
    std::uint64_t turns_ = 0;
    Job const* running_ = nullptr;
    bool sleeps_ = false;
    bool ends_ = false;
    int began_ = k_not_yet;   // 0, or the errno with which the thread ends at once
    pthread_t const thread_;  // the last member: it uses the others
};

HelperThread::Loop::Loop(Table table) : table_(table), thread_(make_thread(k_stack_bytes, &Loop::begin, this)) {
    std::unique_lock lock(mutex_);
    ran_.wait(lock, [&] { return began_ != k_not_yet; });
    if (began_ == 0) return;
    join_thread(thread_);
    throw Error(ErrorCode::unsupported,
                std::string("the helper thread can have no descriptors of its own: ") + std::strerror(began_));
}

HelperThread::Loop::~Loop() {
    {
        std::lock_guard const lock(mutex_);
        ends_ = true;
        call_thread();
    }
    join_thread(thread_);
}

void* HelperThread::Loop::begin(void* loop) {
    auto& self = *static_cast<Loop*>(loop);
    pthread_setname_np(pthread_self(), "sluice-helper");
    // The kernel would wake it up to 50 µs late; the slack is that of this thread alone.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    int const error = self.table_ == Table::its_own ? leave_table_of_process() : 0;
    self.tell_that_it_began(error);
    if (error == 0) self.live();
    return nullptr;
}

void HelperThread::Loop::tell_that_it_began(int error) noexcept {
    std::lock_guard const lock(mutex_);
    began_ = error;
    ran_.notify_all();
}

HelperThread::Loop::Entry* HelperThread::Loop::find(Job const& job) noexcept {
    auto const at = std::ranges::find(entries_, &job, &Entry::job);
    return at == entries_.end() ? nullptr : &*at;
}

HelperThread::Loop::Entry* HelperThread::Loop::find(std::uint64_t number) noexcept {
    auto const at = std::ranges::find(entries_, number, &Entry::number);
    return at == entries_.end() ? nullptr : &*at;
}

HelperThread::Loop::Entry* HelperThread::Loop::first() noexcept {
    auto const at = std::ranges::min_element(entries_, [](Entry const& a, Entry const& b) {
        return a.due != b.due ? a.due < b.due : a.last_turn < b.last_turn;
    });
    return at == entries_.end() ? nullptr : &*at;
}

/// The caller holds the mutex, so the thread either sleeps or sees what was changed.
void HelperThread::Loop::call_thread() noexcept {
    if (sleeps_) alarm_.ring();
    sleeps_ = false;
}

void HelperThread::Loop::add(Job& job) {
    std::lock_guard const lock(mutex_);
    if (Entry* const entry = find(job)) {
        entry->due = std::min(entry->due, Clock::now());
    } else {
        entries_.reserve(entries_.size() + 1);
        Entry const added{&job, job.descriptor(), ++numbers_, Clock::now(), turns_};
        if (added.descriptor >= 0) {
            if (table_ == Table::its_own)
                throw Error(ErrorCode::unsupported,
                            "a helper thread with descriptors of its own cannot wait for one of the program");
            alarm_.listen_to(added.descriptor, added.number);
            ++with_descriptor_;
        }
        entries_.push_back(added);
    }
    call_thread();
}

void HelperThread::Loop::remove(Job& job) noexcept {
    std::unique_lock lock(mutex_);
    if (Entry* const entry = find(job)) {
        if (entry->descriptor >= 0) {
            alarm_.forget(entry->descriptor);
            --with_descriptor_;
        }
        entries_.erase(entries_.begin() + (entry - entries_.data()));
    }
    ran_.wait(lock, [&] { return running_ != &job; });
}

void HelperThread::Loop::wake(Job& job) noexcept {
    std::lock_guard const lock(mutex_);
    Entry* const entry = find(job);
    if (entry == nullptr) return;
    entry->due = std::min(entry->due, Clock::now());
    call_thread();
}

void HelperThread::Loop::live() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
        Entry* const next = first();
        if (next != nullptr && next->due <= Clock::now())
            run(lock, *next);
        else
            wait(lock, next == nullptr ? Clock::time_point::max() : next->due);
    }
}

void HelperThread::Loop::wait(std::unique_lock<std::mutex>& lock, Clock::time_point until) {
    sleeps_ = true;
    lock.unlock();
    AlarmClock::News const news = alarm_.sleep_until(until);
    lock.lock();
    sleeps_ = false;
    take_news(news);
}

/// A job whose descriptor is readable is due. What is told of a job that has been removed meanwhile is forgotten.
void HelperThread::Loop::take_news(AlarmClock::News const& news) noexcept {
    if (news.count == 0) return;
    auto const now = Clock::now();
    for (std::size_t i = 0; i < news.count; ++i)
        if (Entry* const entry = find(news.told[i].number)) {
            entry->due = std::min(entry->due, now);
            if (!news.told[i].is_over) continue;
            alarm_.forget(entry->descriptor);
            entry->descriptor = -1;
            --with_descriptor_;
        }
}

void HelperThread::Loop::run(std::unique_lock<std::mutex>& lock, Entry& entry) {
    Job& job = *entry.job;
    running_ = &job;
    std::uint64_t const number = entry.number;
    entry.due = Clock::time_point::max();  // wake() during the run makes it due again
    entry.last_turn = ++turns_;
    lock.unlock();
    Clock::duration const pause = job.run();
    lock.lock();
    running_ = nullptr;
    if (with_descriptor_ > 0) take_news(alarm_.look());  // what became readable meanwhile is due before this job is
    if (Entry* const again = find(number))
        again->due = std::min(again->due, Clock::now() + std::min(pause, k_longest_pause));
    ran_.notify_all();
}

HelperThread::~HelperThread() {
    Loop* const loop = loop_.load();
    if (loop == nullptr) return;
    if (loop->is_of_this_process())
        delete loop;
    else
        loop->abandon();  // what it holds may be locked or half changed, so it is not destroyed
}

/// Null if this process has none: before the first job, and in a child that has inherited its parent's.
HelperThread::Loop* HelperThread::own() const noexcept {
    Loop* const loop = loop_.load();
    return loop != nullptr && loop->is_of_this_process() ? loop : nullptr;
}

void HelperThread::add(Job& job) {
    if (!is_possible()) throw Error(ErrorCode::unsupported, "simulated ranks have no helper thread");
    Loop* current = loop_.load();
    if (current == nullptr || !current->is_of_this_process()) {
        auto made = std::make_unique<Loop>(table_);
        // If another thread adds its first job now, one of the two threads is ended again.
        if (Loop* const before = current; loop_.compare_exchange_strong(current, made.get())) {
            current = made.release();
            if (before != nullptr) before->abandon();
        }
    }
    current->add(job);
}

void HelperThread::remove(Job& job) noexcept {
    if (Loop* const loop = own()) loop->remove(job);
}

void HelperThread::wake(Job& job) noexcept {
    if (Loop* const loop = own()) loop->wake(job);
}

}  // namespace sluice::kernel
