// SPDX-License-Identifier: BSD-3-Clause
// What a call writes down, without MPI: its types are told to the plugin by hand.
#include "plugin/watch/call.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "plugin/handles.hpp"
#include "plugin/services/job.hpp"

namespace {

// What happens once just before or after the kernel tells a thread which pages are resident, or how many page faults
// it had.
thread_local std::function<void()> t_before_look, t_after_look, t_before_faults;

void once(std::function<void()>& what) {
    if (auto const now = std::exchange(what, nullptr)) now();
}

}  // namespace

extern "C" int mincore(void* from, std::size_t bytes, unsigned char* pages) noexcept {
    once(t_before_look);
    auto const code = static_cast<int>(syscall(SYS_mincore, from, bytes, pages));
    once(t_after_look);
    return code;
}

extern "C" int getrusage(__rusage_who_t who, rusage* usage) noexcept {
    once(t_before_faults);
    return static_cast<int>(syscall(SYS_getrusage, who, usage));
}

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_bytes = 1 << 20;

/// Fresh pages: none of them is in memory.
class Pages {
  public:
    Pages() : memory_(mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    ~Pages() { munmap(memory_, k_bytes); }
    Pages(Pages const&) = delete;
    Pages& operator=(Pages const&) = delete;
    void* data() const { return memory_; }
    void touch() const { std::memset(memory_, 1, k_bytes); }

  private:
    void* memory_;
};

class Calls : public testing::Test {
  protected:
    Calls() : job(Settings{}) {
        g_plugin.dense_types.add(MPI_BYTE, 1);
        job.watch.clock().start();
        job.watch.start_looks();
        job.watch.memory().start(0);  // each call has readings
    }

    record::Site const& site(Call const& call) { return job.watch.record().sites[call.site()]; }
    std::uint64_t in_flight() {
        KernelSays kernel;
        return std::uint64_t{job.watch.sample(kernel).in_flight} * 1024;
    }

