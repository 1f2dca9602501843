// SPDX-License-Identifier: BSD-3-Clause
/// The usage of each kind of place, in a made-up tree and on this machine.
#include "budget/memory_usage.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "budget/made_up_node.hpp"
#include "kernel/process/shared_pages.hpp"

namespace sluice::tests {
namespace {

class MemoryUsageTest : public MadeUpNode {
  protected:
    budget::MemoryUsage usage_of(std::string const& source, Bytes setting = {}) const {
        std::vector<budget::MemoryPlace> places = budget::find_memory_places(setting, root_);
        auto const at = std::find_if(places.begin(), places.end(), [&](budget::MemoryPlace const& place) {
            return place.limit.source.find(source) != std::string::npos;
        });
        if (at == places.end()) throw std::runtime_error("no " + source);
        budget::UsageFiles files(budget::Files::kept);
        return budget::MemoryUsage(*at, files, root_);
    }
};

TEST_F(MemoryUsageTest, of_a_group_leaves_out_file_pages_that_the_kernel_can_drop) {
    group_one(1_GiB, 600_MiB);
    write("/sys/fs/cgroup/memory/job/memory.stat",
          "inactive_file 1\nactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 52428800\n"
          "total_mapped_file 20971520\ntotal_dirty 10485760\ntotal_writeback 0\ntotal_shmem 73400320\n");
    budget::MemoryUsage usage = usage_of("limit_in_bytes");
    EXPECT_EQ(usage.read().limit, 1_GiB);
    EXPECT_EQ(usage.read().used, 600_MiB - (150_MiB - 20_MiB - 10_MiB));
}

TEST_F(MemoryUsageTest, of_a_group_follows_usage_and_limit) {
    group_one(1_GiB, 600_MiB, 100_MiB);
    budget::MemoryUsage usage = usage_of("limit_in_bytes");
    EXPECT_EQ(usage.read().used, 500_MiB);
    group_one(2_GiB, 700_MiB, 150_MiB);
    EXPECT_EQ(usage.read().used, 550_MiB) << "usage has moved: the cache is looked at again";
    EXPECT_EQ(usage.read().limit, 2_GiB);
    group_one(2_GiB, 700_MiB, 250_MiB);
    Bytes used;
    for (int i = 0; i < 20; ++i)
        used = usage.read().used;
    EXPECT_EQ(used, 450_MiB) << "after some looks in any case";
    std::filesystem::remove_all(root_ + "/sys/fs/cgroup/memory/job");
    EXPECT_EQ(usage.read().used, 450_MiB) << "the last that could be read";
}

TEST_F(MemoryUsageTest, of_a_full_group_looks_at_the_cache_each_time) {
    group_one(1_GiB, 1_GiB, 500_MiB);
    budget::MemoryUsage usage = usage_of("limit_in_bytes");
    EXPECT_EQ(usage.read().used, 524_MiB);
    group_one(1_GiB, 1_GiB, 300_MiB);
    EXPECT_EQ(usage.read().used, 724_MiB);
}

/// 40 MiB of arrays of peers are mapped while this lives, and 12 MiB of this process's own.
struct MappedArrays {
    MappedArrays() {
        kernel::shared_pages().of_peers += 40 << 20;
        kernel::shared_pages().own += 12 << 20;
    }
    ~MappedArrays() {
        kernel::shared_pages().of_peers -= 40 << 20;
        kernel::shared_pages().own -= 12 << 20;
    }
};

TEST_F(MemoryUsageTest, counts_arrays_of_peers_where_they_belong) {
    statm(900_MiB, 100_MiB, 60_MiB, 300_MiB);
    budget::UsageFiles files(budget::Files::kept);
    budget::PrivateMemory const own(files, root_);
    EXPECT_EQ(own.read(), 40_MiB);
    MappedArrays const arrays;
    EXPECT_EQ(usage_of("setting", 500_MiB).read().used, 60_MiB);
    EXPECT_EQ(own.read(), 52_MiB);
    statm(900_MiB, 100_MiB, 30_MiB, 300_MiB);
    EXPECT_EQ(usage_of("setting", 500_MiB).read().used, 70_MiB) << "no more than there are shared pages";
}

TEST_F(MemoryUsageTest, of_version_two) {
    write("/proc/self/cgroup", "0::/job\n");
    write("/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("/sys/fs/cgroup/job/memory.max", "1073741824\n");
    write("/sys/fs/cgroup/job/memory.current", "524288000\n");
    write("/sys/fs/cgroup/job/memory.stat",
          "anon 1\nfile_mapped 10485760\nfile_dirty 0\nfile_writeback 0\ninactive_file 52428800\nactive_file "
          "52428800\n");
    budget::MemoryUsage usage = usage_of("memory.max");
    EXPECT_EQ(usage.read().limit, 1_GiB);
    EXPECT_EQ(usage.read().used, 500_MiB - 90_MiB);
    write("/sys/fs/cgroup/job/memory.max", "max\n");
    EXPECT_GE(usage.read().limit, Bytes{budget::k_no_memory_limit});
    EXPECT_FALSE(usage.identity().empty());
}

TEST_F(MemoryUsageTest, of_the_process_by_what_each_limit_counts) {
    limits("1073741824", "2147483648");
    EXPECT_EQ(usage_of("setting", 500_MiB).read().used, 100_MiB);
    EXPECT_EQ(usage_of("RLIMIT_AS").read().used, 900_MiB);
    budget::MemoryUsage data = usage_of("RLIMIT_DATA");
    EXPECT_EQ(data.read().used, 300_MiB);
    EXPECT_EQ(data.read().limit, 1_GiB);
    EXPECT_TRUE(data.identity().empty());
    statm(900_MiB, 100_MiB, 20_MiB, 350_MiB);
    limits("3221225472", "unlimited");
    Bytes limit;
    for (int i = 0; i < 20; ++i)
        limit = data.read().limit;
    EXPECT_EQ(limit, 3_GiB);
    EXPECT_EQ(data.read().used, 350_MiB);
    budget::UsageFiles files(budget::Files::kept);
    EXPECT_EQ(budget::PrivateMemory(files, root_).read(), 80_MiB);
}

TEST_F(MemoryUsageTest, of_the_machine_is_what_is_not_available) {
    budget::MemoryUsage usage = usage_of("MemAvailable");
    EXPECT_EQ(usage.read().limit, 24_GiB);
    EXPECT_EQ(usage.read().used, 4_GiB);
    write("/proc/meminfo", "rubbish\n");
    EXPECT_EQ(usage.read().used, 4_GiB);
}

TEST_F(MemoryUsageTest, knows_a_place_by_its_group_whoever_asks) {
    group_one(1_GiB, 1_MiB);
    EXPECT_EQ(usage_of("limit_in_bytes").identity(), usage_of("limit_in_bytes").identity());
    EXPECT_NE(usage_of("limit_in_bytes").identity(), usage_of("MemAvailable").identity());
}

TEST(PrivateMemoryTest, of_this_very_process_grows_with_what_it_touches) {
    budget::PrivateMemory const memory;
    Bytes const before = memory.read();
    EXPECT_GT(before, 0_B);
    constexpr std::size_t k_bytes = 32 << 20;
    std::unique_ptr<char[]> const block(new char[k_bytes]);
    std::memset(block.get(), 1, k_bytes);
    EXPECT_GE(memory.read() + 1_MiB, before + Bytes{k_bytes});
}

}  // namespace
}  // namespace sluice::tests
