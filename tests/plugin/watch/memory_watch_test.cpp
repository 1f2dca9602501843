// SPDX-License-Identifier: BSD-3-Clause
// Whose memory it is, with leases of Sluice among it.
#include "plugin/tables/memory_watch.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include "memory/leased.hpp"
#include "plugin/tables/open/lent_buffers.hpp"
#include "support/limits/descriptors.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_bytes = 4 << 20;

/// One call, with readings at both ends, in which `work` runs.
template <class Work>
record::Site call(MemoryWatch& watch, Work const& work) {
    record::Site site{};
    std::uint64_t now = 1000;
    EXPECT_TRUE(watch.enter(now, 1));
    work();
    now += 1000;
    watch.leave(now, 1000, true, 0, site, [] { return std::uint64_t{1}; }, {});
    return site;
}

record::Sample sampled(MemoryWatch const& watch, std::uint64_t own = 0) {
    KernelSays kernel;
    return watch.sample(watch.read_with_peak(kernel), 3000, false, nullptr, 0, own);
}

memory::LeasedBytes touched(Budget const& budget) {
    memory::LeasedBytes bytes = memory::leased_bytes(budget, k_bytes, Purpose::staging);
    std::memset(bytes.get(), 1, k_bytes);
    return bytes;
}

TEST(MemoryWatch, what_sluice_leases_in_a_call_is_sluices_not_mpis) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    watch.start(0);
    watch.took(100 << 10);
    memory::LeasedBytes held;
    record::Site const site = call(watch, [&] { held = touched(budget); });
    EXPECT_LT(site.grown_private, k_bytes / 8);
    EXPECT_GE(watch.sluice(), (100U << 10) + k_bytes);
    record::Sample const sample = sampled(watch);
    EXPECT_GE(sample.sluice, 100U + k_bytes / 1024);
    EXPECT_LT(sample.mpi_private, k_bytes / 1024 / 8);
}

TEST(MemoryWatch, what_sluice_gives_back_in_a_call_is_not_taken_from_mpi) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    watch.start(0);
    memory::LeasedBytes held = touched(budget);
    watch.mpi_private = 8 << 20;
    call(watch, [] {});
    call(watch, [&] { held.reset(); });
    EXPECT_GT(watch.mpi_private.load(), 7U << 20);
    EXPECT_TRUE(watch.take_shrunk()) << "an address may come again with new pages";
}

TEST(MemoryWatch, without_a_free_descriptor_memory_is_as_of_the_last_look) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    tests::DescriptorLimit const low(tests::open_descriptors().size() + 20);  // so low that no file is kept
    watch.start(0);
    std::uint64_t const before = watch.read().all.private_bytes;
    ASSERT_GT(before, 0U);
    EXPECT_EQ(watch.looks_without_descriptor(), 0U);
    std::vector<char> touched;
    errno = ERANGE;
    record::Site const site = call(watch, [&] {
        touched.assign(k_bytes, 1);
        tests::DescriptorLimit const none_free(3);
        EXPECT_EQ(watch.read().all.private_bytes, before);
        record::Sample const sample = sampled(watch);
        EXPECT_GT(sample.resident, 0U);
    });
    EXPECT_EQ(errno, ERANGE);
    EXPECT_GE(watch.looks_without_descriptor(), 2U);
    EXPECT_GE(site.grown_private, k_bytes / 8 * 7) << "counted by the next look";
    EXPECT_LT(site.grown_private, k_bytes + before / 2) << "not all that there is";
}

TEST(MemoryWatch, keeps_one_descriptor_until_it_lets_go) {
    std::set<int> const before = tests::open_descriptors();
    MemoryWatch watch;
    watch.start(0);
    EXPECT_EQ(tests::open_descriptors().size(), before.size() + 1);
    watch.read_now();
    sampled(watch);
    EXPECT_EQ(tests::open_descriptors().size(), before.size() + 1);
    watch.let_go_of_files();
    EXPECT_GT(watch.read().all.private_bytes, 0U);
    EXPECT_EQ(tests::open_descriptors(), before);
}

