// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "budget/memory_limit.hpp"
#include "budget/node_limit.hpp"

namespace sluice {
namespace {

// A made-up machine: files under a folder of its own, with a process of 100 MiB resident, 300 MiB of data and 900 MiB
// of address space, and 8 GiB of memory available.
class MadeUpMachine : public testing::Test {
  protected:
    MadeUpMachine() {
        std::string pattern = (std::filesystem::temp_directory_path() / "sluice-limit-XXXXXX").string();
        root_ = mkdtemp(pattern.data());
        write("/proc/self/status", "Name:\tprogram\nVmSize:\t  921600 kB\nVmRSS:\t  102400 kB\nVmData:\t  307200 kB\n");
        write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
        limits("unlimited", "unlimited");
    }
    ~MadeUpMachine() override { std::filesystem::remove_all(root_); }

    void write(std::string const& path, std::string const& text) {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }
    void limits(std::string const& data, std::string const& address_space) {
        auto const line = [](std::string name, std::string value) {
            name.resize(26, ' ');
            value.resize(21, ' ');
            return name + value + "unlimited            bytes     \n";
        };
        write("/proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n" +
                                       line("Max data size", data) + line("Max stack size", "8388608") +
                                       line("Max address space", address_space));
    }
    void version_two(std::string const& group, std::string const& mount_line) {
        write("/proc/self/cgroup", "0::" + group + "\n");
        write("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda rw\n" + mount_line);
    }
    void version_one(std::string const& group, std::string const& shown_group = "/") {
        write("/proc/self/cgroup", "9:name=systemd:/elsewhere\n4:cpu,memory:" + group + "\n0::/\n");
        write("/proc/self/mountinfo",
              "32 31 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
              "35 31 0:32 " +
                  shown_group + " /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,cpu,memory\n");
    }
    MemoryLimit detect(Bytes setting = {}) const { return detect_memory_limit(setting, root_); }

