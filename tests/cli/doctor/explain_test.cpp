// SPDX-License-Identifier: BSD-3-Clause
// The doctor's findings on made-up machines, for states that this machine does not have.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "budget/memory_limit.hpp"
#include "cli/doctor/memory_limits.hpp"
#include "cli/doctor/pages.hpp"
#include "cli/doctor/single_copy.hpp"

namespace sluice::cli {
namespace {

bool contains(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

TEST(Doctor, explains_each_value_of_ptrace_scope) {
    EXPECT_EQ(explain_ptrace_scope("").health, Health::ok);
    EXPECT_EQ(explain_ptrace_scope("0").health, Health::ok);
    EXPECT_TRUE(explain_ptrace_scope("0").change.empty());
    for (char const* const value : {"1", "2", "3"}) {
        Finding const finding = explain_ptrace_scope(value);
        EXPECT_EQ(finding.health, Health::limited) << value;
        EXPECT_TRUE(contains(finding.change, "kernel.yama.ptrace_scope=0")) << finding.change;
    }
    EXPECT_FALSE(contains(explain_ptrace_scope("3").change, "sysctl ")) << "3 cannot be set back while the system runs";
}

TEST(Doctor, explains_a_filter_of_system_calls) {
    EXPECT_EQ(explain_seccomp("0").health, Health::ok);
    EXPECT_EQ(explain_seccomp("").health, Health::ok);
    EXPECT_TRUE(contains(explain_seccomp("2").change, "seccomp="));
}

TEST(Doctor, tells_the_chain_of_limits_and_the_least) {
    Findings const findings =
        explain_memory_limits({{Bytes{std::uint64_t{1} << 60}, 100_MiB, "cgroup v2 /sys/fs/cgroup/job/memory.max"},
                               {4_GiB, 100_MiB, "cgroup v2 /sys/fs/cgroup/memory.max"},
                               {2_GiB, 1_GiB, "RLIMIT_AS"},
                               {1_MiB, 100_MiB, "setting"},
                               {8_GiB, 100_MiB, "MemAvailable"}});
    ASSERT_EQ(findings.size(), 6u);
    EXPECT_EQ(findings[0].value, "no limit");
    EXPECT_TRUE(contains(findings[1].value, "4 GiB")) << findings[1].value;
    EXPECT_TRUE(contains(findings[1].change, ">/sys/fs/cgroup/memory.max")) << findings[1].change;
    EXPECT_TRUE(contains(findings[2].value, "leaves 1 GiB")) << findings[2].value;
    EXPECT_TRUE(contains(findings[2].change, "ulimit -v"));
    EXPECT_FALSE(contains(findings[2].value, "the least"));
    EXPECT_EQ(findings[3].health, Health::missing) << "passed already";
    EXPECT_TRUE(contains(findings[3].value, "the least"));
    EXPECT_TRUE(contains(findings[5].means, "from setting")) << findings[5].means;
}

TEST(Doctor, says_when_no_limit_was_found) {
    Findings const findings = explain_memory_limits({});
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].health, Health::limited);
    EXPECT_TRUE(contains(findings[0].change, "SLUICE_MEMORY"));
}

class MadeUpPages : public testing::Test {
  protected:
    MadeUpPages() {
        std::string pattern = (std::filesystem::temp_directory_path() / "sluice-pages-XXXXXX").string();
        root_ = mkdtemp(pattern.data());
    }
    ~MadeUpPages() override { std::filesystem::remove_all(root_); }
    void write(std::string const& file, std::string const& text) {
        std::filesystem::path const path = root_ + "/sys/kernel/mm/" + file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }
    std::string root_;
};

TEST_F(MadeUpPages, are_explained_by_the_chosen_mode) {
    write("transparent_hugepage/enabled", "[always] madvise never");
    write("transparent_hugepage/shmem_enabled", "always within_size [advise] never deny force");
    Findings findings = look_at_pages_below(root_);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].health, Health::ok);
    EXPECT_EQ(findings[1].health, Health::ok);
    write("transparent_hugepage/enabled", "always [madvise] never");
    EXPECT_EQ(look_at_pages_below(root_)[0].health, Health::limited);
    write("transparent_hugepage/enabled", "always madvise [never]");
    EXPECT_EQ(look_at_pages_below(root_)[0].health, Health::missing);
}

TEST_F(MadeUpPages, of_a_kernel_without_any_are_missing) {
    Findings const findings = look_at_pages_below(root_);
    EXPECT_EQ(findings[0].health, Health::missing);
    EXPECT_EQ(findings[0].value, "not in this kernel");
}

TEST_F(MadeUpPages, that_are_reserved_are_counted_and_the_advice_is_one_gibibyte) {
    write("hugepages/hugepages-2048kB/nr_hugepages", "0");
    write("hugepages/hugepages-2048kB/free_hugepages", "0");
    write("hugepages/hugepages-1048576kB/nr_hugepages", "4");
    write("hugepages/hugepages-1048576kB/free_hugepages", "3");
    Findings const findings = look_at_pages_below(root_);
    ASSERT_EQ(findings.size(), 4u);
    EXPECT_EQ(findings[2].value, "4, 3 free");
    EXPECT_EQ(findings[2].health, Health::ok);
    EXPECT_TRUE(contains(findings[3].change, "echo 512 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
}

TEST(Doctor, reads_capabilities_from_their_mask) {
    EXPECT_TRUE(has_capability("0000000000004000", 14));
    EXPECT_FALSE(has_capability("0000000000004000", 13));
    EXPECT_TRUE(has_capability("000001ffffffffff", 40));
    EXPECT_FALSE(has_capability("", 14));
}

}  // namespace
}  // namespace sluice::cli
