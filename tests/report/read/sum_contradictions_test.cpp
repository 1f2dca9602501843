// SPDX-License-Identifier: BSD-3-Clause
// Each invariant of a job's report, and a report that breaks it.
#include "report/read/sum_contradictions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/jobs.hpp"
#include "report/summary/summary_json.hpp"

namespace sluice::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t k_minus_1 = ~std::uint64_t{0};

class SumContradictions : public testing::Test {
  protected:
    void expect(std::string const& part) { EXPECT_THAT(contradictions_of(job_), ElementsAre(HasSubstr(part))); }
    SiteSum& transpose() { return site_of(job_, "MPI_Alltoallv"); }
    ObjectSum& communicators() { return job_.objects.front(); }

    Summary job_ = job(4, Story::healthy);
};

TEST_F(SumContradictions, none_in_jobs_whose_figures_agree) {
    for (Story const story : {Story::healthy, Story::early, Story::flooded, Story::stood})
        for (std::uint32_t const ranks : {1U, 2U, 3U, 7U, 40U})
            EXPECT_THAT(contradictions_of(job(ranks, story)), IsEmpty());
}

TEST_F(SumContradictions, none_in_a_job_with_more_places_than_are_kept) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const one = make_record(rank, 2);
        for (std::size_t i = 6; i < record::k_sites; ++i) {
            record::Site& site = one->sites[i];
            site = one->sites[1];
            site.address = 0x9000 + i;
            site.place = {};
            std::string const place = "f" + std::to_string(1000 * rank + i);
            std::copy(place.begin(), place.end(), site.place.begin());
            one->head.time_in_mpi_ns += site.time_ns;
        }
        one->head.sites = record::k_sites;
        merge(whole, summary_of(*one, {k_names, 12'000'000, {}, 0, 0}));
    }
    ASSERT_NE(whole.site(k_other_places), nullptr);
    EXPECT_THAT(contradictions_of(whole), IsEmpty());
}

TEST_F(SumContradictions, a_line_asks_to_report_it) {
    transpose().left = Spread::of(1, 0);
    EXPECT_THAT(lines_of_contradictions(job_),
                ElementsAre(StartsWith("a fault of Sluice, please report it: figures of the job contradict each other: "
                                       "MPI_Alltoallv at transpose+0x244 (libfield.so) made 0 objects")));
}

TEST_F(SumContradictions, of_a_job_that_may_run_nothing_is_said) {
    transpose().left = Spread::of(1, 0);
    job_.states[static_cast<std::size_t>(record::State::unknown)] = RankSet(0);
    EXPECT_THAT(contradictions_of(job_), IsEmpty());
}

TEST_F(SumContradictions, each_kind_is_said_once) {
    for (SiteSum& site : job_.sites)
        site.left = Spread::of(site.made + 1, 0);
    expect("objects, of which");
}

TEST_F(SumContradictions, a_figure_below_0) {
    job_.counters.front().count = Spread::of(k_minus_1, 0);
    expect("is -1 at most");
}

TEST_F(SumContradictions, a_sum_that_is_less_than_its_parts) {
    job_.huge_kib.most = 1;
    expect("huge_kib of 4 ranks");
}

TEST_F(SumContradictions, a_sum_that_is_more_than_its_parts) {
    job_.saved_bytes.sum += 1;
    expect("saved_bytes of 4 ranks");
}

TEST_F(SumContradictions, a_figure_of_a_rank_that_is_none) {
    job_.huge_kib.most_rank = 4;
    expect("huge_kib of 4 ranks");
}

TEST_F(SumContradictions, a_figure_of_more_ranks_than_there_are) {
    transpose().hidden_ns.ranks = 5;
    expect("hidden_ns of MPI_Alltoallv");
}

TEST_F(SumContradictions, a_rank_in_two_states) {
    job_.states[static_cast<std::size_t>(record::State::gone)] = RankSet(0);
    expect("5 ranks are in a state");
}

TEST_F(SumContradictions, parts_of_the_highest_peak_that_are_more_than_it) {
    job_.highest.sample.mpi_private = job_.highest.sample.resident;
    expect("MPI, files and Sluice");
}

TEST_F(SumContradictions, more_in_flight_at_the_peak_than_the_application_has) {
    job_.highest.sample.in_flight = job_.highest.sample.resident;
    expect("KiB in flight at");
}

