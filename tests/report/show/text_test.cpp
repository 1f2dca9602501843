// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/columns.hpp"
#include "report/jobs.hpp"
#include "report/show/comparison.hpp"
#include "report/show/trace.hpp"
#include "report/show/why/what_happened.hpp"
#include "report/show/words.hpp"

namespace sluice::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns the text in one line, as it was before it was wrapped.
std::string flat(std::string text) {
    for (std::size_t at = 0; (at = text.find("\n           ")) != std::string::npos;)
        text.replace(at, 12, " ");
    return text;
}

/// Lines of services do not count.
void expect_one_screen(std::string const& text) {
    std::size_t counted = 0;
    std::string label;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(base::columns_of(line), k_text_columns) << line;
        if (!line.starts_with(' ')) label = line.substr(0, line.find(' '));
        if (label != "hidden" && label != "Sluice" && label != "registered") ++counted;
    }
    EXPECT_LE(counted, k_text_lines) << text;
}

TEST(Text, of_a_healthy_job_names_the_peak_and_what_it_is_made_of) {
    std::string const text = to_screen(job(8, Story::healthy));
    expect_one_screen(text);
    std::string const line = flat(text);
    EXPECT_THAT(line, HasSubstr("8 ranks · Open MPI 4.1.4 · 12.0 s · ended"));
    EXPECT_THAT(line, HasSubstr("least 360 MiB, mean 375 MiB, most 389 MiB on rank 7 at 8.0"));
    EXPECT_THAT(line, HasSubstr("in MPI_Alltoallv at transpose+0x244 (libfield.so)"));
    EXPECT_THAT(
        line,
        HasSubstr(
            "MPI private 24 MiB, MPI shared 17 MiB, libraries and files 0 B, Sluice 640 KiB (512 KiB of it fixed); "
            "in flight 120 MiB"));
    EXPECT_THAT(line, HasSubstr("served 240 in-place all-to-alls"));
    EXPECT_THAT(line, HasSubstr("saved up to 60 MiB"));
    EXPECT_THAT(line, HasSubstr("MPI_IN_PLACE"));
    EXPECT_THAT(line, HasSubstr("--memory 3172MiB holds it"));
    EXPECT_THAT(line, Not(HasSubstr("did not end")));
}

TEST(Text, of_a_killed_job_names_the_rank_the_call_and_since_when_it_grew) {
    std::string const text = to_screen(job(4, Story::flooded));
    expect_one_screen(text);
    std::string const line = flat(text);
    EXPECT_THAT(line, HasSubstr("state      all 4 ranks gone, last sign of life at 12.0 s"));
    EXPECT_THAT(line, HasSubstr("The limit of node 0 was reached: its 4 ranks held 1.86 GiB of 2 GiB"));
    EXPECT_THAT(line, HasSubstr("most likely killed for lack of memory"));
    EXPECT_THAT(line, HasSubstr("why        Rank 0 ran out of memory: MPI's private memory grew from"));
    EXPECT_THAT(line, HasSubstr("since 4.1"));
    EXPECT_THAT(line, HasSubstr("120 MiB/s"));
    EXPECT_THAT(line,
                HasSubstr("All 4 ranks are gone: killed, or ended without MPI_Finalize; how they ended is not known "
                          "here. All were last seen at 12.0 s, within 0.10 s of each other."));
    EXPECT_THAT(line, HasSubstr("rank 0 at 12.0 s in MPI_Recv at drain+0x1c (app) for 0.10 s, held 1.17 GiB"));
    EXPECT_THAT(line, HasSubstr("ranks 1-3 at 12.0 s in MPI_Isend at exchange_halo+0x5f (app) for 2.00 s"));
    EXPECT_THAT(line, HasSubstr("grew by 960 MiB in MPI_Recv at drain+0x1c (app) on rank 0, since 4.00 s"));
}

