// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/why/ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "report/records.hpp"
#include "report/show/text.hpp"
#include "report/show/why/what_happened.hpp"
#include "report/summary/summary_json.hpp"

namespace sluice::report {
namespace {

using record::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t k_start = 1'700'000'000'000'000;
constexpr std::uint32_t k_outside_mpi = record::k_no_site;
constexpr std::uint32_t k_in_recv = 2;  // the place in the records of Story::flooded

/// How a rank ended, in the words of its record.
struct Ended {
    State state = State::gone;
    std::uint64_t at_us = 0;  // of what the rank or its neighbour wrote; else of the last sign of life
    std::int32_t abort_code = 0;
    std::int32_t exit_code = record::k_not_told;
    std::int32_t status = record::k_not_told;  // that the neighbour saw
    std::uint32_t site = k_outside_mpi;
    bool by_mpi = false;
};
Ended in_order() {
    return {.state = State::ended, .at_us = 12'000'000};
}
Ended aborted(std::int32_t code, std::uint64_t at_us, std::uint32_t site = k_outside_mpi) {
    return {.state = State::aborted, .at_us = at_us, .abort_code = code, .site = site};
}
Ended failed(std::int32_t code, std::uint64_t at_us, std::uint32_t site) {
    return {.state = State::aborted, .at_us = at_us, .abort_code = code, .site = site, .by_mpi = true};
}
Ended exited(std::int32_t code, std::uint64_t at_us, std::uint32_t site = k_outside_mpi) {
    return {.state = State::exited, .at_us = at_us, .exit_code = code, .site = site};
}
Ended killed(int signal, std::uint64_t at_us, std::uint32_t site = k_outside_mpi) {
    return {.at_us = at_us, .status = signal, .site = site};
}
Ended last_seen(std::uint64_t at_us) {
    return {.at_us = at_us};
}

Summary job(std::vector<Ended> const& ranks) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
        Ended const& ended = ranks[rank];
        RecordPointer const record = make_record(rank, static_cast<std::uint32_t>(ranks.size()), Story::flooded);
        record::RankHead& head = record->head;
        head.start_unix_us = k_start;
        head.state = ended.state;
        head.current_site = ended.site;
        head.abort_code = ended.abort_code;
        head.aborted_by_mpi = ended.by_mpi ? 1 : 0;
        head.exit_code = ended.exit_code;
        bool const seen = ended.status != record::k_not_told;
        if (seen) head.end_seen = {1, ended.status, k_start + ended.at_us};
        if (ended.state == State::gone && !seen) head.now_us = ended.at_us;
        if (ended.state != State::gone) head.end_unix_us = k_start + ended.at_us;
        merge(whole, summary_of(*record, {k_names, 12'000'000, {}, 0, k_start}));
    }
    return whole;
}

std::string first_line(std::vector<Ended> const& ranks) {
    std::vector<std::string> const lines = what_happened(job(ranks));
    return lines.empty() ? std::string() : lines.front();
}

TEST(Ends, begin_with_the_rank_that_ended_first_and_how) {
    EXPECT_EQ(first_line({killed(SIGTERM, 2'150'000), killed(SIGSEGV, 1'150'000, k_in_recv)}),
              "Rank 1 ended first, at 1.15 s: signal 11 (segmentation fault), in MPI_Recv at drain+0x1c (app).");
    EXPECT_EQ(first_line({killed(SIGABRT, 1'150'000), last_seen(1'200'000)}),
              "Rank 0 ended first, at 1.15 s: signal 6 (abort), outside MPI.");
    EXPECT_EQ(first_line({aborted(42, 1'150'000, k_in_recv), killed(SIGTERM, 1'160'000)}),
              "Rank 0 ended first, at 1.15 s: MPI_Abort(42), called inside MPI_Recv at drain+0x1c (app).");
    EXPECT_EQ(first_line({aborted(-1, 1'150'000), aborted(300, 1'160'000)}),
              "Rank 0 ended first, at 1.15 s: MPI_Abort(-1).");
    EXPECT_EQ(first_line({failed(6, 1'150'000, k_in_recv), last_seen(1'160'000)}),
              "Rank 0 ended first, at 1.15 s: a fatal error of MPI (code 6), inside MPI_Recv at drain+0x1c (app).");
    EXPECT_EQ(first_line({exited(3, 1'150'000), killed(SIGKILL, 1'160'000)}),
              "Rank 0 ended first, at 1.15 s: exit code 3 without MPI_Finalize.");
    EXPECT_EQ(first_line({exited(record::k_not_told, 1'150'000), killed(SIGKILL, 1'160'000)}),
              "Rank 0 ended first, at 1.15 s: an exit without MPI_Finalize.");
    EXPECT_EQ(first_line({killed(4 << 8, 1'150'000, k_in_recv), last_seen(1'160'000)}),
              "Rank 0 ended first, at 1.15 s: exit code 4 without MPI_Finalize, inside MPI_Recv at drain+0x1c (app).");
    EXPECT_EQ(first_line({killed(SIGRTMAX, 1'150'000), last_seen(1'160'000)}),
              "Rank 0 ended first, at 1.15 s: signal 64, outside MPI.");
    EXPECT_EQ(first_line({killed(SIGBUS, 1'150'000)}), "Rank 0 ended at 1.15 s: signal 7 (bus error), outside MPI.");
}