TEST_F(SumContradictions, a_highest_peak_that_is_not_the_most_of_the_peaks) {
    job_.highest.kib -= 1;
    expect("the highest peak is");
}

TEST_F(SumContradictions, a_fixed_part_of_Sluice_above_the_whole) {
    job_.highest.sluice_fixed_kib = job_.highest.sample.sluice + 1;
    expect("its fixed part");
}

TEST_F(SumContradictions, owners_whose_parts_are_not_the_peaks) {
    job_.files_kib = Spread{4, 4, 1, 1, 0, 0};
    expect("the parts of the owners");
}

TEST_F(SumContradictions, more_in_flight_at_the_peaks_than_the_applications_have) {
    std::uint64_t const kib = job_.application_kib.most + 1;
    job_.in_flight_kib = Spread{4, 4 * kib, kib, kib, 0, 0};
    expect("were in flight at the peaks");
}

TEST_F(SumContradictions, a_last_sample_above_the_peak) {
    std::uint64_t const kib = job_.peak_kib.most + 1;
    job_.last_kib = Spread{4, 4 * kib, kib, kib, 0, 0};
    expect("the last samples");
}

TEST_F(SumContradictions, more_time_in_MPI_Init_than_in_MPI) {
    std::uint64_t const ns = job_.time_in_mpi_ns.most + 1;
    job_.init_ns = Spread{4, 4 * ns, ns, ns, 0, 0};
    expect("were in MPI_Init");
}

TEST_F(SumContradictions, a_curve_above_the_peak_of_its_rank) {
    job_.ranks[1].curve[5].resident = static_cast<std::uint32_t>(job_.ranks[1].peak_kib) + 1;
    expect("rank 1 had");
}

TEST_F(SumContradictions, a_rank_above_the_highest_peak) {
    job_.ranks[1].peak_kib = job_.peak_kib.most + 1;
    expect("no rank more than");
}

TEST_F(SumContradictions, a_rank_that_waited_for_longer_than_it_was_in_mpi) {
    job_.ranks[2].waiting_ns = job_.ranks[2].time_in_mpi_ns + 1;
    expect("rank 2 waited for");
}

TEST_F(SumContradictions, a_node_that_needs_more_than_the_peaks_of_its_ranks) {
    job_.nodes[0].peaks_own_kib += job_.nodes[0].repeated_kib() + 1;
    expect("node 0 needs");
}

TEST_F(SumContradictions, nodes_without_a_rank) {
    job_.nodes[0].ranks -= 1;
    expect("3 ranks are on nodes");
}

TEST_F(SumContradictions, a_need_that_does_not_hold_the_highest_rank) {
    job_.nodes[0].peaks_own_kib = job_.nodes[0].peaks_shared_kib = 0;
    EXPECT_THAT(contradictions_of(job_), IsEmpty());
    job_.nodes[0].most_kib = job_.highest.kib - job_.highest.sample.sluice - 1025;
    expect("no node needs more than");
}

TEST_F(SumContradictions, more_objects_left_than_made) {
    std::uint64_t const made = communicators().made.most;
    communicators().left = Spread{4, 4 * (made + 1), made + 1, made + 1, 0, 0};
    communicators().made_there = made + 1;
    expect("objects (communicator)");
    communicators() = job(4, Story::healthy).objects.front();
    communicators().made_there -= 1;
    expect("objects (communicator)");
}

TEST_F(SumContradictions, objects_whose_memory_is_estimated_beyond_it) {
    communicators().estimated = communicators().grown.sum + 1;
    expect("are estimated");
}

TEST_F(SumContradictions, objects_that_took_more_than_a_rank_had) {
    communicators().grown = Spread::of((job_.ranks[1].peak_kib + 1025) << 10, 1);
    expect("making objects (communicator) took");
}

TEST_F(SumContradictions, places_that_made_more_objects_than_the_ranks) {
    SiteSum& dup = site_of(job_, "MPI_Comm_dup");
    dup.object = record::Object::communicator;
    dup.made = communicators().made.sum + 1;
    expect("the places made");
}

TEST_F(SumContradictions, a_place_that_took_more_than_its_rank_had) {
    transpose().grown = Spread::of((job_.ranks[1].peak_kib + 1024) << 10, 1);
    EXPECT_THAT(contradictions_of(job_), IsEmpty());
    transpose().grown = Spread::of((job_.ranks[1].peak_kib + 1025) << 10, 1);
    expect("on rank 1, whose peak is");
}