    Job job;
    Pages pages;
};

TEST_F(Calls, a_receive_that_waits_has_what_has_come_in_flight_until_it_returns) {
    Call call(job, job.watch, Function::Recv, this);
    call.in(k_bytes);
    call.into(pages.data(), k_bytes);
    call.waits();
    EXPECT_EQ(in_flight(), 0U) << "none of its pages is in memory";
    pages.touch();
    EXPECT_EQ(in_flight(), k_bytes);
    EXPECT_EQ(call.end(0), 0);
    EXPECT_EQ(site(call).in_flight_peak, k_bytes);
    EXPECT_EQ(in_flight(), 0U);
    EXPECT_GT(site(call).time_ns, 0U);
    EXPECT_GE(site(call).grown_own, k_bytes) << "pages of the program's buffer are not MPI's";
    EXPECT_LT(site(call).grown_private, k_bytes / 2);
}

TEST_F(Calls, a_receive_that_returns_early_does_not_wait_and_its_bytes_stay_in_flight_until_they_come) {
    Pages others;
    others.touch();  // the application has as much
    Arrival later;
    {
        Call call(job, job.watch, Function::Recv, this);
        call.in(k_bytes);
        call.into(pages.data(), k_bytes);
        call.waits();
        later = call.arrives_later();
        EXPECT_EQ(call.end(0), 0);
        EXPECT_EQ(site(call).waiting_ns, 0U);
        EXPECT_EQ(site(call).calls, 1U);
        EXPECT_EQ(site(call).bytes_in, k_bytes);
    }
    EXPECT_EQ(in_flight(), k_bytes);
    EXPECT_EQ(later.absent, k_bytes);
    {
        Call wait(job, job.watch, Function::Wait, this);
        pages.touch();
        job.watch.arrived(later);
        wait.end(0);
        EXPECT_GE(site(wait).grown_own, k_bytes) << "they are the program's, whichever call they come in";
        EXPECT_LT(site(wait).grown_private, k_bytes / 2);
    }
    EXPECT_EQ(in_flight(), 0U);
}

TEST_F(Calls, pages_that_come_between_a_look_and_the_reading_behind_it_are_the_programs) {
    MPI_Request const request = tests::handle_number(1);
    std::uint64_t const before = job.watch.memory().mpi_private;
    {
        Call reads(job, job.watch, Function::File_iread, this);
        reads.in(k_bytes);
        reads.into(pages.data(), k_bytes);
        reads.starts(request);
        t_after_look = [&] { pages.touch(); };  // as a thread that reads the file for the MPI
        reads.end(0);
        EXPECT_FALSE(t_after_look);
    }
    KernelSays kernel;
    EXPECT_LT(job.watch.sample(kernel).mpi_private, (before + k_bytes / 2) / 1024);
    Call wait(job, job.watch, Function::Wait, this);
    EXPECT_LT(job.watch.memory().mpi_private, before + k_bytes / 2);
    Completing(job.watch.requests(), &request, 1).one(true);
    wait.end(0);
    EXPECT_LT(job.watch.memory().mpi_private, before + k_bytes / 2);
    EXPECT_LT(job.watch.record().sites[0].grown_private, k_bytes / 2);
}

TEST_F(Calls, pages_that_come_between_a_reading_and_the_look_behind_it_are_the_programs) {
    constexpr std::uint64_t k_window = 77;
    Pages of_mpi;
    std::uint64_t const before = job.watch.memory().mpi_private;
    job.watch.lends(k_window, pages.data(), k_bytes);
    {
        Call fence(job, job.watch, Function::Win_fence, this);
        of_mpi.touch();
        t_before_look = [&] { pages.touch(); };
        fence.end(0);
        EXPECT_FALSE(t_before_look);
    }
    Call fence(job, job.watch, Function::Win_fence, this);
    fence.end(0);
    EXPECT_NEAR(static_cast<double>(job.watch.memory().mpi_private - before), k_bytes, k_bytes / 4.0);
    EXPECT_NEAR(static_cast<double>(site(fence).grown_private), k_bytes, k_bytes / 4.0);
}

TEST_F(Calls, a_sample_in_the_middle_of_a_reading_does_not_count_it_twice) {
    job.watch.memory().threads_before_init(2);  // so that page faults are asked for
    KernelSays kernel;
    std::atomic<bool> is_reading{false}, was_sampled{false};
    std::uint32_t const before = job.watch.sample(kernel).mpi_private;
    std::thread caller([&] {
        job.watch.memory().look_at_threads();
        Call call(job, job.watch, Function::Barrier, this);
        pages.touch();
        t_before_faults = [&] {
            is_reading = true;
            is_reading.notify_one();
            was_sampled.wait(false);
        };
        call.end(0);
        EXPECT_FALSE(t_before_faults) << "the thread was not held up";
    });
    is_reading.wait(false);
    EXPECT_EQ(job.watch.memory().version() % 2, 1U);
    EXPECT_LE(job.watch.sample(kernel).mpi_private, before + k_bytes / 1024 / 4);
    was_sampled = true;
    was_sampled.notify_one();
    caller.join();
    EXPECT_GE(job.watch.sample(kernel).mpi_private, before + k_bytes / 1024 / 4 * 3);
}

TEST_F(Calls, a_receive_into_memory_that_is_there_has_all_its_bytes_in_flight) {
    pages.touch();
    Call call(job, job.watch, Function::Recv, this);
    call.in(k_bytes);
    call.into(pages.data(), k_bytes);
    call.waits();
    EXPECT_EQ(in_flight(), k_bytes);
    call.end(0);
    EXPECT_EQ(in_flight(), 0U);
    EXPECT_EQ(site(call).in_flight_peak, k_bytes);
}

TEST_F(Calls, more_in_flight_than_the_application_has_takes_nothing_from_the_mpi) {
    constexpr std::uint64_t k_of_mpi = 256 << 10;
    job.watch.memory().mpi_private = k_of_mpi;
    Call call(job, job.watch, Function::Recv, this);
    call.in(std::uint64_t{1} << 36);  // of shared memory, for example
    call.waits();
    KernelSays kernel;
    record::Sample const sample = job.watch.sample(kernel);
    EXPECT_GE(sample.mpi_private, k_of_mpi / 1024);
    EXPECT_EQ(sample.in_flight,
              sample.resident - sample.mpi_private - sample.mpi_shared - sample.files - sample.sluice);
    call.end(0);
}

TEST_F(Calls, a_large_buffer_in_a_file_or_in_shared_memory_is_not_in_flight) {
    pages.touch();
    Call call(job, job.watch, Function::Send, this);
    auto const fly = [&](void* memory) {
        FlyingRange const range{reinterpret_cast<std::uintptr_t>(memory), k_bytes, k_bytes};
        errno = 0;
        std::uint32_t const place = job.watch.flies(call.site(), range);
        EXPECT_EQ(errno, 0);
        std::uint64_t const flying = job.watch.flights().of_site(call.site());
        job.watch.landed(call.site(), range, place);
        EXPECT_EQ(job.watch.flights().of_site(call.site()), 0U);
        return flying;
    };
    EXPECT_EQ(fly(pages.data()), k_bytes);
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(ftruncate(fileno(file), k_bytes), 0);
    // In the place of pages that were the application's: what was known of them does not count any more.
    munmap(pages.data(), k_bytes);
    job.watch.forget_pages();
    for (int const sharing : {MAP_PRIVATE, MAP_SHARED}) {
        void* const at = mmap(pages.data(), k_bytes, PROT_READ, sharing | MAP_FIXED, fileno(file), 0);
        ASSERT_EQ(at, pages.data());
        EXPECT_EQ(std::memcmp(at, static_cast<char*>(at) + k_bytes / 2, k_bytes / 2), 0);
        EXPECT_EQ(fly(at), 0U);
    }
    std::fclose(file);
    call.end(0);
    EXPECT_EQ(site(call).in_flight_peak, k_bytes) << "that of the first";
}

TEST_F(Calls, a_poll_that_finds_nothing_is_waiting) {
    for (bool const came : {false, false, true}) {
        Call call(job, job.watch, Function::Iprobe, this);
        call.asked(came);
        call.end(0);
        EXPECT_EQ(site(call).waiting_ns == site(call).time_ns, !came);
    }
}

TEST_F(Calls, one_buffer_is_told_from_several_and_from_new_memory) {
    for (int i = 0; i < 6; ++i) {
        Call call(job, job.watch, Function::Recv, this);
        call.in(k_bytes);
        call.buffer(i < 4 ? pages.data() : this);
        call.into(pages.data(), k_bytes);
        call.waits();
        pages.touch();
        call.end(0);
        EXPECT_EQ(site(call).other_buffers, i < 4 ? 1U : 2U);
        EXPECT_EQ(site(call).new_bytes, k_bytes) << "only in the first call";
    }
}

TEST_F(Calls, few_bytes_that_come_later_are_in_flight_too) {
    Call call(job, job.watch, Function::Recv, this);
    call.in(4096);
    call.waits();
    Arrival const later = call.arrives_later();
    call.end(0);
    EXPECT_EQ(in_flight(), 4096U);
    job.watch.arrived(later);
    EXPECT_EQ(in_flight(), 0U);
}

TEST_F(Calls, pages_that_a_service_takes_in_a_call_are_not_mpis) {
    Call call(job, job.watch, Function::Alltoall, this);
    pages.touch();
    call.own_pages(k_bytes);
    call.end(0);
    EXPECT_LT(site(call).grown_private, k_bytes / 2);
}

TEST_F(Calls, served_calls_are_counted_with_their_bytes) {
    Call call(job, job.watch, Function::Alltoall, this);
    call.serves(1000);
    call.end(0);
    EXPECT_EQ(job.watch.record().head.served_calls, 1U);
    EXPECT_EQ(job.watch.record().head.served_bytes, 1000U);
}

}  // namespace

}  // namespace sluice::plugin