TEST(Ends, of_the_others_are_those_that_the_launcher_made) {
    EXPECT_THAT(about_ends(job({killed(SIGTERM, 2'150'000), killed(SIGSEGV, 1'150'000), killed(SIGTERM, 2'250'000),
                                killed(SIGKILL, 3'000'000), in_order()})),
                ElementsAre(StartsWith("Rank 1 ended first, at 1.15 s: signal 11"),
                            "Ranks 0, 2 were ended afterwards by the launcher (signal 15), at 2.15 s … 2.25 s.",
                            "Rank 3 was ended afterwards by the launcher (signal 9), at 3.00 s."));
    EXPECT_THAT(
        about_ends(job({aborted(1, 1'000'000), last_seen(1'100'000), last_seen(1'000'000)})),
        ElementsAre(StartsWith("Rank 0 ended first"),
                    "How ranks 1, 2 ended is not known here; a launcher ends the other ranks when one has ended "
                    "so."));
    EXPECT_THAT(about_ends(job({exited(1, 1'000'000), exited(1, 1'200'000), killed(SIGSEGV, 1'300'000, k_in_recv)})),
                ElementsAre("Rank 0 ended first, at 1.00 s: exit code 1 without MPI_Finalize.",
                            "Rank 1 ended in the same way afterwards, the last at 1.20 s.",
                            "Rank 2 ended afterwards, at 1.30 s: signal 11 (segmentation fault), in MPI_Recv at "
                            "drain+0x1c (app)."));
}

TEST(Ends, by_one_signal_at_once_blame_no_rank) {
    EXPECT_THAT(
        about_ends(job({killed(SIGTERM, 1'000'000), killed(SIGTERM, 1'002'000), killed(SIGTERM, 1'001'000)})),
        ElementsAre("Rank 0 ended first, at 1.00 s: signal 15 (termination), outside MPI.",
                    "Ranks 1, 2 ended by the same signal within 2.0 ms, sent by the launcher or to the whole job."));
}