TEST(MemoryWatch, what_is_fixed_is_counted_beside_the_leases) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    watch.took(1 << 20);
    memory::LeasedBytes held = touched(budget);
    EXPECT_EQ(watch.fixed(), 1U << 20);
    EXPECT_GE(watch.sluice(), k_bytes + (1 << 20));
    held.reset();
    EXPECT_EQ(watch.sluice(), 1U << 20);
}

/// A mapping of Sluice's own that the test touches.
class Mapping {
  public:
    explicit Mapping(int kind = MAP_SHARED)
        : at_(mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0)) {
        if (at_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~Mapping() { munmap(at_, k_bytes); }
    void touch(std::uint64_t bytes) { std::memset(at_, 1, bytes); }
    void const* at() const { return at_; }

  private:
    void* at_;
};

TEST(MemoryWatch, own_pages_that_are_touched_late_are_sluices_not_mpis) {
    MemoryWatch watch;
    Mapping record;
    watch.own().add(record.at(), k_bytes, false);
    watch.own().look();
    watch.start(0);
    std::uint64_t const code = watch.sluice();
    EXPECT_GT(code, 0U) << "the code of this test is Sluice's here";
    call(watch, [&] {
        record.touch(k_bytes / 2);
        watch.own().look();
    });
    EXPECT_NEAR(static_cast<double>(watch.sluice() - code), k_bytes / 2.0, 256 << 10);
    EXPECT_LT(watch.mpi_shared.load(), k_bytes / 8);
    record::Sample const sample = sampled(watch);
    EXPECT_GE(sample.sluice, k_bytes / 2 / 1024);
}

/// A buffer that is lent, and filled in a call when no look at it is due, so that the MPI has it.
class Lent {
  public:
    explicit Lent(std::uint64_t owner) {
        watch.start(0);
        watch.follow(lent);
        Mapping other;
        // A look at this time of the test's own clock seems to have taken long, so that no other one is due for long.
        call(watch, [&] { other.touch(k_bytes / 2); });
        EXPECT_NE(lent.lend(owner, buffer.at(), k_bytes, MemoryWatch::absent(buffer.at(), k_bytes)),
                  LentBuffers::k_unknown);
        EXPECT_TRUE(watch.enter(3000, 1));
        buffer.touch(k_bytes);
        watch.leave(4000, 1000, true, 0, site, [] { return std::uint64_t{1}; }, {});
        EXPECT_GT(watch.mpi_private.load(), k_bytes / 8 * 7) << "no look";
        EXPECT_GT(site.grown_private, k_bytes / 8 * 7);
    }
    void is_the_applications_at(std::uint64_t reading) {
        EXPECT_LT(sampled(watch, lent.come()).mpi_private, k_bytes / 1024 / 8) << "samples know it";
        ASSERT_TRUE(watch.enter(reading, 1));
        EXPECT_LT(watch.mpi_private.load(), k_bytes / 8);
        EXPECT_LT(site.grown_private, k_bytes / 8);
        EXPECT_LT(sampled(watch, lent.come()).mpi_private, k_bytes / 1024 / 8);
    }

    MemoryWatch watch;
    LentBuffers lent;
    record::Site site{};

  private:
    Mapping buffer{MAP_PRIVATE};
};

TEST(MemoryWatch, pages_of_lent_buffers_that_are_looked_for_late_are_taken_back_from_mpi) {
    Lent late(LentBuffers::k_late_data);
    late.is_the_applications_at(~std::uint64_t{0} - 1000);
}

TEST(MemoryWatch, pages_of_lent_buffers_that_are_given_back_before_a_look_are_taken_back_from_mpi) {
    std::uint64_t const window = 77;
    Lent given_back(window);
    LookShare share(1);
    given_back.watch.late_pages(given_back.lent.find(window, nullptr, share));
    given_back.lent.give_back_all(window);
    given_back.is_the_applications_at(5000);
}

TEST(MemoryWatch, pages_that_are_found_late_leave_those_of_other_buffers_to_be_found) {
    Lent late(LentBuffers::k_late_data);
    late.watch.late_pages(64 << 10);
    ASSERT_TRUE(late.watch.enter(5000, 1));
    late.is_the_applications_at(~std::uint64_t{0} - 1000);
}

TEST(MemoryWatch, what_a_call_gives_back_is_taken_from_the_place_that_made_it) {
    MemoryWatch watch;
    watch.start(0);
    record::Site makes{};
    record::Site frees{};
    for (int i = 0; i < 5; ++i) {
        auto const us = [] { return std::uint64_t{1}; };
        ASSERT_TRUE(watch.enter(1000, 1));
        auto memory = std::make_unique<Mapping>();
        memory->touch(k_bytes);
        EXPECT_GT(watch.leave(2000, 1000, true, 0, makes, us, {}).taken, k_bytes / 8 * 7);
        ASSERT_TRUE(watch.enter(3000, 1));
        memory.reset();
        EXPECT_GT(watch.leave(4000, 1000, true, 0, frees, us, {&makes, 0}).given_back, k_bytes / 8 * 7);
    }
    EXPECT_NEAR(static_cast<double>(makes.grown_private + makes.grown_shared), k_bytes, 256 << 10);
    EXPECT_LT(makes.held_private + makes.held_shared, k_bytes / 8);
    EXPECT_LT(watch.mpi_shared.load(), k_bytes / 8);
}

TEST(MemoryWatch, what_was_the_applications_is_not_given_back_by_mpi) {
    MemoryWatch watch;
    watch.start(0);
    watch.mpi_shared = k_bytes;
    auto memory = std::make_unique<Mapping>();
    memory->touch(k_bytes);
    record::Site site{};
    ASSERT_TRUE(watch.enter(1000, 1));
    memory.reset();
    watch.leave(2000, 1000, true, 0, site, [] { return std::uint64_t{1}; }, {nullptr, k_bytes});
    EXPECT_GE(watch.mpi_shared.load(), k_bytes / 8 * 7);
}

/// A file of k_bytes on a disk, whose pages a mapping brings in.
class MappedFile {
  public:
    MappedFile() {
        char name[] = "/var/tmp/sluice-pages-XXXXXX";
        int const file = mkstemp(name);
        unlink(name);
        std::vector<char> const text(k_bytes, 'x');
        if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            throw std::bad_alloc();
        at_ = mmap(nullptr, k_bytes, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (at_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~MappedFile() { munmap(at_, k_bytes); }
    void read() const {
        for (std::size_t i = 0; i < k_bytes; i += 4096)
            static_cast<void>(static_cast<char const volatile*>(at_)[i]);
    }

  private:
    void* at_;
};

TEST(MemoryWatch, pages_of_a_file_that_come_in_inside_mpi_are_not_its_shared_memory) {
    MemoryWatch watch;
    MappedFile const file;
    Mapping segment;
    watch.start(0);
    std::uint32_t const before = sampled(watch).files;
    record::Site const site = call(watch, [&] {
        file.read();
        segment.touch(k_bytes / 2);
    });
    EXPECT_NEAR(static_cast<double>(watch.mpi_shared.load()), k_bytes / 2.0, 256 << 10);
    EXPECT_NEAR(static_cast<double>(site.grown_shared), k_bytes / 2.0, 256 << 10);
    record::Sample const sample = sampled(watch);
    EXPECT_NEAR(static_cast<double>(sample.files - before), k_bytes / 1024.0, 256);
    EXPECT_NEAR(static_cast<double>(sample.mpi_shared), k_bytes / 2048.0, 256);
}

TEST(OwnPages, counts_private_and_shared_pages_that_are_there_and_no_others) {
    OwnPages own;
    own.look();
    Resident const before = own.found();
    Mapping shared;
    own.add(shared.at(), k_bytes, false);
    own.look();
    EXPECT_LT(own.found().shared_bytes, before.shared_bytes + k_bytes / 8) << "nothing has been touched";
    shared.touch(k_bytes / 4);
    own.look();
    EXPECT_NEAR(static_cast<double>(own.found().shared_bytes - before.shared_bytes), k_bytes / 4.0, 256 << 10);
    EXPECT_NEAR(static_cast<double>(own.found().private_bytes), static_cast<double>(before.private_bytes), 256 << 10);
}

}  // namespace

}  // namespace sluice::plugin
