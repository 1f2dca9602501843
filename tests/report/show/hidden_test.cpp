// SPDX-License-Identifier: BSD-3-Clause
// Receives that returned before their data had come, from the record to each form of the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/records.hpp"
#include "report/show/comparison.hpp"
#include "report/show/page.hpp"
#include "report/show/text.hpp"
#include "report/show/times.hpp"
#include "report/summary/summary_json.hpp"

namespace sluice::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::uint64_t const k_receive = site_id("MPI_Recv", "drain+0x1c (app)");

Summary of(record::RankRecord const& record) {
    return summary_of(record, {k_names, 12'000'000, {}, 0, 0});
}

Summary job(std::uint32_t size, Story story) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < size; ++rank)
        merge(whole, of(*make_record(rank, size, story)));
    return whole;
}

TEST(Hidden, is_added_up_over_the_ranks_with_the_ranks_of_least_and_most) {
    Summary const whole = job(3, Story::early);
    ASSERT_NE(whole.site(k_receive), nullptr);
    SiteSum const& receive = *whole.site(k_receive);
    EXPECT_EQ(receive.deferred, 40U + 41U + 42U);
    EXPECT_EQ(receive.hidden_ns, (Spread{3, 1'200'000'000, 300'000'000, 500'000'000, 0, 2}));
    EXPECT_EQ(receive.left_ns, (Spread{3, 60'000'000, 20'000'000, 20'000'000, 0, 0}));
    EXPECT_EQ(receive.moving_ns, (Spread{3, 2'100'000, 700'000, 700'000, 0, 0}));
    Hidden const all = hidden_of(whole);
    EXPECT_EQ(all.receives, receive.deferred);
    EXPECT_EQ(all.hidden_ns, receive.hidden_ns.sum);
    EXPECT_EQ(all.left_ns, receive.left_ns.sum);
    EXPECT_EQ(all.moving_ns, receive.moving_ns.sum);
}

TEST(Hidden, of_two_addresses_of_one_name_is_that_of_one_rank) {
    RecordPointer const record = make_record(1, 2, Story::early);
    record->sites[record->head.sites] = record->sites[2];
    record->sites[record->head.sites++].address = 0xabcdef;
    Summary const summary = of(*record);
    ASSERT_NE(summary.site(k_receive), nullptr);
    SiteSum const& receive = *summary.site(k_receive);
    EXPECT_EQ(receive.deferred, 82U);
    EXPECT_EQ(receive.hidden_ns, Spread::of(800'000'000, 1));
    EXPECT_EQ(receive.left_ns, Spread::of(40'000'000, 1));
    EXPECT_EQ(receive.moving_ns, Spread::of(1'400'000, 1));
}

TEST(Hidden, goes_through_JSON_under_its_names) {
    Summary const whole = job(2, Story::early);
    nlohmann::json const json = nlohmann::json::parse(to_text(whole));
    auto const site = std::find_if(json.at("sites").begin(), json.at("sites").end(),
                                   [](nlohmann::json const& row) { return row.at("function") == "MPI_Recv"; });
    ASSERT_NE(site, json.at("sites").end());
    EXPECT_EQ(site->at("deferred"), 81);
    EXPECT_EQ(site->at("hidden_ns").at("sum"), 700'000'000);
    EXPECT_EQ(site->at("hidden_ns").at("max_rank"), 1);
    EXPECT_EQ(site->at("left_ns").at("sum"), 40'000'000);
    EXPECT_EQ(site->at("moving_ns").at("sum"), 1'400'000);
    EXPECT_EQ(from_text(to_text(whole), "test"), whole);
    EXPECT_EQ(from_bytes(to_bytes(whole)), whole);
}

TEST(Hidden, keeps_the_name_of_a_place_whose_time_is_small_because_it_is_hidden) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const record = make_record(rank, 2);
        record->head.sites = record::k_sites;
        for (std::size_t i = 1; i < record::k_sites; ++i) {
            record::Site& site = record->sites[i];
            site = {};
            site.address = 100 + i;
            site.calls = 1;
            site.time_ns = 1'000'000 + i;
            std::string const place = "f" + std::to_string(i) + "_" + std::to_string(rank) + " (app)";
            std::memcpy(site.place.data(), place.c_str(), place.size() + 1);
        }
        record->sites[1].time_ns = 0;
        record->sites[1].deferred = 9;
        record->sites[1].hidden_ns = 2'000'000;
        record->sites[2].time_ns = 0;
        merge(whole, of(*record));
    }
    SiteSum const* const early = whole.site(site_id(k_names[0], "f1_1 (app)"));
    ASSERT_NE(early, nullptr);
    EXPECT_EQ(early->deferred, 9U);
    EXPECT_EQ(whole.site(site_id(k_names[0], "f2_1 (app)")), nullptr) << "a place that costs nothing is dropped";
    EXPECT_EQ(hidden_of(whole).receives, 18U);
    EXPECT_EQ(hidden_of(whole).hidden_ns, 4'000'000U);
}

TEST(Hidden, has_a_row_in_the_text) {
    Summary whole = job(2, Story::early);
    whole.objects.clear();  // their row would take the room of the time
    EXPECT_EQ(hidden_line(whole),
              "0.70 s of waiting in 81 receives, 40.0 ms left, 1.4 ms for moving pages; "
              "most in MPI_Recv at drain+0x1c (app)");
    std::string const text = to_screen(whole);
    EXPECT_THAT(text, HasSubstr("\nhidden     0.70 s of waiting in 81 receives"));
    EXPECT_LT(text.find("\ntime       "), text.find("\nhidden     "));
}

TEST(Hidden, has_no_row_if_no_receive_returned_early) {
    EXPECT_EQ(hidden_line(job(2, Story::healthy)), "");
    EXPECT_THAT(to_screen(job(2, Story::healthy)), Not(HasSubstr("hidden")));
    EXPECT_EQ(hidden_line(Summary{}), "");
}

TEST(Hidden, is_told_also_if_receives_returned_early_for_nothing) {
    RecordPointer const record = make_record(0, 1, Story::early);
    record->sites[2].deferred = 1;
    record->sites[2].hidden_ns = 0;
    EXPECT_EQ(hidden_line(of(*record)), "0 µs of waiting in 1 receive, 20.0 ms left, 700 µs for moving pages");
}

TEST(Hidden, is_compared_if_one_of_the_jobs_has_it) {
    auto const row = [](Summary const& before, Summary const& after) {
        for (Compared const& compared_row : compared(before, after))
            if (compared_row.what == "waiting hidden, mean")
                return compared_row.before + " " + compared_row.after + " " + compared_row.change;
        return std::string();
    };
    EXPECT_EQ(row(job(2, Story::healthy), job(2, Story::early)), "0 µs 0.35 s new");
    EXPECT_EQ(row(job(2, Story::early), job(2, Story::healthy)), "0.35 s 0 µs −100 %");
    EXPECT_EQ(row(job(2, Story::healthy), job(2, Story::healthy)), "");
}

/// What the page is given of one job.
nlohmann::json page_data(Summary const& summary) {
    std::filesystem::path const folder = fresh_folder("hidden");
    std::ofstream(folder / "template.html") << "/*SLUICE-REPORTS*/";
    std::ostringstream page;
    page_of(folder / "template.html", {&summary, 1})(page);
    std::filesystem::remove_all(folder);
    return nlohmann::json::parse(page.str()).at("reports").at(0);
}

TEST(Hidden, is_given_to_the_page_in_words_and_by_call_site) {
    Summary const whole = job(2, Story::early);
    nlohmann::json const data = page_data(whole);
    EXPECT_EQ(data.at("hidden"), hidden_line(whole));
    std::uint64_t early = 0;
    for (nlohmann::json const& site : data.at("sites"))
        early += site.at("deferred").get<std::uint64_t>();
    EXPECT_EQ(early, 81U);
    EXPECT_EQ(page_data(job(2, Story::healthy)).at("hidden"), "");
}

}  // namespace
}  // namespace sluice::report
