// SPDX-License-Identifier: BSD-3-Clause
/// The sampler shares the helper thread with other jobs.
#include "plugin/watch/sampler.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

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