TEST_F(SumContradictions, a_place_whose_growth_is_estimated_beyond_it) {
    transpose().estimated = transpose().grown.sum + 1;
    expect("are estimated");
}

TEST_F(SumContradictions, more_in_flight_at_a_place_than_its_application_can_have_had) {
    RankDetail const& rank = job_.ranks[1];
    std::uint64_t const most = most_of_application(rank.curve, rank.peak_kib);
    EXPECT_LT(most, rank.peak_kib);
    transpose().in_flight = Spread::of(most << 10, 1);
    EXPECT_THAT(contradictions_of(job_), IsEmpty());
    transpose().in_flight = Spread::of((most << 10) + 1, 1);
    expect("whose application had at most");
}

TEST_F(SumContradictions, a_rank_whose_memory_was_not_watched_has_no_bound) {
    SiteSum& site = transpose();
    RankDetail& rank = job_.ranks[1];
    site.grown = site.in_flight = Spread::of((rank.peak_kib + 2000) << 10, 1);
    EXPECT_THAT(contradictions_of(job_), Contains(HasSubstr("MPI_Alltoallv")).Times(2));
    rank.peak_kib = 0;
    rank.curve.clear();
    EXPECT_THAT(contradictions_of(job_), Not(Contains(HasSubstr("MPI_Alltoallv"))));
}

TEST_F(SumContradictions, more_in_flight_than_the_peak_of_a_rank_that_is_not_kept_in_full) {
    job_.ranks.clear();
    transpose().in_flight = Spread::of((transpose().in_flight_peak_kib << 10) + 1, 1);
    expect("whose application had at most");
}

TEST_F(SumContradictions, a_place_that_waited_for_longer_than_it_took) {
    job_.waiting_ns = {};  // keeps the sums out of it
    for (SiteSum& site : job_.sites)
        site.waiting_ns = {};
    for (RankDetail& rank : job_.ranks)
        rank.waiting_ns = 0;
    transpose().longest_ns.sum = transpose().longest_ns.most = transpose().longest_ns.least =
        transpose().time_ns.most + 1;
    transpose().longest_ns.ranks = 1;
    expect("and one call");
}

TEST_F(SumContradictions, a_place_whose_bytes_are_not_what_left_and_came) {
    transpose().bytes_in += 1;
    expect("together");
}

TEST_F(SumContradictions, more_calls_in_place_than_calls) {
    transpose().in_place = transpose().calls + 1;
    expect("times,");
}

TEST_F(SumContradictions, a_place_whose_last_call_came_before_its_first) {
    transpose().first_us = transpose().last_us + 1;
    expect("was called first");
}

TEST_F(SumContradictions, places_whose_times_are_not_those_of_the_ranks) {
    job_.time_by_kind_ns[0] += 1;
    expect("the kinds of calls");
}

TEST_F(SumContradictions, places_whose_waiting_is_not_that_of_the_ranks) {
    Spread& waiting = site_of(job_, "MPI_Recv").waiting_ns;
    waiting.sum -= 1;
    waiting.least -= 1;
    expect("the ranks for");
}

TEST_F(SumContradictions, a_matrix_with_more_than_the_places) {
    job_.matrix.front().bytes += std::uint64_t{1} << 60;
    expect("went from rank to rank");
}

TEST_F(SumContradictions, sums_of_a_job_that_was_killed_may_be_of_two_moments) {
    job_.time_by_kind_ns[0] += 1;
    job_.matrix.front().bytes += std::uint64_t{1} << 60;
    std::swap(job_.states[static_cast<std::size_t>(record::State::ended)],
              job_.states[static_cast<std::size_t>(record::State::gone)]);
    EXPECT_THAT(contradictions_of(job_), IsEmpty());
}

TEST_F(SumContradictions, a_report_that_was_written_and_read_has_the_same) {
    EXPECT_THAT(contradictions_of(from_text(to_text(job_), "report.json")), IsEmpty());
    transpose().first_us = transpose().last_us + 1;
    EXPECT_EQ(contradictions_of(from_text(to_text(job_), "report.json")), contradictions_of(job_));
}

}  // namespace
}  // namespace sluice::report