    std::string root_;
};

constexpr char const* k_unified = "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

TEST_F(MadeUpMachine, without_any_limit_free_memory_and_own_use_are_the_limit) {
    MemoryLimit const found = detect();
    EXPECT_EQ(found.limit, 8_GiB + 100_MiB);
    EXPECT_EQ(found.used, 100_MiB);
    EXPECT_EQ(found.source, "MemAvailable");
}

TEST_F(MadeUpMachine, the_setting_is_one_of_the_limits) {
    EXPECT_EQ(detect(1_GiB).source, "setting");
    EXPECT_EQ(detect(1_GiB).limit, 1_GiB);
    EXPECT_EQ(detect(64_GiB).source, "MemAvailable") << "a setting cannot make more memory";
}

TEST_F(MadeUpMachine, cgroup_two_gives_the_limit_of_the_group) {
    version_two("/job/step", k_unified);
    write("/sys/fs/cgroup/job/step/memory.max", "1073741824\n");
    write("/sys/fs/cgroup/job/step/memory.high", "max\n");
    write("/sys/fs/cgroup/job/memory.max", "max\n");
    MemoryLimit const found = detect();
    EXPECT_EQ(found.limit, 1_GiB);
    EXPECT_EQ(found.used, 100_MiB);
    EXPECT_EQ(found.source, "cgroup v2 /sys/fs/cgroup/job/step/memory.max");
}

TEST_F(MadeUpMachine, a_tighter_group_further_up_wins) {
    version_two("/job/step", k_unified);
    write("/sys/fs/cgroup/job/step/memory.max", "4294967296\n");
    write("/sys/fs/cgroup/job/memory.max", "2147483648\n");
    EXPECT_EQ(detect().limit, 2_GiB);
    EXPECT_EQ(detect().source, "cgroup v2 /sys/fs/cgroup/job/memory.max");
}

TEST_F(MadeUpMachine, where_the_kernel_would_throttle_is_a_limit_too) {
    version_two("/job", k_unified);
    write("/sys/fs/cgroup/job/memory.max", "4294967296\n");
    write("/sys/fs/cgroup/job/memory.high", "3221225472\n");
    EXPECT_EQ(detect().limit, 3_GiB);
}

TEST_F(MadeUpMachine, inside_a_container_the_top_of_the_mount_is_the_group) {
    // The path is that of the host and does not exist here; the mount shows the container's own group.
    version_two("/host/container", "30 22 0:26 /host/container /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    write("/sys/fs/cgroup/memory.max", "536870912\n");
    EXPECT_EQ(detect().limit, 512_MiB);
    EXPECT_EQ(detect().source, "cgroup v2 /sys/fs/cgroup/memory.max");
}

TEST_F(MadeUpMachine, a_part_of_the_tree_that_is_mounted_elsewhere_is_found) {
    version_two("/host/container/step", "30 22 0:26 /host/container /groups\\040here ro - cgroup2 cgroup rw\n");
    write("/groups here/step/memory.max", "536870912\n");
    EXPECT_EQ(detect().limit, 512_MiB);
}

TEST_F(MadeUpMachine, cgroup_one_gives_the_limit_of_the_memory_controller) {
    version_one("/job/step");
    write("/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "1073741824\n");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(detect().limit, 1_GiB);
    EXPECT_EQ(detect().source, "cgroup v1 /sys/fs/cgroup/memory/job/step/memory.limit_in_bytes");
}

TEST_F(MadeUpMachine, cgroup_one_tells_a_limit_above_what_is_mounted) {
    version_one("/outer/job", "/outer/job");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("/sys/fs/cgroup/memory/memory.stat", "cache 12\nhierarchical_memory_limit 2147483648\ntotal_cache 4\n");
    EXPECT_EQ(detect().limit, 2_GiB);
    EXPECT_EQ(detect().source, "cgroup v1 /sys/fs/cgroup/memory/memory.stat");
}

TEST_F(MadeUpMachine, a_number_that_means_no_limit_is_none) {
    version_one("/job");
    write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(detect().source, "MemAvailable");
}

TEST_F(MadeUpMachine, resource_limits_are_held_against_what_the_kernel_counts_for_them) {
    limits("2147483648", "unlimited");
    EXPECT_EQ(detect().source, "RLIMIT_DATA");
    EXPECT_EQ(detect().limit, 2_GiB);
    EXPECT_EQ(detect().used, 300_MiB);
    limits("unlimited", "2147483648");
    EXPECT_EQ(detect().source, "RLIMIT_AS");
    EXPECT_EQ(detect().used, 900_MiB);
}

TEST_F(MadeUpMachine, what_slurm_grants_counts_where_it_is_less) {
    std::string const head = "Limit                     Soft Limit           Hard Limit           Units     \n";
    write("/proc/self/limits",
          head + "Max resident set          2147483648           2147483648           bytes     \n");
    EXPECT_EQ(detect().source, "RLIMIT_RSS");
    EXPECT_EQ(detect().limit, 2_GiB);
    EXPECT_EQ(detect().used, 100_MiB);
    write("/proc/self/limits",
          head + "Max resident set          unlimited            unlimited            bytes     \n");
    EXPECT_EQ(detect().source, "MemAvailable");
}

TEST_F(MadeUpMachine, the_limit_that_leaves_least_room_counts_not_the_smallest_number) {
    limits("unlimited", "1073741824");          // 1 GiB of address space, of which 900 MiB are taken: 124 MiB are left
    MemoryLimit const found = detect(512_MiB);  // 100 MiB are taken: 412 MiB are left
    EXPECT_EQ(found.source, "RLIMIT_AS");
    EXPECT_EQ(found.limit, 1_GiB);
}

TEST_F(MadeUpMachine, a_limit_that_is_already_passed_leaves_no_room) {
    version_two("/job", k_unified);
    write("/sys/fs/cgroup/job/memory.max", "1048576\n");
    MemoryLimit const found = detect(200_MiB);
    EXPECT_EQ(found.limit, 1_MiB);
    EXPECT_GT(found.used, found.limit);
}

TEST_F(MadeUpMachine, the_whole_chain_is_told_with_what_does_not_limit) {
    version_two("/job/step", k_unified);
    write("/sys/fs/cgroup/job/step/memory.max", "max\n");
    write("/sys/fs/cgroup/job/memory.max", "4294967296\n");
    std::vector<MemoryLimit> const chain = budget::find_memory_limits(6_GiB, root_);
    std::vector<std::string> sources;
    std::vector<bool> limiting;
    for (MemoryLimit const& limit : chain) {
        sources.push_back(limit.source);
        limiting.push_back(budget::is_limit(limit));
    }
    EXPECT_EQ(sources, (std::vector<std::string>{"setting", "cgroup v2 /sys/fs/cgroup/job/step/memory.max",
                                                 "cgroup v2 /sys/fs/cgroup/job/memory.max", "RLIMIT_DATA", "RLIMIT_AS",
                                                 "MemAvailable"}));
    EXPECT_EQ(limiting, (std::vector<bool>{true, false, true, false, false, true}));
    ASSERT_NE(budget::least_room(chain), nullptr);
    EXPECT_EQ(budget::least_room(chain)->limit, 4_GiB);
    EXPECT_EQ(budget::least_room({}), nullptr);
}

TEST_F(MadeUpMachine, broken_files_are_no_limits) {
    write("/proc/self/cgroup", "nonsense\n\n4:memory\n::\n");
    write("/proc/self/mountinfo", "- cgroup2\n1 2 3\nx\\04 - cgroup2 - a\n");
    write("/proc/self/limits", "Max data size\nMax address space   many\n");
    EXPECT_EQ(detect().source, "MemAvailable");
}

TEST_F(MadeUpMachine, the_limit_of_a_node_is_none_of_this_process_alone) {
    EXPECT_EQ(budget::find_node_limit(root_), 8_GiB + 100_MiB);
    limits("314572800", "1073741824");
    EXPECT_EQ(budget::find_node_limit(root_), 8_GiB + 100_MiB);
    version_two("/job", k_unified);
    write("/sys/fs/cgroup/job/memory.max", "2147483648\n");
    EXPECT_EQ(budget::find_node_limit(root_), 2_GiB);
}

TEST_F(MadeUpMachine, kills_for_lack_of_memory_count_from_the_begin) {
    EXPECT_EQ(budget::MemoryKills(root_).count(), std::nullopt);
    write("/proc/vmstat", "nr_free_pages 1\noom_kill 7\n");
    budget::MemoryKills const of_machine(root_);
    write("/proc/vmstat", "nr_free_pages 1\noom_kill 9\n");
    EXPECT_EQ(of_machine.count(), 2U);
    version_two("/job", k_unified);
    write("/sys/fs/cgroup/job/memory.max", "max\n");
    write("/sys/fs/cgroup/job/memory.events", "low 0\nhigh 0\nmax 3\noom 4\noom_kill 1\noom_group_kill 0\n");
    budget::MemoryKills const of_group(root_);
    EXPECT_EQ(of_group.count(), 0U);
    write("/sys/fs/cgroup/job/memory.events", "low 0\nhigh 0\nmax 9\noom 6\noom_kill 2\noom_group_kill 0\n");
    EXPECT_EQ(of_group.count(), 1U);
    version_one("/job");
    write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
    write("/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
    budget::MemoryKills const of_old_group(root_);
    write("/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
    EXPECT_EQ(of_old_group.count(), 1U);
}

TEST(MemoryLimit, a_machine_that_tells_nothing_has_no_limit) {
    MemoryLimit const found = detect_memory_limit({}, "/nowhere/at/all");
    EXPECT_EQ(found.source, "no limit found");
    EXPECT_EQ(found.used, 0_B);
    EXPECT_GT(found.limit, Bytes{std::uint64_t{1} << 50});
}

// This is not compiled with sanitizers, whose shadow memory is larger than any limit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(MemoryLimit, of_this_very_process_is_no_more_than_its_resource_limit) {
    MemoryLimit const before = detect_memory_limit({});
    EXPECT_GT(before.used, 0_B);
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &old), 0);
    rlimit tight = old;
    tight.rlim_cur = 1 << 28;
    if (old.rlim_cur != RLIM_INFINITY && old.rlim_cur < tight.rlim_cur) GTEST_SKIP() << "the limit is tighter already";
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &tight), 0);
    MemoryLimit const after = detect_memory_limit({});
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &old), 0);
    EXPECT_LE((after.limit - after.used).count, std::uint64_t{1} << 28);
}
#endif

}  // namespace
}  // namespace sluice
