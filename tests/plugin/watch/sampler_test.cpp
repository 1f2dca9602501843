// SPDX-License-Identifier: BSD-3-Clause
/// The sampler shares the helper thread with other jobs.
#include "plugin/watch/sampler.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"
#include "plugin/services/job.hpp"
#include "support/limits/descriptors.hpp"

namespace sluice::plugin {
namespace {

/// Wants to run all the time, and counts its own runs from one sample to the next.
struct Busy final : kernel::HelperThread::Job {
    explicit Busy(Watch& watch) : watch_(watch) {}
    kernel::HelperThread::Clock::duration run() noexcept override {
        samples = watch_.record().head.recent;
        ++runs;
        return kernel::HelperThread::Clock::duration::zero();
    }
    Watch& watch_;
    std::atomic<std::uint64_t> samples{0};
    std::atomic<std::uint64_t> runs{0};
};

TEST(Sampler, takes_its_samples_while_another_job_always_wants_to_run) {
    Job job{Settings{}};
    job.watch.clock().start();
    Busy busy(job.watch);
    job.helper_thread->add(busy);
    while (busy.runs < 100)
        std::this_thread::yield();
    auto sampler = std::make_unique<Sampler>(*job.helper_thread, job.watch, job.memory);
    while (busy.samples < 10)
        std::this_thread::yield();
    EXPECT_GT(busy.runs, 110U) << "the other job ran between the samples";
    job.helper_thread->remove(busy);
    sampler.reset();
    std::uint64_t const samples = job.watch.record().head.recent;
    EXPECT_GE(samples, 11U) << "the last one is taken at the end";
    job.helper_thread.reset();
    EXPECT_EQ(job.watch.record().head.recent, samples);
}

TEST(Sampler, lets_the_budget_follow_the_free_memory) {
    Job job{Settings{}};
    job.watch.clock().start();
    Sampler const sampler(*job.helper_thread, job.watch, job.memory);
    std::uint64_t const looks = job.memory.looks();
    while (job.memory.looks() < looks + 3)
        std::this_thread::yield();
}

TEST(Sampler, goes_on_if_the_program_has_used_up_its_descriptors) {
    Job job{Settings{}};
    job.watch.clock().start();
    Sampler const sampler(*job.helper_thread, job.watch, job.memory);
    tests::DescriptorLimit const none_free(3);
    std::uint64_t const samples = look_at(job.watch.record().head.recent);
    std::uint64_t const looks = job.memory.looks();
    while (look_at(job.watch.record().head.recent) < samples + 3 || job.memory.looks() < looks + 3)
        std::this_thread::yield();
    EXPECT_EQ(job.watch.memory().looks_without_descriptor(), 0U);
}

/// What the kernel says that this process has held at most, in KiB.
std::uint64_t most_held() {
    kernel::KernelText room;
    auto const status = kernel::memory_status_in(kernel::read_text("/proc/self/status", room));
    return status ? status->high_water / 1024 : 0;
}

TEST(Sampler, knows_a_peak_that_no_sample_has_seen_and_its_parts_add_up) {
    Job job{Settings{}};
    job.watch.clock().start();
    // By the kernel alone: an allocator, above all a sanitizer's, keeps what is freed.
    constexpr std::size_t k_passing = 64 << 20;
    void* const passing =
        mmap(nullptr, k_passing, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ASSERT_NE(passing, MAP_FAILED);
    ASSERT_EQ(munmap(passing, k_passing), 0);
    std::vector<char> const held(8 << 20, 'x');
    static_cast<void>(Sampler(*job.helper_thread, job.watch, job.memory));
    record::Sample const& peak = job.watch.record().head.peak;
    EXPECT_GE(peak.resident, 64U << 10);
    EXPECT_EQ(job.watch.record().head.peak_seen, record::PeakSeen::between_samples);
    EXPECT_NEAR(static_cast<double>(peak.resident), static_cast<double>(most_held()), 300.0);
    EXPECT_GE(peak.resident, peak.mpi_private + peak.mpi_shared + peak.files + peak.sluice + (64U << 10));
}

/// Two reserved huge pages more than the machine has, where it lets this process have them; given back at the end.
/// Tests that do so wait for each other.
class TwoHugePages {
  public:
    static constexpr std::size_t k_bytes = std::size_t{4} << 20;

    TwoHugePages() : number_(open("/proc/sys/vm/nr_hugepages", O_RDWR | O_CLOEXEC)) {
        if (!number_.is_open() || flock(number_.get(), LOCK_EX) != 0) return;
        kernel::KernelText room;
        std::string_view const size = kernel::read_text("/proc/meminfo", room);
        if (kernel::bytes_after(size, "Hugepagesize:") != k_bytes / 2) return;
        before_ = kernel::number_in(kernel::read_text("/proc/sys/vm/nr_hugepages", room));
        if (!before_) return;
        reserve(*before_ + 2);
        void* const mapped =
            mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (mapped != MAP_FAILED) memory_ = static_cast<char*>(mapped);
    }
    TwoHugePages(TwoHugePages const&) = delete;
    TwoHugePages& operator=(TwoHugePages const&) = delete;
    ~TwoHugePages() {
        if (memory_ != nullptr) munmap(memory_, k_bytes);
        if (before_) reserve(*before_);
    }
    char* memory() const { return memory_; }

  private:
    void reserve(std::uint64_t pages) const {
        std::string const text = std::to_string(pages);
        // It keeps what it had if it cannot have more; then the mapping fails.
        static_cast<void>(pwrite(number_.get(), text.data(), text.size(), 0) == 0);
    }

    kernel::Descriptor number_;
    std::optional<std::uint64_t> before_;
    char* memory_ = nullptr;
};

TEST(Sampler, tells_of_reserved_huge_pages_and_counts_them_nowhere_else) {
    TwoHugePages const huge;
    if (huge.memory() == nullptr) GTEST_SKIP() << "the machine reserves no huge pages for this process";
    Job job{Settings{}};
    job.watch.clock().start();
    huge.memory()[0] = huge.memory()[TwoHugePages::k_bytes / 2] = 'x';
    static_cast<void>(Sampler(*job.helper_thread, job.watch, job.memory));
    EXPECT_EQ(job.watch.record().head.huge_kib, TwoHugePages::k_bytes / 1024);
    EXPECT_NEAR(static_cast<double>(job.watch.record().head.peak.resident), static_cast<double>(most_held()), 300.0);
}

TEST(Sampler, leaves_a_curve_and_a_last_sample_however_short_it_lives) {
    Job job{Settings{}};
    job.watch.clock().start();
    static_cast<void>(Sampler(*job.helper_thread, job.watch, job.memory));
    EXPECT_GE(job.watch.record().head.recent, 1U);
    EXPECT_GE(job.watch.record().head.history, 1U);
    EXPECT_GT(job.watch.record().head.private_bytes, 0U);
    record::Sample const& first = job.watch.record().recent[0];
    EXPECT_GE(first.sluice, 64U) << "the pages of the record and of the code are Sluice's";
}

}  // namespace
}  // namespace sluice::plugin