TEST(Text, of_a_job_that_stood_at_its_limit_begins_with_the_rank_that_ran_out_of_memory) {
    std::uint64_t const limit = std::uint64_t{490} << 20;
    std::vector<std::string> const why = what_happened(job(2, Story::stood, limit));
    ASSERT_FALSE(why.empty());
    EXPECT_THAT(why[0], testing::StartsWith("Rank 1 ran out of memory: the application's memory grew from 1"));
    EXPECT_THAT(why[0], HasSubstr(" to 372 MiB since 1."));
    EXPECT_THAT(why[0], HasSubstr("and stood there from "));
    EXPECT_THAT(why[0], HasSubstr("it was last seen in MPI_Isend at exchange_halo+0x5f (app)"));
    std::string const text = to_screen(job(2, Story::stood, limit));
    expect_one_screen(text);
    EXPECT_THAT(flat(text), Not(HasSubstr("No memory was growing steadily")));
    EXPECT_THAT(flat(text), Not(HasSubstr("wait for each other"))) << "nothing is known of a balance";
}

TEST(Text, tells_nothing_above_all_of_a_limit) {
    std::string const line = flat(to_screen(job(2, Story::stood, std::uint64_t{300} << 20)));
    EXPECT_THAT(line, HasSubstr("its 2 ranks held all of 300 MiB (100 %)"));
    for (std::size_t at = line.find(" %"); at != std::string::npos; at = line.find(" %", at + 1)) {
        std::size_t const begin = line.find_last_not_of("0123456789.", at - 1) + 1;
        EXPECT_LE(std::stod(line.substr(begin, at - begin)), 100.0) << line.substr(begin - 20, 60);
    }
}

TEST(Text, leaves_pages_of_files_out_of_the_need_of_a_node) {
    Summary two = job(2, Story::stood);
    std::uint64_t const first = make_record(0, 2, Story::stood)->head.peak.resident;
    std::uint64_t const second = make_record(1, 2, Story::stood)->head.peak.resident;
    EXPECT_EQ(two.nodes[0].need_kib(), first + second - 2 * 20 * 1024) << "20 MiB on each rank";
    EXPECT_EQ(two.nodes[0].peaks_kib, two.peak_kib.sum);
    two.states[static_cast<std::size_t>(record::State::ended)] = RankSet(2, {0, 1});
    EXPECT_THAT(all_advice(two), HasSubstr("needs up to " + kib_text(first + second - 2 * 20 * 1024) +
                                           " on a node (2 ranks at their peaks, " + kib_text(first + second) +
                                           ", less 40 MiB of libraries and files)"));
}

TEST(Text, of_a_node_says_how_the_need_follows_from_the_peaks) {
    Summary const summary = job(8, Story::healthy);
    NodeSum const& node = summary.nodes[0];
    EXPECT_EQ(node.peaks_kib, summary.peak_kib.sum);
    EXPECT_EQ(node.need_kib() + node.peaks_files_kib + node.repeated_kib(), node.peaks_kib);
    EXPECT_THAT(all_advice(summary), HasSubstr("(8 ranks at their peaks, " + kib_text(node.peaks_kib) + ", less " +
                                               kib_text(node.repeated_kib()) + " that they share)"));
}

TEST(Text, counts_shared_memory_by_the_part_of_each_rank) {
    NodeSum node;
    std::uint64_t peaks = 0;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const record = make_record(rank, 2, Story::stood);
        peaks += record->head.peak.resident;
        record->head.peak_segments = 8 * 1024;
        record->head.segments = 6 * 1024;
        record->head.segments_part = 3 * 1024;  // the other rank maps the same pages
        add_rank(node, *record);
    }
    EXPECT_EQ(node.need_kib(), peaks - 2 * 20 * 1024 - 8 * 1024);
}

TEST(Text, of_a_killed_job_below_its_limit_blames_no_limit) {
    std::string const line = flat(to_screen(job(4, Story::flooded, std::uint64_t{64} << 30)));
    EXPECT_THAT(line, HasSubstr("was not reached"));
    EXPECT_THAT(line, Not(HasSubstr("lack of memory")));
}

TEST(Text, of_a_job_of_which_one_rank_was_killed_names_it_and_what_it_did) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        RecordPointer const record = make_record(rank, 4, Story::flooded);
        record->head.state = record::State::gone;
        record->head.start_unix_us += rank * 50'000;
        if (rank > 0) record->head.now_us += 900'000;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 1'700'000'000'000'000}));
    }
    std::string const text = to_screen(whole);
    expect_one_screen(text);
    std::string const line = flat(text);
    EXPECT_THAT(line, HasSubstr("Rank 0 was the first, last seen at 12.0 s, in MPI_Recv at drain+0x1c (app) for 0.10 "
                                "s, holding 1.17 GiB; rank 3 the last, at 13.1 s."));
    EXPECT_THAT(line, Not(HasSubstr("running")));
}

