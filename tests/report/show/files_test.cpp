// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

#include "report/read/node_files.hpp"
#include "report/records.hpp"
#include "report/show/comparison.hpp"
#include "report/show/page.hpp"
#include "report/show/text.hpp"
#include "report/show/trace.hpp"
#include "report/summary/summary_json.hpp"
#include "sluice/error.hpp"
#include "support/limits/process_limit.hpp"

namespace sluice::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void store(fs::path const& path, std::string const& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string reason(std::function<void()> const& work) {
    try {
        work();
    } catch (Error const& error) {
        return error.what();
    }
    return "no error";
}

std::size_t files_in(fs::path const& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class Files : public testing::Test {
  protected:
    void TearDown() override { fs::remove_all(folder_); }
    fs::path folder_ = fresh_folder(testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Files, of_all_nodes_become_one_summary) {
    write_node_files(folder_, 12, 5, Story::flooded);
    LeftBehind const left = read_node_files(folder_, k_names);
    EXPECT_TRUE(left.skipped.empty());
    EXPECT_EQ(left.summary.ranks_seen, 12U);
    ASSERT_EQ(left.summary.nodes.size(), 3U);
    EXPECT_EQ(left.summary.nodes[0].node, 0U) << "the fullest comes first";
    EXPECT_EQ(left.summary.nodes[0].ranks + left.summary.nodes[1].ranks + left.summary.nodes[2].ranks, 12U);
    EXPECT_EQ(left.summary.comms_total, 7U);
    EXPECT_EQ(left.summary.in_state(record::State::gone).count(), 12U)
        << "no process can be asked, and all have been silent for years";
    for (CommSum const& comm : left.summary.comms)
        EXPECT_TRUE(comm.id.has_value());
    EXPECT_THAT(to_screen(left.summary), HasSubstr("MPI_Recv"));
}

TEST_F(Files, that_are_not_ours_are_skipped_with_a_line) {
    write_node_files(folder_, 4, 2, Story::flooded);
    std::string const good = content(folder_ / "node-0.sluice");
    std::string older = good;
    older[8] = static_cast<char>(record::k_format + 1);
    store(folder_ / "node-2.sluice", older);
    store(folder_ / "node-3.sluice", "hello");
    store(folder_ / "node-4.sluice", std::string(8192, 'x'));
    store(folder_ / "node-5.sluice", std::string(8192, '\0'));
    store(folder_ / "node-6.sluice", good);  // the ranks of node 0 again
    fs::create_directory(folder_ / "node-7.sluice");
    older[8] = static_cast<char>(record::k_format - 1);
    store(folder_ / "node-8.sluice", older);
    LeftBehind const left = read_node_files(folder_, k_names);
    EXPECT_EQ(left.summary.ranks_seen, 4U);
    ASSERT_EQ(left.skipped.size(), 7U);
    EXPECT_THAT(left.skipped[0], HasSubstr("another version: format " + std::to_string(record::k_format + 1)));
    EXPECT_THAT(left.skipped[1], HasSubstr("ends after 5 bytes"));
    EXPECT_THAT(left.skipped[2], HasSubstr("not a file of Sluice"));
    EXPECT_THAT(left.skipped[3], HasSubstr("never begun"));
    EXPECT_THAT(left.skipped[4], HasSubstr("node-7.sluice"));
    EXPECT_THAT(left.skipped[5], HasSubstr("node-8.sluice: skipped, it is of another version: format " +
                                           std::to_string(record::k_format - 1) + " with"));
    EXPECT_THAT(left.skipped[5], HasSubstr("this version reads format " + std::to_string(record::k_format)));
    EXPECT_THAT(left.skipped[6], HasSubstr("node-6.sluice: skipped, it is of another job, which began at 2023-11-14"));
}

TEST_F(Files, without_any_usable_record_are_one_error) {
    EXPECT_THAT(reason([&] { read_node_files(folder_, k_names); }), HasSubstr("no rank's record can be used"));
    store(folder_ / "node-0.sluice", "hello");
    EXPECT_THAT(reason([&] { read_node_files(folder_, k_names); }), HasSubstr("ends after 5 bytes"));
    EXPECT_THAT(reason([&] { read_node_files(folder_ / "none", k_names); }), HasSubstr("none"));
}

TEST_F(Files, that_are_no_regular_files_or_claim_too_much_are_skipped_at_once) {
    write_node_files(folder_, 2, 2, Story::flooded);
    ASSERT_EQ(mkfifo((folder_ / "node-1.sluice").c_str(), 0666), 0);
    fs::create_symlink(folder_ / "node-0.sluice", folder_ / "node-2.sluice");
    // Records without end, all of them empty, which take no room on the disk.
    std::string const head = content(folder_ / "node-0.sluice").substr(0, sizeof(record::NodeHeader));
    record::NodeHeader header;
    std::memcpy(&header, head.data(), sizeof header);
    header.claimed = 0xffffffff;
    store(folder_ / "node-3.sluice", std::string(reinterpret_cast<char const*>(&header), sizeof header));
    fs::resize_file(folder_ / "node-3.sluice", std::uintmax_t{1} << 40);
    LeftBehind const left = read_node_files(folder_, k_names);
    EXPECT_EQ(left.summary.ranks_seen, 2U);
    EXPECT_LT(left.skipped.size(), 200U);
    EXPECT_THAT(left.skipped[0], HasSubstr("node-1.sluice: skipped, it cannot be read: it is a named pipe"));
    EXPECT_THAT(left.skipped[1], HasSubstr("node-2.sluice: skipped, it cannot be read: it is a symbolic link"));
}

TEST_F(Files, of_a_report_replace_what_stands_under_their_names_and_follow_no_link) {
    RecordPointer const record = make_record(0, 1, Story::healthy);
    Summary const summary = summary_of(*record, {k_names, 0, {}, 0, 0});
    store(folder_ / "private", "private");
    fs::create_symlink("private", folder_ / "report.json");
    ASSERT_EQ(mkfifo((folder_ / "trace.json").c_str(), 0666), 0);
    write_report(folder_, summary, {});
    EXPECT_EQ(content(folder_ / "private"), "private");
    EXPECT_FALSE(fs::is_symlink(folder_ / "report.json"));
    EXPECT_EQ(read_report(folder_ / "report.json").world_size, 1U);
    EXPECT_TRUE(fs::is_regular_file(folder_ / "trace.json"));
}

TEST_F(Files, take_no_place_of_a_device_or_a_pipe) {
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0666), 0);
    fs::create_symlink("pipe", folder_ / "link");
    for (char const* name : {"pipe", "link"})
        EXPECT_THAT(reason([&] { write_whole(folder_ / name, [](std::ostream& out) { out << "x"; }); }),
                    HasSubstr("it is not a regular file"));
    EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
    EXPECT_THAT(reason([&] { read_report(folder_ / "pipe"); }), HasSubstr("it is a named pipe"));
    store(folder_ / "large", "");
    fs::resize_file(folder_ / "large", std::uintmax_t{1} << 40);
    EXPECT_THAT(reason([&] { read_report(folder_ / "large"); }), HasSubstr("it has 1099511627776 bytes"));
}

TEST_F(Files, written_by_others_show_no_control_characters) {
    RecordPointer const record = make_record(0, 1, Story::healthy);
    std::strcpy(record->sites[1].place.data(), "a\x1b[2J\xc2\x9b\nsluice: all is well</script>");
    std::string const shown = "a?[2J??sluice: all is well</script>";
    auto const shows_it = [&shown](Summary const& summary) {
        return std::any_of(summary.sites.begin(), summary.sites.end(),
                           [&shown](SiteSum const& site) { return site.place == shown; });
    };
    Summary const summary = summary_of(*record, {k_names, 0, {}, 0, 0});
    EXPECT_TRUE(shows_it(summary));
    std::string json = to_text(summary);
    ASSERT_NE(json.find(shown), std::string::npos);
    json.replace(json.find(shown), 7, "a\\u001b[2J\xc2\x9b\\n");
    EXPECT_TRUE(shows_it(from_text(json, "x")));
    EXPECT_EQ(safe_in_script(json).find("</script>"), std::string::npos);
}

TEST_F(Files, cut_off_anywhere_give_what_is_whole) {
    write_node_files(folder_, 3, 3, Story::flooded);
    std::string const whole = content(folder_ / "node-0.sluice");
    std::mt19937_64 random(11);
    for (int attempt = 0; attempt < 40; ++attempt) {
        std::size_t const length = random() % whole.size();
        store(folder_ / "node-0.sluice", whole.substr(0, length));
        std::size_t const ranks = length < sizeof(record::NodeHeader)
                                      ? 0
                                      : (length - sizeof(record::NodeHeader)) / sizeof(record::RankRecord);
        if (ranks == 0) {
            EXPECT_NE(reason([&] { read_node_files(folder_, k_names); }), "no error") << length;
            continue;
        }
        LeftBehind const left = read_node_files(folder_, k_names);
        EXPECT_EQ(left.summary.ranks_seen, ranks) << length;
        EXPECT_EQ(left.skipped.size(), 1U);
    }
}

TEST_F(Files, full_of_random_bytes_never_harm_the_reader) {
    write_node_files(folder_, 2, 2, Story::flooded);
    std::string const whole = content(folder_ / "node-0.sluice");
    std::mt19937_64 random(12);
    int used = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
        std::string bytes = whole;
        std::size_t const changes = 1 + random() % 2000;
        // Some attempts damage the heads, whose numbers everything else depends on.
        std::size_t const room = attempt % 3 == 0 ? sizeof(record::RankHead) : sizeof(record::RankRecord);
        for (std::size_t i = 0; i < changes; ++i)
            bytes[sizeof(record::NodeHeader) + random() % room] = static_cast<char>(random());
        if (attempt % 5 == 0)
            for (std::size_t i = sizeof(record::NodeHeader); i < bytes.size(); ++i)
                bytes[i] = static_cast<char>(random());
        if (attempt % 3 == 0) {  // still valid enough to be read
            std::uint32_t const head[] = {1, 0, 2, 0};
            std::memcpy(bytes.data() + sizeof(record::NodeHeader), head, sizeof head);
            std::uint64_t const counts[] = {record::k_sites, record::k_comms, record::k_history, 1, random(), random()};
            std::memcpy(bytes.data() + sizeof(record::NodeHeader) + offsetof(record::RankHead, sites), counts,
                        sizeof counts);
        }
        store(folder_ / "node-0.sluice", bytes);
        try {
            LeftBehind const left = read_node_files(folder_, k_names);
            Summary const again = from_text(to_text(left.summary), "test");
            EXPECT_EQ(again, left.summary);
            EXPECT_FALSE(to_screen(left.summary).empty());
            EXPECT_FALSE(to_screen(left.summary, again).empty());
            std::ostringstream trace;
            write_trace(left.summary, trace);
            ++used;
        } catch (Error const& error) {
            EXPECT_THAT(error.what(), HasSubstr("no rank's record can be used"));
        }
    }
    EXPECT_GT(used, 20);
}

