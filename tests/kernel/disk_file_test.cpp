// SPDX-License-Identifier: BSD-3-Clause
/// A file that belongs to one rank: written data are read again, in each of the ways that kernel and file system allow.
#include "kernel/disk_file.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "sluice/error.hpp"

namespace sluice::tests {
namespace {

using kernel::DiskFile;
constexpr std::uint64_t k_sector = DiskFile::k_sector;

/// A new folder, which is removed at the end.
class Folder {
  public:
    Folder() {
        std::string name = "/var/tmp/sluice-test-XXXXXX";
        path_ = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string const& path() const { return path_; }
    bool is_empty() const { return std::filesystem::is_empty(path_); }

  private:
    std::string path_;
};

struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
};
struct Memory {
    explicit Memory(std::uint64_t sectors)
        : bytes(static_cast<std::byte*>(std::aligned_alloc(k_sector, sectors * k_sector))), size(sectors * k_sector) {}
    std::span<std::byte> span() const { return {bytes.get(), size}; }
    std::unique_ptr<std::byte, Free> bytes;
    std::uint64_t size;
};

void finish(DiskFile& file) {
    while (file.under_way() > 0)
        file.poll();
}

class EachWay : public testing::TestWithParam<DiskFile::Way> {};

TEST_P(EachWay, gives_back_what_it_was_given_with_many_operations_under_way) {
    constexpr std::size_t k_pieces = 100;  // more than the kernel is given at once
    Folder const folder;
    DiskFile file(folder.path(), Bytes{k_pieces * 4 * k_sector}, GetParam());
    EXPECT_TRUE(folder.is_empty());  // the file has no name
    std::mt19937_64 random(7);
    std::vector<Memory> pieces;
    std::vector<int> ended;
    for (std::size_t i = 0; i < k_pieces; ++i) {
        pieces.emplace_back(1 + random() % 4);
        std::ranges::generate(pieces[i].span(), [&] { return static_cast<std::byte>(random()); });
        file.write(i * 4 * k_sector, pieces[i].span(), [&](int error) { ended.push_back(error); });
    }
    EXPECT_TRUE(ended.empty());  // reads end only inside poll
    finish(file);
    EXPECT_EQ(ended, std::vector<int>(k_pieces, 0));
    std::vector<std::size_t> order(k_pieces);
    for (std::size_t i = 0; i < k_pieces; ++i)
        order[i] = i;
    std::ranges::shuffle(order, random);
    std::size_t right = 0;
    std::vector<Memory> again;
    for (std::size_t const i : order)
        again.emplace_back(pieces[i].size / k_sector);
    for (std::size_t k = 0; k < k_pieces; ++k)
        file.read(order[k] * 4 * k_sector, again[k].span(), [&, k](int error) {
            right += error == 0 && std::ranges::equal(again[k].span(), pieces[order[k]].span()) ? 1 : 0;
        });
    finish(file);
    EXPECT_EQ(right, k_pieces);
}

TEST_P(EachWay, reads_zeros_where_nothing_was_written) {
    Folder const folder;
    DiskFile file(folder.path(), Bytes{8 * k_sector}, GetParam());
    Memory const memory(8);
    std::ranges::fill(memory.span(), std::byte{1});
    int ended = -1;
    file.read(0, memory.span(), [&](int error) { ended = error; });
    finish(file);
    EXPECT_EQ(ended, 0);
    EXPECT_TRUE(std::ranges::all_of(memory.span(), [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_P(EachWay, tells_of_failures_and_goes_on) {
    Folder const folder;
    DiskFile file(folder.path(), Bytes{4 * k_sector}, GetParam());
    Memory const memory(1);
    std::vector<int> ended;
    file.fail_after(1, 2, EIO);
    for (int i = 0; i < 5; ++i)
        file.write(0, memory.span(), [&](int error) { ended.push_back(error); });
    finish(file);
    std::ranges::sort(ended);
    EXPECT_EQ(ended, (std::vector<int>{0, 0, 0, EIO, EIO}));
}

TEST_P(EachWay, waits_for_its_operations_and_calls_nobody_when_it_dies) {
    Folder const folder;
    Memory const memory(64);
    std::ranges::fill(memory.span(), std::byte{1});
    bool called = false;
    {
        DiskFile file(folder.path(), Bytes{64 * k_sector}, GetParam());
        file.read(0, memory.span(), [&](int) { called = true; });
    }
    EXPECT_FALSE(called);
    EXPECT_TRUE(std::ranges::all_of(memory.span(), [](std::byte byte) { return byte == std::byte{0}; }));
}

INSTANTIATE_TEST_SUITE_P(DiskFile, EachWay,
                         testing::Values(DiskFile::Way::asynchronous, DiskFile::Way::direct, DiskFile::Way::cached));

TEST(DiskFile, refuses_what_is_no_sector_or_not_within) {
    Folder const folder;
    DiskFile file(folder.path(), Bytes{2 * k_sector});
    Memory const memory(4);
    auto const read = [&](std::uint64_t at, std::uint64_t offset, std::uint64_t bytes) {
        file.read(at, memory.span().subspan(offset, bytes), [](int) {});
    };
    EXPECT_THROW(read(1, 0, k_sector), Error);
    EXPECT_THROW(read(0, 8, k_sector), Error);
    EXPECT_THROW(read(0, 0, 100), Error);
    EXPECT_THROW(read(k_sector, 0, 2 * k_sector), Error);
    EXPECT_EQ(file.under_way(), 0U);
}

/// Returns the error that making a file throws, or "".
std::string fault_of(std::string const& folder, Bytes size) {
    try {
        DiskFile const file(folder, size);
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

TEST(DiskFile, says_where_it_cannot_be_made) {
    std::string const fault = fault_of("/nowhere/at/all", Bytes{k_sector});
    EXPECT_NE(fault.find("'/nowhere/at/all'"), std::string::npos) << fault;
    EXPECT_NE(fault.find("setting paged_folder"), std::string::npos) << fault;
}

TEST(DiskFile, says_by_how_much_the_process_may_not_write_it) {
    Folder const folder;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit less = before;
    less.rlim_cur = 1 << 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
    std::string const fault = fault_of(folder.path(), Bytes{4 << 20});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(fault.find("4 MiB exceeds what this process may write, 1 MiB"), std::string::npos) << fault;
}

TEST(DiskFile, says_how_much_is_free_on_a_full_disk) {
    Folder const folder;
    if (mount("none", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
        GTEST_SKIP() << "no disk of its own can be mounted here (needs root)";
    std::string const fault = fault_of(folder.path(), Bytes{4 << 20});
    bool on_disk = true;
    {
        DiskFile const fits(folder.path(), Bytes{512 << 10});
        on_disk = fits.is_on_disk();
    }
    umount(folder.path().c_str());
    EXPECT_NE(fault.find("4 MiB cannot be made in '" + folder.path() + "', where 1"), std::string::npos) << fault;
    EXPECT_NE(fault.find("free: No space left"), std::string::npos) << fault;
    EXPECT_FALSE(on_disk);
}

TEST(DiskFile, beyond_the_largest_disk_is_an_error_too) {
    Folder const folder;
    std::string const fault = fault_of(folder.path(), Bytes{std::uint64_t{1} << 50});
    EXPECT_NE(fault.find("1 PiB"), std::string::npos) << fault;
    EXPECT_TRUE(folder.is_empty());
}

}  // namespace
}  // namespace sluice::tests
