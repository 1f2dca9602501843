// SPDX-License-Identifier: BSD-3-Clause
/// Single copies from and to a place in a peer's memory, whole and cut short.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "fault/failing_reads.hpp"
#include "mpi/mpi.hpp"
#include "node/node.hpp"
#include "node/remote_memory.hpp"
#include "support/needs_ranks.hpp"
#include "twin.hpp"

namespace sluice::node {
namespace {

using tests::fail_reads;
using tests::reads_made;
using tests::shorten_reads;
using tests::Twin;

std::uint64_t address_of(void const* at) {
    return reinterpret_cast<std::uintptr_t>(at);
}

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        made[i] = static_cast<std::byte>((i * 7 + seed) % 251);
    return made;
}

/// Two pages of memory, after which nothing is mapped. A process may always read and write its own memory by these
/// calls.
class Hole {
  public:
    static constexpr std::size_t k_page = 4096;
    static constexpr std::size_t k_mapped = 2 * k_page;
    Hole()
        : at_(static_cast<std::byte*>(
              mmap(nullptr, 3 * k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        EXPECT_NE(at_, MAP_FAILED);
        EXPECT_EQ(munmap(at_ + k_mapped, k_page), 0);
    }
    ~Hole() { munmap(at_, k_mapped); }
    Hole(Hole const&) = delete;
    Hole& operator=(Hole const&) = delete;

    std::span<std::byte> mapped() { return {at_, k_mapped}; }
    Remote place() { return door_.reach(0, door_.card(), Touch::write).at(address_of(at_)); }

  private:
    RemoteMemory door_{true};
    std::byte* at_;
};

class RemoteOfTwin : public testing::Test {
  protected:
    void SetUp() override {
        place_ = door_.reach(0, twin_.card(door_), Touch::write).at(address_of(theirs_.data()));
        if (!place_) GTEST_SKIP() << "the kernel forbids access to other processes";
    }
    ~RemoteOfTwin() override {
        fail_reads(0, 0);
        shorten_reads(0);
    }
    std::vector<std::byte> now_there() const {
        std::vector<std::byte> got(theirs_.size());
        EXPECT_EQ(place_.read(got), got.size());
        return got;
    }

    std::vector<std::byte> theirs_ = pattern(10'000, 1);
    RemoteMemory door_{true};
    Twin twin_;  // has copies of the members before it
    Remote place_;
};

TEST_F(RemoteOfTwin, is_read_and_written_there_and_not_here) {
    EXPECT_EQ(now_there(), theirs_);
    std::vector<std::byte> const other = pattern(3000, 2);
    EXPECT_EQ(place_.at(place_.address() + 1000).write(other), other.size());
    std::vector<std::byte> expected = theirs_;
    std::copy(other.begin(), other.end(), expected.begin() + 1000);
    EXPECT_EQ(now_there(), expected);
    EXPECT_EQ(theirs_, pattern(10'000, 1));
}

TEST_F(RemoteOfTwin, is_read_and_written_whole_by_a_kernel_that_moves_less_than_asked_for) {
    for (std::uint64_t const most : {1U, 7U, 999U}) {
        shorten_reads(most);
        std::uint64_t const before = reads_made();
        EXPECT_EQ(now_there(), theirs_) << most;
        EXPECT_EQ(reads_made() - before, (theirs_.size() + most - 1) / most);
        std::vector<std::byte> const other = pattern(theirs_.size(), static_cast<unsigned>(most));
        EXPECT_EQ(place_.write(other), other.size()) << most;
        EXPECT_EQ(now_there(), other) << most;
        EXPECT_EQ(place_.write(theirs_), theirs_.size()) << most;
    }
}

TEST_F(RemoteOfTwin, is_read_in_any_number_of_pieces_with_different_ends) {
    for (std::uint64_t const most : {0U, 2U}) {
        shorten_reads(most);
        constexpr std::size_t k_bytes = 9000;
        std::vector<std::byte> got(k_bytes);
        std::vector<iovec> here;
        std::vector<iovec> there;
        for (std::size_t i = 0; i < k_bytes; i += 3) {  // 3000 pieces, more than the kernel takes at once
            here.push_back({got.data() + i, 0});
            here.push_back({got.data() + i, 3});
        }
        there.push_back({theirs_.data(), 0});
        for (std::size_t i = 0; i < k_bytes; i += 5)  // from the back to the front
            there.push_back({theirs_.data() + k_bytes - 5 - i, 5});
        ASSERT_TRUE(place_.read_pieces(here, there));
        for (std::size_t i = 0; i < k_bytes; ++i)
            ASSERT_EQ(got[i], theirs_[k_bytes - 5 - i / 5 * 5 + i % 5]) << i;
    }
}

TEST_F(RemoteOfTwin, is_read_of_lists_without_bytes) {
    iovec nothing{theirs_.data(), 0};
    std::uint64_t const before = reads_made();
    EXPECT_TRUE(place_.read_pieces({}, {}));
    EXPECT_TRUE(place_.read_pieces({}, {&nothing, 1}));
    EXPECT_EQ(reads_made(), before);
}

TEST_F(RemoteOfTwin, is_swapped_through_a_bounce_of_any_size) {
    for (std::size_t const bounce_bytes : {1UL, 1000UL, 10'000UL, 20'000UL}) {
        std::vector<std::byte> const before = now_there();
        std::vector<std::byte> mine = pattern(10'000, static_cast<unsigned>(bounce_bytes));
        std::vector<std::byte> const ours = mine;
        std::vector<std::byte> bounce(bounce_bytes);
        EXPECT_EQ(place_.swap(mine, bounce), mine.size());
        EXPECT_EQ(mine, before) << bounce_bytes;
        EXPECT_EQ(now_there(), ours) << bounce_bytes;
    }
}

TEST_F(RemoteOfTwin, is_not_swapped_without_a_bounce) {
    std::vector<std::byte> mine = pattern(10, 3);
    EXPECT_EQ(place_.swap(mine, {}), 0U);
    EXPECT_EQ(mine, pattern(10, 3));
    EXPECT_EQ(now_there(), theirs_);
}

TEST_F(RemoteOfTwin, keeps_both_sides_whole_if_access_is_lost_while_they_are_swapped) {
    for (std::uint64_t good = 0; good < 8; ++good) {
        std::vector<std::byte> const before = now_there();
        std::vector<std::byte> mine = pattern(10'000, 50 + static_cast<unsigned>(good));
        std::vector<std::byte> const ours = mine;
        std::vector<std::byte> bounce(1000);
        fail_reads(good, EFAULT);
        std::size_t const swapped = place_.swap(mine, bounce);
        fail_reads(0, 0);
        ASSERT_EQ(swapped, good / 2 * bounce.size()) << "a read without its write counts for nothing";
        std::vector<std::byte> const there = now_there();
        for (std::size_t i = 0; i < mine.size(); ++i) {
            ASSERT_EQ(mine[i], i < swapped ? before[i] : ours[i]) << good << " good calls, byte " << i;
            ASSERT_EQ(there[i], i < swapped ? ours[i] : before[i]) << good << " good calls, byte " << i;
        }
    }
}

TEST(Remote, that_is_nowhere_gives_and_takes_nothing) {
    Remote const nowhere;
    EXPECT_FALSE(nowhere);
    int value = 5;
    int bounce = 0;
    Remote const place = nowhere.at(address_of(&value));
    EXPECT_FALSE(place);
    std::span<std::byte> const bytes = std::as_writable_bytes(std::span(&value, 1));
    EXPECT_EQ(place.read(bytes), 0U);
    EXPECT_EQ(place.write(bytes), 0U);
    EXPECT_EQ(place.swap(bytes, std::as_writable_bytes(std::span(&bounce, 1))), 0U);
    iovec here{&value, sizeof value};
    iovec there{&value, sizeof value};
    EXPECT_FALSE(place.read_pieces({&here, 1}, {&there, 1}));
    EXPECT_EQ(value, 5);
}

TEST(Remote, a_process_that_does_not_exist_is_a_failure) {
    int value = 0;
    RemoteMemory door(true);
    Remote gone;
    {
        Twin const twin;
        gone = door.reach(0, twin.card(door), Touch::write).at(address_of(&value));
        if (!gone) GTEST_SKIP() << "the kernel forbids access to other processes";
    }
    iovec here{&value, sizeof value};
    iovec there{&value, sizeof value};
    EXPECT_FALSE(gone.read_pieces({&here, 1}, {&there, 1}));
    EXPECT_EQ(gone.read(std::as_writable_bytes(std::span(&value, 1))), 0U);
    EXPECT_EQ(gone.write(std::as_bytes(std::span(&value, 1))), 0U);
}

TEST(Remote, memory_that_is_not_there_is_a_failure_and_not_a_crash) {
    Hole hole;
    std::vector<std::byte> got(3 * Hole::k_page);
    iovec here{got.data(), got.size()};
    iovec there{hole.mapped().data(), got.size()};  // the last third is not mapped: the kernel reads short, then fails
    EXPECT_FALSE(hole.place().read_pieces({&here, 1}, {&there, 1}));
}

TEST(Remote, memory_that_ends_in_the_middle_is_read_and_written_up_to_there) {
    Hole hole;
    std::vector<std::byte> const before = pattern(Hole::k_mapped, 4);
    std::copy(before.begin(), before.end(), hole.mapped().begin());
    std::vector<std::byte> got(3 * Hole::k_page);
    std::size_t const read = hole.place().read(got);
    ASSERT_LE(read, Hole::k_mapped);
    ASSERT_GE(read, Hole::k_page);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(read), before.begin()));

    std::vector<std::byte> const other = pattern(3 * Hole::k_page, 5);
    std::size_t const written = hole.place().write(other);
    ASSERT_LE(written, Hole::k_mapped);
    ASSERT_GE(written, Hole::k_page);
    EXPECT_TRUE(std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(written), hole.mapped().begin()));
}

TEST(Remote, a_swap_that_ends_in_the_middle_of_their_memory_keeps_both_sides_whole) {
    for (std::size_t const bounce_bytes : {1000UL, 4096UL, 20'000UL}) {
        Hole hole;
        std::vector<std::byte> const before = pattern(Hole::k_mapped, 6);
        std::copy(before.begin(), before.end(), hole.mapped().begin());
        std::vector<std::byte> mine = pattern(3 * Hole::k_page, 7);
        std::vector<std::byte> const ours = mine;
        std::vector<std::byte> bounce(bounce_bytes);
        std::size_t const swapped = hole.place().swap(mine, bounce);
        ASSERT_LE(swapped, Hole::k_mapped);
        ASSERT_GE(swapped, Hole::k_mapped / bounce_bytes * bounce_bytes);
        for (std::size_t i = 0; i < mine.size(); ++i)
            ASSERT_EQ(mine[i], i < swapped ? before[i] : ours[i]) << "bounce of " << bounce_bytes << ", byte " << i;
        for (std::size_t i = 0; i < before.size(); ++i)
            ASSERT_EQ(hole.mapped()[i], i < swapped ? ours[i] : before[i])
                << "bounce of " << bounce_bytes << ", byte " << i;
    }
}

SLUICE_NEEDS_RANKS(2, Remote, scattered_pieces_are_gathered_from_another_process);
TEST(Remote, scattered_pieces_are_gathered_from_another_process) {
    Node node(MPI_COMM_WORLD, Transport::automatic, 4_KiB);
    if (!node.can_read()) GTEST_SKIP() << "the kernel forbids reads of other processes";

    std::vector<int> mine(3000);
    std::iota(mine.begin(), mine.end(), node.rank() * 100000);
    int* address = mine.data();
    std::memcpy(node.rings().board(node.rank()).data(), &address, sizeof address);
    node.rings().barrier();
    int const peer = (node.rank() + 1) % node.size();
    int* theirs = nullptr;
    std::memcpy(&theirs, node.rings().board(peer).data(), sizeof theirs);

    std::vector<int> got(300, -1);
    std::vector<iovec> here;
    std::vector<iovec> there;
    for (std::size_t i = 0; i < 300; ++i) {
        here.push_back({&got[i], sizeof(int)});
        there.push_back({theirs + 10 * i, sizeof(int)});
    }
    EXPECT_TRUE(node.memory_of(peer).read_pieces(here, there));
    EXPECT_FALSE(node.memory_of(node.rank())) << "a rank needs no door to its own memory";
    for (int i = 0; i < 300; ++i)
        EXPECT_EQ(got[static_cast<std::size_t>(i)], peer * 100000 + 10 * i);
    node.rings().barrier();
}

SLUICE_NEEDS_RANKS(2, Remote, a_node_reads_all_its_ranks_or_none);
TEST(Remote, a_node_reads_all_its_ranks_or_none) {
    Node const open(MPI_COMM_WORLD, Transport::automatic, 4_KiB);
    if (!open.can_read()) GTEST_SKIP() << "the kernel forbids reads of other processes";
    if (mpi::rank_in(MPI_COMM_WORLD) == 0) fail_reads(0, EPERM);
    Node const closed(MPI_COMM_WORLD, Transport::automatic, 4_KiB);
    fail_reads(0, 0);
    EXPECT_FALSE(closed.can_read());
    EXPECT_TRUE(closed.has_rings());
    Node const ring(MPI_COMM_WORLD, Transport::ring, 4_KiB);
    EXPECT_FALSE(ring.can_read());
}

}  // namespace
}  // namespace sluice::node