TEST(Text, of_a_job_that_runs_says_so_and_of_one_far_away_that_it_cannot_be_told) {
    auto const in_states = [](record::State first, record::State second) {
        Summary whole;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            RecordPointer const record = make_record(rank, 2, Story::flooded);
            record->head.state = rank == 0 ? first : second;
            merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
        }
        return flat(to_screen(whole));
    };
    EXPECT_THAT(in_states(record::State::running, record::State::running),
                HasSubstr("· still running\nstate      both ranks still running"));
    EXPECT_THAT(in_states(record::State::running, record::State::running), Not(HasSubstr("gone")));
    EXPECT_THAT(in_states(record::State::running, record::State::ended), HasSubstr("· still running"));
    std::string const mixed = in_states(record::State::running, record::State::gone);
    EXPECT_THAT(mixed, HasSubstr("· did not end\nstate      rank 0 still running, rank 1 gone"));
    EXPECT_THAT(
        mixed,
        HasSubstr("Rank 1 is gone: killed, or ended without MPI_Finalize; how it ended is not known here. It was "
                  "last seen at 12.0 s, in MPI_Isend at exchange_halo+0x5f (app) for 2.00 s, holding"));
    EXPECT_THAT(mixed, HasSubstr("rank 0 (still running) at 12.0 s in MPI_Recv"));
    std::string const far = in_states(record::State::unknown, record::State::unknown);
    EXPECT_THAT(far, HasSubstr("· did not end\nstate      both ranks not known"));
    EXPECT_THAT(far, HasSubstr("Whether both ranks still run cannot be known from here"));
}

TEST(Text, says_what_was_never_freed) {
    Summary summary = job(2, Story::healthy);
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("objects    never freed: 2 of 2 communicators on rank 0, 192 KiB"));
    for (ObjectSum& sum : summary.objects)
        sum.left = Spread::of(0, 0);
    EXPECT_THAT(to_screen(summary), Not(HasSubstr("objects")));
}

TEST(Text, names_the_rank_that_had_most_in_flight_at_its_peak) {
    Summary summary = job(2, Story::healthy);
    summary.in_flight_kib = Spread::of(400 << 10, 0);
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("in flight 120 MiB (at its own peak 400 MiB on rank 0)"));
}

TEST(Text, tells_of_reserved_huge_pages_only_where_there_are_some) {
    EXPECT_THAT(to_screen(job(4, Story::healthy)), Not(HasSubstr("huge")));
    Summary summary = job(4, Story::early);
    summary.in_flight_kib = Spread::of(400 << 10, 0);
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("(at its own peak 400 MiB on rank 0); beside that up to 64 MiB in "
                                                    "reserved huge pages, on rank 1"));
}

TEST(Text, tells_who_ran_it_only_where_it_was_asked_for) {
    EXPECT_THAT(to_screen(job(2, Story::healthy)), Not(HasSubstr("run        ")));
    Summary summary = job(2, Story::healthy);
    summary.identity = {0, "someone", "./app --size 3"};
    std::string("node12").copy(summary.nodes[0].host.data(), 6);
    EXPECT_THAT(to_screen(summary), HasSubstr("run        by someone on node12: ./app --size 3"));
}

TEST(Text, of_a_job_that_hangs_says_so) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        RecordPointer const record = make_record(rank, 4);
        record->head.state = record::State::gone;
        record->head.current_site = rank == 0 ? 4 : 3;
        record->head.current_since_us = 2'000'000 + rank;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    std::string const line = flat(to_screen(whole));
    EXPECT_THAT(line, HasSubstr("All ranks were inside MPI for the last 10.0 s"));
    EXPECT_THAT(line, HasSubstr("No memory was growing steadily when the records end; rank 3 held most"));
}

/// Rank 0 is in the state; rank 1 is in MPI_Recv for it.
Summary waiting_for(record::State of_0, record::State of_1) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const record = make_record(rank, 2);
        record->head.state = rank == 0 ? of_0 : of_1;
        record->head.current_site = rank == 0 ? record::k_no_site : 2;
        record->head.current_since_us = 11'900'000;
        record->head.awaited = rank == 0 ? record::k_no_rank : 0;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    return whole;
}