TEST(Ends, name_a_rank_that_was_silent_before) {
    EXPECT_THAT(about_ends(job({killed(SIGSEGV, 1'150'000), last_seen(500'000)})),
                ElementsAre(StartsWith("Rank 0 ended first, at 1.15 s"),
                            "How rank 1 ended is not known here; rank 1 was last seen at 0.50 s and may have ended "
                            "before."));
}

TEST(Ends, are_not_told_of_ranks_that_ended_in_order_or_live) {
    EXPECT_THAT(about_ends(job({in_order(), in_order()})), IsEmpty());
    EXPECT_THAT(about_ends(job({in_order(), {.state = State::running}})), IsEmpty());
    EXPECT_THAT(about_ends(job({last_seen(1), last_seen(2)})), IsEmpty());
    std::string const mixed = to_screen(job({in_order(), killed(SIGSEGV, 12'100'000)}));
    EXPECT_THAT(mixed, HasSubstr("Rank 1 ended first, at 12.1 s: signal 11"));
    EXPECT_THAT(mixed, Not(HasSubstr("Rank 0 ended")));
}

TEST(Ends, are_short_above_the_page) {
    EXPECT_EQ(cause_of_end(job({killed(SIGSEGV, 1'150'000), last_seen(1'200'000)})),
              "Rank 0 ended first, by signal 11 (segmentation fault)");
    EXPECT_EQ(cause_of_end(job({aborted(42, 1'150'000)})), "Rank 0 ended, by MPI_Abort(42)");
    EXPECT_EQ(cause_of_end(job({last_seen(1), exited(3, 1'150'000)})),
              "Rank 1 ended first, with exit code 3 without MPI_Finalize");
    EXPECT_EQ(cause_of_end(job({last_seen(1), last_seen(2)})), "");
}

TEST(Ends, come_before_the_limit_of_memory_unless_it_explains_them) {
    auto const first_of = [](std::int32_t status) {
        Summary whole;
        NodeSum node;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            RecordPointer const record = make_record(rank, 2, Story::stood);
            record->head.memory_limit = std::uint64_t{490} << 20;
            record->head.state = State::gone;
            if (rank == 1) record->head.end_seen = {1, status, record->head.start_unix_us + 12'000'000};
            merge(whole, summary_of(*record, {k_names, 12'000'000, {}, 0, 0}));
            add_rank(node, *record);
        }
        add_node(whole, node);
        return what_happened(whole);
    };
    EXPECT_THAT(first_of(SIGKILL)[0], StartsWith("Rank 1 ran out of memory: "));
    EXPECT_THAT(first_of(SIGKILL)[1], StartsWith("Rank 1 ended first, at 12.0 s: signal 9 (kill)"));
    EXPECT_THAT(first_of(SIGABRT)[0], StartsWith("Rank 1 ended first, at 12.0 s: signal 6 (abort)"));
    EXPECT_THAT(first_of(SIGABRT)[1], StartsWith("Rank 1 ran out of memory: "));
}

TEST(Ends, are_in_the_json_with_their_codes) {
    Summary const before = job({aborted(-1, 1'150'000, k_in_recv), exited(record::k_not_told, 1'160'000),
                                killed(SIGTERM, 1'170'000), last_seen(1'180'000)});
    Summary const after = from_text(to_text(before), "here");
    EXPECT_EQ(after, before);
    EXPECT_THAT(to_text(before), HasSubstr(R"("code":-1,"function":"MPI_Recv","how":"abort")"));
    EXPECT_THAT(to_text(before), HasSubstr(R"("code":null,"function":"","how":"exit")"));
}

TEST(Ends, of_many_ways_keep_the_earliest) {
    std::vector<Ended> ranks;
    for (std::int32_t rank = 0; rank < 100; ++rank)
        ranks.push_back(aborted(rank, 2'000'000 - 1000 * static_cast<std::uint64_t>(rank)));
    Summary const whole = job(ranks);
    EXPECT_EQ(whole.ends.size(), k_kept_ends);
    EXPECT_EQ(first_end(whole)->sum->code, 99);
    EXPECT_THAT(about_ends(whole), testing::SizeIs(testing::Le(5)));
}

/// Rank 0 ended by the signal when the kernel had killed as many processes; its own limit is as given.
Summary job_with(int signal, std::int64_t kills, std::uint64_t own_limit, std::uint64_t own_used) {
    Summary whole;
    NodeSum node;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const record = make_record(rank, 2, Story::stood);
        record::RankHead& head = record->head;
        head.start_unix_us = k_start;
        head.state = State::gone;
        head.memory_limit = std::uint64_t{16} << 30;
        head.own_limit = own_limit;
        head.own_used = own_used;
        if (rank == 1) head.end_seen = {1, signal, k_start + 11'000'000, kills};
        merge(whole, summary_of(*record, {k_names, 12'000'000, {}, 0, k_start}));
        add_rank(node, *record);
    }
    add_node(whole, node);
    return whole;
}

TEST(Ends, begin_with_the_lack_of_memory_that_the_kernel_counted) {
    Summary const killed_for_memory = job_with(SIGKILL, 1, 0, 0);
    std::vector<std::string> const lines = what_happened(killed_for_memory);
    EXPECT_THAT(lines.front(), HasSubstr("Rank 1 ran out of memory: the application's memory grew from"));
    EXPECT_THAT(lines, testing::Contains(HasSubstr("The kernel has killed 1 process for lack of memory")));
    EXPECT_THAT(what_happened(job_with(SIGKILL, 0, 0, 0)).front(), HasSubstr("signal 9 (kill)"));
    EXPECT_THAT(what_happened(job_with(SIGSEGV, 1, 0, 0)).front(), HasSubstr("signal 11"));
    EXPECT_THAT(what_happened(job_with(SIGKILL, record::k_not_told, 0, 0)).front(), HasSubstr("signal 9 (kill)"));
}

TEST(Ends, name_the_limit_that_the_process_had_for_itself) {
    std::uint64_t const limit = std::uint64_t{400} << 20;
    EXPECT_THAT(what_happened(job_with(SIGSEGV, 0, limit, limit / 10 * 9))[1],
                HasSubstr("Its own limit of data is 400 MiB (ulimit -d), and it had taken 360 MiB of that"));
    EXPECT_THAT(what_happened(job_with(SIGSEGV, 0, limit, limit / 2))[1], Not(HasSubstr("ulimit")));
    EXPECT_THAT(what_happened(job_with(SIGKILL, 0, limit, limit))[1], Not(HasSubstr("ulimit")))
        << "no failed allocation sends this signal";
}

}  // namespace
}  // namespace sluice::report
