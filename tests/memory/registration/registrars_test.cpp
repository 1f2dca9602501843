// SPDX-License-Identifier: BSD-3-Clause
// Registrars of the kernel: the kernel's own count of locked and pinned pages is the oracle.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "memory/registration/cache.hpp"
#include "memory/registration/registrars/fixed_buffers.hpp"
#include "memory/registration/registrars/locked_pages.hpp"

namespace sluice::memory::registration {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;

/// Bytes of a line of /proc/self/status.
std::uint64_t status(std::string const& field) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1)) * 1024;
    ADD_FAILURE() << "no line " << field;
    return 0;
}

class Mapped {
  public:
    explicit Mapped(std::uint64_t bytes) : bytes_(bytes) {
        at_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at_ == MAP_FAILED) throw std::bad_alloc();
        std::memset(at_, 1, bytes);
    }
    Mapped(Mapped const&) = delete;
    Mapped& operator=(Mapped const&) = delete;
    ~Mapped() { unmap(); }
    void unmap() {
        if (bytes_ != 0) munmap(at_, bytes_);
        bytes_ = 0;
    }
    Range range(std::uint64_t offset, std::uint64_t bytes) const {
        return {reinterpret_cast<std::uintptr_t>(at_) + offset, bytes};
    }

  private:
    void* at_;
    std::uint64_t bytes_;
};

/// In a process of its own, of a user whom RLIMIT_MEMLOCK binds.
int exit_code_as_user(std::uint64_t limit, std::function<int()> const& body) {
    pid_t const child = fork();
    if (child == 0) {
        rlimit const locked{limit, limit};
        if (setrlimit(RLIMIT_MEMLOCK, &locked) != 0) _exit(90);
        if (geteuid() == 0 && setuid(65534) != 0) _exit(91);
        _exit(body());
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

TEST(LockedPages, locks_what_is_added_until_it_is_removed) {
    LockedPages registrar;
    Mapped const memory(8 * k_mib);
    std::uint64_t const before = status("VmLck");
    Registered const one = registrar.add(memory.range(100, k_mib));
    ASSERT_EQ(one.failure, Failure::none);
    EXPECT_EQ(status("VmLck"), before + k_mib + 4096);
    EXPECT_GT(one.cost, Time(0));
    registrar.remove(one.key, memory.range(100, k_mib));
    EXPECT_EQ(status("VmLck"), before);
}

TEST(LockedPages, pages_of_two_registrations_stay_locked_until_both_are_gone) {
    LockedPages registrar;
    Mapped const memory(8 * k_mib);
    std::uint64_t const before = status("VmLck");
    Range const whole = memory.range(0, 4 * k_mib);
    Range const middle = memory.range(k_mib, k_mib);
    Range const tail = memory.range(3 * k_mib, 2 * k_mib);
    Registered const a = registrar.add(whole);
    Registered const b = registrar.add(middle);
    Registered const c = registrar.add(tail);
    EXPECT_EQ(status("VmLck"), before + 5 * k_mib);
    registrar.remove(a.key, whole);
    EXPECT_EQ(status("VmLck"), before + 3 * k_mib);
    registrar.remove(b.key, middle);
    EXPECT_EQ(status("VmLck"), before + 2 * k_mib);
    registrar.remove(c.key, tail);
    EXPECT_EQ(status("VmLck"), before);
}

TEST(LockedPages, tells_a_hole_from_a_limit) {
    Mapped const memory(4 * k_mib);
    munmap(reinterpret_cast<void*>(memory.range(2 * k_mib, 0).begin), k_mib);
    LockedPages registrar;
    std::uint64_t const before = status("VmLck");
    EXPECT_EQ(registrar.add(memory.range(0, 4 * k_mib)).failure, Failure::not_mapped);
    EXPECT_EQ(status("VmLck"), before);
    EXPECT_EQ(exit_code_as_user(k_mib,
                                [&] {
                                    LockedPages limited;
                                    if (limited.add(memory.range(0, k_mib / 2)).failure != Failure::none) return 1;
                                    return limited.add(memory.range(k_mib, k_mib)).failure == Failure::limit ? 0 : 2;
                                }),
              0);
}

/// A working set of eight times the limit: the cache stays below, where one without a limit fails.
TEST(LockedPages, a_cache_within_the_limit_serves_more_than_may_be_locked) {
    Mapped const memory(16 * k_mib);
    EXPECT_EQ(exit_code_as_user(2 * k_mib,
                                [&] {
                                    Budget const tables(1_MiB);
                                    LockedPages registrar;
                                    Cache cache(registrar, Budget(pinned_limit(Bytes{})), tables);
                                    for (int round = 0; round < 3; ++round)
                                        for (std::uint64_t i = 0; i < 16; ++i) {
                                            Use const use = cache.begin_use(memory.range(i * k_mib, k_mib));
                                            if (use.outcome == Use::Outcome::refused) return 1;
                                            cache.end_use(use);
                                        }
                                    Cache unlimited(registrar, Budget({~std::uint64_t{0}}), tables);
                                    for (std::uint64_t i = 0; i < 16; ++i) {
                                        Use const use = unlimited.begin_use(memory.range(i * k_mib, k_mib));
                                        if (use.outcome == Use::Outcome::refused) return 0;
                                        unlimited.end_use(use);
                                    }
                                    return 2;
                                }),
              0);
}

class FixedBuffersTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!registrar_.why_not().empty()) GTEST_SKIP() << registrar_.why_not();
    }
    FixedBuffers registrar_;
};