TEST(Text, names_the_rank_that_another_waits_for_and_that_it_is_over) {
    using record::State;
    std::string const waits = "Rank 1 waits in MPI_Recv at drain+0x1c (app) for rank 0, which ";
    EXPECT_THAT(flat(to_screen(waiting_for(State::ended, State::running))),
                HasSubstr(waits + "has ended: no message of it can come any more."));
    EXPECT_THAT(flat(to_screen(waiting_for(State::gone, State::running))), HasSubstr(waits + "is gone: no message"));
    EXPECT_THAT(flat(to_screen(waiting_for(State::finalizing, State::running))),
                HasSubstr(waits + "is in MPI_Finalize: no message"));
    EXPECT_THAT(flat(to_screen(waiting_for(State::gone, State::gone))), Not(HasSubstr("for rank 0")))
        << "a wait of 0.1 s for a rank that may have sent is nothing to tell of";
    EXPECT_THAT(flat(to_screen(waiting_for(State::running, State::running))), Not(HasSubstr("for rank 0")));
    EXPECT_THAT(flat(to_screen(waiting_for(State::gone, State::aborted))), Not(HasSubstr("for rank 0")))
        << "a rank that called MPI_Abort inside a call waits for none";
}

TEST(Text, counts_shares_of_all_time_after_MPI_Init) {
    Summary summary = job(2, Story::healthy);
    summary.lived_us = {2, 20'000'000, 10'000'000, 10'000'000, 0, 0};
    summary.init_ns = {2, 4'000'000'000, 2'000'000'000, 2'000'000'000, 0, 0};
    summary.time_in_mpi_ns = {2, 12'000'000'000, 6'000'000'000, 6'000'000'000, 0, 0};
    summary.waiting_ns = {2, 4'000'000'000, 2'000'000'000, 2'000'000'000, 0, 0};
    EXPECT_THAT(flat(to_screen(summary)),
                HasSubstr("50 % of all time in MPI, 25 % of all time waiting for other ranks"));
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("MPI_Init took 2.00 s, which is not counted"));
}

TEST(Text, says_where_ranks_outnumber_processors) {
    Summary summary = job(4, Story::healthy);
    EXPECT_THAT(flat(to_screen(summary)), Not(HasSubstr("processor")));
    summary.nodes[0].processors = 2;
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("4 ranks share the 2 processors of node 0"));
}

TEST(Text, without_exact_growth_takes_it_from_the_samples) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const record = make_record(rank, 2, Story::flooded);
        record->sites[2].grown_private = 0;
        record->sites[2].growing_since_us = 0;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    SiteSum const* const site = whole.site(site_id("MPI_Recv", "drain+0x1c (app)"));
    ASSERT_NE(site, nullptr);
    EXPECT_NEAR(static_cast<double>(site->grown.most), 960.0 * (1 << 20), 10.0 * (1 << 20));
    EXPECT_EQ(site->grown.most_rank, 0U);
    EXPECT_NEAR(static_cast<double>(site->growing_since_us), 4e6, 5e5);
    EXPECT_EQ(site->growing_ranks, 1U);
    EXPECT_THAT(flat(to_screen(whole)), HasSubstr("in MPI_Recv at drain+0x1c (app) on rank 0, since"));
    EXPECT_EQ(site->estimated, site->grown.sum);
    EXPECT_THAT(flat(to_screen(whole)), HasSubstr("MPI's memory grew by about 9"));
    EXPECT_THAT(flat(to_screen(whole)),
                HasSubstr("MPI_Recv at drain+0x1c (app): MPI's memory grew, estimated, rank 0"));
}

TEST(Text, names_ranks_without_record_and_aborts) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        RecordPointer const record = make_record(rank, 4);
        record->head.state = rank == 2 ? record::State::aborted : record::State::exited;
        record->head.abort_code = rank == 2 ? 77 : 0;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    std::string const line = flat(to_screen(whole));
    EXPECT_THAT(line, HasSubstr("ranks 0, 1 ended without MPI_Finalize"));
    EXPECT_THAT(line, HasSubstr("MPI_Abort(77)"));
    EXPECT_THAT(line, HasSubstr("1 of 4 ranks left no record"));
}

TEST(Text, says_of_ranks_that_ended_that_they_did_although_others_left_no_record) {
    RecordPointer const record = make_record(1, 2);
    record->head.state = record::State::ended;
    Summary const half = summary_of(*record, {k_names, 0, {}, 0, 0});
    std::string const line = flat(to_screen(half));
    EXPECT_THAT(line, HasSubstr("· ended\nstate      rank 1 ended, last sign of life"));
    EXPECT_THAT(line, HasSubstr("1 of 2 ranks left no record"));
    EXPECT_EQ(compared(half, job(2, Story::healthy))[1].before, "ended");
}

