// SPDX-License-Identifier: BSD-3-Clause
#include "probes/process_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

namespace sluice::probes {
namespace {

constexpr std::size_t k_bytes = 8 << 20;
constexpr double k_some = 64 << 10;

class Mapping {
  public:
    Mapping(int flags, int file) : at_(mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, flags, file, 0)) {}
    Mapping(Mapping const&) = delete;
    Mapping& operator=(Mapping const&) = delete;
    ~Mapping() { munmap(at_, k_bytes); }
    void write(std::size_t bytes) { std::memset(at_, 0x5A, bytes); }
    bool is_there() const { return at_ != MAP_FAILED; }

  private:
    void* at_;
};

double grown(std::uint64_t before, std::uint64_t after) {
    return static_cast<double>(after) - static_cast<double>(before);
}

TEST(ProcessMemory, counts_written_private_pages_as_anonymous) {
    ProcessMemory const before = read_process_memory();
    Mapping mapping(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    ASSERT_TRUE(mapping.is_there());
    EXPECT_NEAR(grown(before.anonymous, read_process_memory().anonymous), 0, k_some) << "not yet written";
    mapping.write(k_bytes / 2);
    ProcessMemory const after = read_process_memory();
    EXPECT_NEAR(grown(before.anonymous, after.anonymous), k_bytes / 2.0, k_some);
    EXPECT_NEAR(grown(before.shared, after.shared), 0, k_some);
}

TEST(ProcessMemory, counts_shared_mappings_apart) {
    int const file = memfd_create("segment", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file, k_bytes), 0);
    ProcessMemory const before = read_process_memory();
    Mapping mapping(MAP_SHARED, file);
    close(file);
    mapping.write(k_bytes);
    ProcessMemory const after = read_process_memory();
    EXPECT_NEAR(grown(before.shared, after.shared), k_bytes, k_some);
    EXPECT_NEAR(grown(before.anonymous, after.anonymous), 0, k_some);
}

TEST(ProcessMemory, counts_written_pages_of_a_private_file_as_anonymous_and_the_rest_as_files) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    std::string const content(k_bytes, 'x');
    ASSERT_EQ(std::fwrite(content.data(), 1, k_bytes, file), k_bytes);
    ASSERT_EQ(std::fflush(file), 0);
    ProcessMemory const before = read_process_memory();
    Mapping mapping(MAP_PRIVATE | MAP_POPULATE, fileno(file));
    mapping.write(k_bytes / 4);
    ProcessMemory const after = read_process_memory();
    std::fclose(file);
    // With MAP_POPULATE a writable private mapping may be copied at once, so its pages count as one or the other.
    EXPECT_GE(grown(before.anonymous, after.anonymous), k_bytes / 4.0 - k_some);
    // Pages of libraries are counted by the share that other processes leave, which changes while other tests run.
    EXPECT_NEAR(grown(before.anonymous, after.anonymous) + grown(before.files, after.files), k_bytes, 0.1 * k_bytes);
}

TEST(ProcessMemory, counts_the_heap_exactly) {
    ProcessMemory const before = read_process_memory();
    std::string const small(1000, 'x');
    std::string const large(k_bytes, 'x');
    double const heap = grown(before.heap, read_process_memory().heap);
    EXPECT_GE(heap, k_bytes + 1000.0);
    EXPECT_LE(heap, k_bytes + 1000.0 + 8192);
}

/// What the kernel says of this process in all; nothing if it does not.
std::optional<double> proportional_bytes() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    double kib = 0;
    for (std::string word; rollup >> word;)
        if (word == "Pss:") rollup >> kib;
    return kib > 0 ? std::optional(kib * 1024) : std::nullopt;
}

/// The share of a library's pages changes when another process that has them begins or ends, also between the two
/// readings: a sum that is wrong is so at every look.
TEST(ProcessMemory, adds_up_to_what_the_kernel_says) {
    if (!proportional_bytes()) GTEST_SKIP() << "this kernel has no smaps_rollup";
    double sum = 0;
    double said = 0;
    for (int look = 0; look < 100; ++look) {
        ProcessMemory const mine = read_process_memory();
        said = *proportional_bytes();
        sum = static_cast<double>(mine.anonymous + mine.shared + mine.files);
        if (std::abs(sum - said) <= 0.02 * sum + k_some) return;
    }
    EXPECT_NEAR(sum, said, 0.02 * sum + k_some);
}

TEST(ProcessMemory, is_read_without_taking_any) {
    read_process_memory();
    std::uint64_t const before = read_process_memory().heap;
    EXPECT_EQ(read_process_memory().heap, before);
}

}  // namespace
}  // namespace sluice::probes