TEST_F(FixedBuffersTest, pins_what_is_added_until_it_is_removed) {
    Mapped const memory(8 * k_mib);
    std::uint64_t const before = status("VmPin");
    Registered const one = registrar_.add(memory.range(100, k_mib));
    ASSERT_EQ(one.failure, Failure::none);
    EXPECT_EQ(status("VmPin"), before + k_mib + 4096);
    Registered const two = registrar_.add(memory.range(2 * k_mib, k_mib));
    ASSERT_EQ(two.failure, Failure::none);
    EXPECT_NE(one.key, two.key);
    EXPECT_EQ(status("VmPin"), before + 2 * k_mib + 4096);
    registrar_.remove(one.key, memory.range(100, k_mib));
    registrar_.remove(two.key, memory.range(2 * k_mib, k_mib));
    EXPECT_EQ(status("VmPin"), before);
}

TEST_F(FixedBuffersTest, refuses_what_is_not_mapped_and_goes_on) {
    Mapped const memory(4 * k_mib);
    munmap(reinterpret_cast<void*>(memory.range(2 * k_mib, 0).begin), k_mib);
    std::uint64_t const before = status("VmPin");
    EXPECT_EQ(registrar_.add(memory.range(0, 4 * k_mib)).failure, Failure::not_mapped);
    EXPECT_EQ(status("VmPin"), before);
    Registered const one = registrar_.add(memory.range(0, k_mib));
    EXPECT_EQ(one.failure, Failure::none);
    registrar_.remove(one.key, memory.range(0, k_mib));
}

TEST_F(FixedBuffersTest, a_range_that_was_unmapped_can_be_removed) {
    std::uint64_t const before = status("VmPin");
    Mapped memory(4 * k_mib);
    Range const range = memory.range(0, 4 * k_mib);
    Registered const one = registrar_.add(range);
    ASSERT_EQ(one.failure, Failure::none);
    memory.unmap();
    registrar_.remove(one.key, range);
    EXPECT_EQ(status("VmPin"), before);
}

TEST_F(FixedBuffersTest, has_a_place_for_each_region_of_a_cache) {
    Mapped const memory(8 * k_mib);
    std::vector<std::uint64_t> keys;
    for (std::uint32_t i = 0; i < FixedBuffers::k_places; ++i) {
        Registered const made = registrar_.add(memory.range(i * 4096, 4096));
        ASSERT_EQ(made.failure, Failure::none);
        keys.push_back(made.key);
    }
    EXPECT_EQ(registrar_.add(memory.range(0, 4096)).failure, Failure::limit);
    for (std::uint32_t i = 0; i < keys.size(); ++i)
        registrar_.remove(keys[i], memory.range(i * 4096, 4096));
}

TEST_F(FixedBuffersTest, the_limit_of_a_user_is_a_limit) {
    Mapped const memory(4 * k_mib);
    EXPECT_EQ(exit_code_as_user(k_mib,
                                [&] {
                                    FixedBuffers limited;
                                    if (!limited.why_not().empty()) return 0;  // a kernel that refuses users
                                    if (limited.add(memory.range(0, k_mib / 2)).failure != Failure::none) return 1;
                                    return limited.add(memory.range(k_mib, k_mib)).failure == Failure::limit ? 0 : 2;
                                }),
              0);
}

}  // namespace

}  // namespace sluice::memory::registration