TEST(Text, has_a_line_for_each_service_that_counted_anything_without_what_is_0) {
    std::string const line = flat(to_screen(job(2, Story::healthy)));
    EXPECT_THAT(line, HasSubstr("all-to-alls in place: 60 calls served"));
    EXPECT_THAT(line, Not(HasSubstr("nonblocking calls copied"))) << "it is 0";
    EXPECT_THAT(line, HasSubstr("checks of collectives: 21 calls compared"));
    EXPECT_THAT(line, Not(HasSubstr("a service that did nothing")));
}

TEST(Text, stays_one_screen_whatever_the_names_are) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 40; ++rank) {
        RecordPointer const record = make_record(rank, 40, Story::flooded);
        for (std::uint64_t i = 1; i < record->head.sites; ++i)
            record->sites[i].place.fill(static_cast<char>('a' + rank % 26));
        record->head.current_site = 1 + rank % 4;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    expect_one_screen(to_screen(whole));
    expect_one_screen(to_screen(whole, job(8, Story::healthy)));
}

TEST(Text, leaves_out_what_is_needed_least_and_says_how_much) {
    Summary summary = job(8, Story::healthy);
    summary.waiting_ns = {8, 54'000'000'000, 0, 9'000'000'000, 2, 0};
    summary.identity = {0, "anne", std::string(400, 'c')};
    for (std::size_t i = 0; i < 12; ++i)
        summary.counters.push_back({"service " + std::to_string(i), "calls served", Spread::of(1, 0)});
    std::string const text = to_screen(summary);
    expect_one_screen(text);
    std::string const line = flat(text);
    EXPECT_THAT(line, HasSubstr("--memory 3172MiB holds it"));
    EXPECT_THAT(line, HasSubstr("are a second copy")) << "the first advice";
    EXPECT_THAT(line, HasSubstr("left out   "));
    for (std::string const& service : service_lines(summary))
        EXPECT_THAT(line, HasSubstr(service)) << "a user has asked for it";
    Summary few = job(2, Story::healthy);
    few.pinned_kib = Spread::of(0, 0);
    EXPECT_THAT(to_screen(few), Not(HasSubstr("left out")));
}

TEST(Text, tells_a_peak_that_no_sample_saw_as_what_it_is) {
    Summary summary = job(2, Story::healthy);
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("on rank 1 at 8.0"));
    summary.highest.seen = record::PeakSeen::between_samples;
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("on rank 1 between two samples near 8.0"));
    summary.highest.seen = record::PeakSeen::before_init;
    EXPECT_THAT(flat(to_screen(summary)), HasSubstr("on rank 1 before MPI_Init rank 1 then: application"));
}

TEST(Comparison, shows_both_and_the_change) {
    std::string const text = to_screen(job(4, Story::flooded), job(4, Story::healthy));
    expect_one_screen(text);
    EXPECT_THAT(text, HasSubstr("before"));
    EXPECT_THAT(text, HasSubstr("−"));
    for (Compared const& row : compared(job(4, Story::flooded), job(4, Story::flooded)))
        EXPECT_TRUE(row.change == "same" || row.change.empty()) << row.what << " " << row.change;
}

TEST(Trace, is_JSON_with_calls_and_counters_of_each_rank) {
    std::ostringstream out;
    write_trace(job(4, Story::flooded), out);
    nlohmann::json const trace = nlohmann::json::parse(out.str());
    int calls = 0, counters = 0, names = 0, last = 0;
    for (auto const& event : trace.at("traceEvents")) {
        std::string const phase = event.at("ph");
        calls += phase == "X";
        counters += phase == "C";
        names += event.at("name") == "process_name";
        last += event.at("name").get<std::string>().ends_with("(did not return)");
        EXPECT_TRUE(phase != "X" || (event.contains("ts") && event.contains("dur") && event.contains("tid")));
    }
    EXPECT_EQ(names, 4);
    EXPECT_EQ(last, 4);
    EXPECT_EQ(calls, 4 * 60 + last);
    EXPECT_GT(counters, 4 * 200);
}

}  // namespace
}  // namespace sluice::report