TEST_F(Files, of_a_report_read_back_as_written) {
    Summary const summary = summary_of(*make_record(0, 1), {k_names, 0, {}, 0, 0});
    fs::path const page_template = folder_ / "template.html";
    store(page_template, "<script>/*SLUICE-REPORTS*/</script>");
    write_report(folder_ / "deep/report", summary, page_template);
    EXPECT_EQ(read_report(folder_ / "deep/report/report.json"), summary);
    EXPECT_EQ(files_in(folder_ / "deep/report"), 3U);
    std::string const page = content(folder_ / "deep/report/report.html");
    EXPECT_EQ(page.find("</script>"), page.size() - 9) << "the only one is the template's";
    EXPECT_THAT(page, HasSubstr("setup\\u003c/script\\u003e"));
    write_report(folder_ / "deep/report", summary, {});
    EXPECT_EQ(files_in(folder_ / "deep/report"), 3U) << "written again, nothing else";
    store(folder_ / "cut.json", to_text(summary).substr(0, 500));
    EXPECT_THAT(reason([&] { read_report(folder_ / "cut.json"); }), HasSubstr("cut.json"));
    EXPECT_THAT(reason([&] { read_report(folder_ / "none.json"); }), HasSubstr("cannot be read"));
}

TEST_F(Files, that_cannot_be_written_leave_nothing) {
    Summary const summary = summary_of(*make_record(0, 1), {k_names, 0, {}, 0, 0});
    store(folder_ / "file", "");
    EXPECT_THAT(reason([&] { write_report(folder_ / "file/below", summary, {}); }), HasSubstr("below"));
    fs::create_directory(folder_ / "taken");
    EXPECT_THAT(reason([&] { write_whole(folder_ / "taken", [](std::ostream& out) { out << "x"; }); }),
                HasSubstr("directory"));
    EXPECT_THAT(reason([&] {
                    write_page(folder_ / "none.html", {&summary, 1}, folder_ / "page.html");
                }),
                HasSubstr("none.html"));
    EXPECT_EQ(files_in(folder_), 2U);
}

TEST_F(Files, on_a_full_disk_leave_nothing) {
    // A limit on the size of a file makes write() fail as a full disk does.
    std::string why;
    {
        tests::FileSizeLimit const limit(10'000);
        why = reason([&] {
            write_whole(folder_ / "report.json", [](std::ostream& out) { out << std::string(1'000'000, 'x'); });
        });
    }
    EXPECT_THAT(why, HasSubstr("report.json: File too large (RLIMIT_FSIZE)"));
    EXPECT_EQ(files_in(folder_), 0U);
}

}  // namespace
}  // namespace sluice::report
