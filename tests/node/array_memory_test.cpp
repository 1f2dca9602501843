// SPDX-License-Identifier: BSD-3-Clause
/// Arrays that peers map: zeroed pages, one descriptor, memory that goes back also while peers map it, children of
/// fork(), and systems that refuse it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <string>

#include "kernel/files/descriptor.hpp"
#include "node/node.hpp"
#include "node/shared/array_memory.hpp"
#include "node/shared/node_parts.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {

namespace {

using node::ArrayMemory;

constexpr std::uint64_t k_bytes = 100'000;

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

std::uint64_t bytes_of_file(node::SharedPart const& part) {
    struct stat status {};
    EXPECT_EQ(fstat(part.file, &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

/// The exit code of a child that runs `action`, 0 for true.
template <typename Action>
int in_child(Action const& action) {
    pid_t const child = fork();
    if (child == 0) _exit(action() ? 0 : 1);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST(ArrayMemory, gives_zeroed_pages_and_finds_them_by_any_address_inside) {
    auto const memory = ArrayMemory::make(true);
    auto* const array = static_cast<std::byte*>(memory->allocate(k_bytes));
    EXPECT_TRUE(std::all_of(array, array + k_bytes, [](std::byte byte) { return byte == std::byte{0}; }));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array) % 4096, 0U);
    auto const place = memory->find(array + 5000, 10);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->inside, 5000U);
    EXPECT_GE(place->part.bytes, k_bytes);
    EXPECT_FALSE(memory->find(array + place->part.bytes - 5, 10));
    EXPECT_FALSE(memory->find(&place, 1));
    EXPECT_EQ(memory->take_reason_to_tell(), "");
    memory->free(array);
    EXPECT_FALSE(memory->find(array, 1));
}

TEST(ArrayMemory, needs_one_descriptor_however_many_arrays_there_are) {
    auto const before = open_descriptors();
    {
        auto const memory = ArrayMemory::make(true);
        for (int i = 0; i < 100; ++i)
            EXPECT_TRUE(memory->find(memory->allocate(1 + static_cast<std::uint64_t>(i)), 1));
        EXPECT_EQ(open_descriptors(), before + 1);
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST(ArrayMemory, gives_pages_back_when_an_array_is_freed) {
    auto const memory = ArrayMemory::make(true);
    void* const kept = memory->allocate(4096);
    void* const freed = memory->allocate(k_bytes);
    node::SharedPart const part = memory->find(kept, 1)->part;
    EXPECT_GE(bytes_of_file(part), 4096 + k_bytes);
    memory->free(freed);
    EXPECT_EQ(bytes_of_file(part), 4096U);
    void* const next = memory->allocate(k_bytes);
    EXPECT_NE(memory->find(next, 1)->part.offset, part.offset + 4096) << "a place in the file is never used again";
}

TEST(ArrayMemory, is_private_where_the_system_refuses_it_and_says_why_once) {
    auto const memory = ArrayMemory::make(true);
    memory->fail_shared(2);
    void* const array = memory->allocate(k_bytes);
    std::memset(array, 1, k_bytes);
    EXPECT_FALSE(memory->find(array, 1));
    EXPECT_EQ(memory->take_reason_to_tell(), "a test refuses it");
    memory->allocate(k_bytes);
    EXPECT_EQ(memory->take_reason_to_tell(), "");
    EXPECT_TRUE(memory->find(memory->allocate(k_bytes), 1)) << "the next array is tried anew";
    memory->free(array);
}

TEST(ArrayMemory, is_private_where_a_file_may_not_grow) {
    EXPECT_EQ(in_child([] {
                  rlimit limit{};
                  getrlimit(RLIMIT_FSIZE, &limit);
                  limit.rlim_cur = 8192;
                  setrlimit(RLIMIT_FSIZE, &limit);
                  auto const memory = ArrayMemory::make(true);
                  void* const array = memory->allocate(k_bytes);  // SIGXFSZ would end this child
                  std::memset(array, 1, k_bytes);
                  return !memory->find(array, 1) &&
                         memory->take_reason_to_tell().find("RLIMIT_FSIZE") != std::string::npos;
              }),
              0);
}

TEST(ArrayMemory, throws_what_allocators_throw_if_there_is_no_memory) {
    auto const memory = ArrayMemory::make(true);
    EXPECT_THROW(memory->allocate(std::uint64_t{1} << 60), std::bad_alloc);
    EXPECT_THROW(memory->allocate(~std::uint64_t{0}), std::bad_alloc);
}

TEST(ArrayMemory, takes_another_file_after_the_program_has_closed_its_descriptors) {
    auto const memory = ArrayMemory::make(true);
    auto* const first = static_cast<std::byte*>(memory->allocate(k_bytes));
    int const file = memory->find(first, 1)->part.file;
    int const other = open("/dev/null", O_RDWR | O_CLOEXEC);
    ASSERT_EQ(dup2(other, file), file);  // the program has it now
    close(other);
    first[k_bytes - 1] = std::byte{7};
    void* const second = memory->allocate(k_bytes);
    ASSERT_TRUE(memory->find(second, 1));
    EXPECT_NE(memory->find(second, 1)->part.inode, memory->find(first, 1)->part.inode);
    EXPECT_EQ(first[k_bytes - 1], std::byte{7});
    memory->free(first);
    memory->free(second);
    EXPECT_EQ(fcntl(file, F_GETFD), FD_CLOEXEC & fcntl(file, F_GETFD)) << "the program's descriptor stays open";
    close(file);
}

TEST(ArrayMemory, keeps_what_a_child_of_fork_writes_from_its_parent) {
    auto const memory = ArrayMemory::make(true);
    auto* const array = static_cast<std::byte*>(memory->allocate(k_bytes));
    array[10] = std::byte{1};
    EXPECT_EQ(in_child([&] {
                  bool const sees = array[10] == std::byte{1};
                  std::memset(array, 2, k_bytes);
                  bool const is_private = !memory->find(array, 1);
                  memory->free(array);
                  void* const own = memory->allocate(k_bytes);
                  std::memset(own, 3, k_bytes);
                  return sees && is_private;
              }),
              0);
    EXPECT_EQ(array[10], std::byte{1});
    EXPECT_EQ(array[11], std::byte{0});
    EXPECT_TRUE(memory->find(array, 1)) << "the child has freed its own view alone";
    EXPECT_GE(bytes_of_file(memory->find(array, 1)->part), k_bytes);
}

SLUICE_NEEDS_RANKS(2, ArrayMemory, of_peers_is_mapped_at_first_use_and_keeps_no_descriptor);
TEST(ArrayMemory, of_peers_is_mapped_at_first_use_and_keeps_no_descriptor) {
    node::Node node(MPI_COMM_WORLD, Transport::automatic, 64_KiB);
    ASSERT_TRUE(node.has_rings());
    auto const memory = ArrayMemory::make(true);
    auto* const array = static_cast<int*>(memory->allocate(k_bytes));
    array[3] = node.rank() + 1;
    auto const before = open_descriptors();
    node::NodeParts parts(node.size());
    ASSERT_TRUE(parts.exchange(node, *memory, reinterpret_cast<std::byte*>(array + 2), memory->find(array + 2, 8)));
    EXPECT_EQ(open_descriptors(), before);
    for (int local = 0; local < node.size(); ++local)
        EXPECT_EQ(reinterpret_cast<int*>(parts.bases()[static_cast<std::size_t>(local)])[1], local + 1);
    auto const others = static_cast<std::uint64_t>(node.size() - 1);
    std::uint64_t const bytes = memory->find(array, 1)->part.bytes;
    EXPECT_EQ(memory->bytes_of_peers(), others * bytes);
    node.rings().barrier();
    // Mapped once: the second exchange finds them.
    ASSERT_TRUE(parts.exchange(node, *memory, reinterpret_cast<std::byte*>(array), memory->find(array, 8)));
    EXPECT_EQ(memory->bytes_of_peers(), others * bytes);
    node.rings().barrier();
    // The owner's memory goes back although its peers still map it.
    node::SharedPart const part = memory->find(array, 1)->part;
    memory->free(array);
    EXPECT_EQ(bytes_of_file(part), 0U);
    node.rings().barrier();
    parts.forget(*memory);
    EXPECT_EQ(memory->bytes_of_peers(), 0U);
    node.rings().barrier();
}

SLUICE_NEEDS_RANKS(2, ArrayMemory, of_peers_is_refused_if_the_descriptor_is_another_file);
TEST(ArrayMemory, of_peers_is_refused_if_the_descriptor_is_another_file) {
    node::Node node(MPI_COMM_WORLD, Transport::automatic, 64_KiB);
    auto const memory = ArrayMemory::make(true);
    auto* const array = static_cast<std::byte*>(memory->allocate(k_bytes));
    auto place = memory->find(array, 1);
    ASSERT_TRUE(place);
    if (node.rank() == 0) ++place->part.inode;
    node::NodeParts parts(node.size());
    EXPECT_EQ(parts.exchange(node, *memory, array, place), node.size() == 1 || node.rank() == 0);
    node.rings().barrier();
}

TEST(ArrayMemory, unmaps_parts_of_peers_that_were_used_least_recently) {
    auto const owner = ArrayMemory::make(true);
    auto const user = ArrayMemory::make(true);  // as if it were another process
    for (std::size_t i = 0; i < ArrayMemory::k_most_of_peers + 10; ++i) {
        void* const array = owner->allocate(1);
        ASSERT_NE(user->of_peer(owner->find(array, 1)->part), nullptr);
    }
    EXPECT_EQ(user->bytes_of_peers(), ArrayMemory::k_most_of_peers * 4096);
}

TEST(ArrayMemory, keeps_parts_of_peers_that_are_held_until_they_are_forgotten) {
    auto const owner = ArrayMemory::make(true);
    auto const user = ArrayMemory::make(true);
    auto* const held = static_cast<int*>(owner->allocate(4096));
    node::SharedPart const part = owner->find(held, 1)->part;
    auto* const seen = reinterpret_cast<int*>(user->of_peer(part, ArrayMemory::Keeping::until_forgotten));
    ASSERT_NE(seen, nullptr);
    for (std::size_t i = 0; i < ArrayMemory::k_most_of_peers + 10; ++i)
        ASSERT_NE(user->of_peer(owner->find(owner->allocate(1), 1)->part), nullptr);
    EXPECT_EQ(user->bytes_of_peers(), (ArrayMemory::k_most_of_peers + 1) * 4096);
    held[5] = 6;
    EXPECT_EQ(seen[5], 6);
    user->forget(part);
    EXPECT_EQ(user->bytes_of_peers(), ArrayMemory::k_most_of_peers * 4096);
}

}  // namespace sluice::tests
