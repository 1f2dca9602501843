// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/contradictions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/records.hpp"
#include "report/summary/figures/figures.hpp"

namespace sluice::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Contradictions : public testing::Test {
  protected:
    Contradictions() { record_->head.state = record::State::ended; }
    record::RankHead& head() { return record_->head; }
    record::Sample& last_sample() { return record_->recent[(head().recent - 1) % record::k_recent]; }
    void expect(std::string const& part) { EXPECT_THAT(contradictions_of(*record_), ElementsAre(HasSubstr(part))); }

    RecordPointer record_ = make_record(1, 4);
};

TEST_F(Contradictions, none_in_a_record_whose_figures_agree) {
    EXPECT_THAT(contradictions_of(*record_), IsEmpty());
}

TEST_F(Contradictions, parts_of_memory_that_are_more_than_the_whole_are_told_once) {
    for (std::uint64_t i = 0; i < 3; ++i)
        record_->recent[i].files = record_->recent[i].resident;
    expect("MPI, files and Sluice had");
}

TEST_F(Contradictions, more_in_flight_than_the_application_has) {
    last_sample().in_flight = last_sample().resident;
    expect("were in flight");
}

TEST_F(Contradictions, a_sample_above_the_peak) {
    last_sample().resident = head().peak.resident + 1;
    expect("at its peak");
}

TEST_F(Contradictions, of_a_rank_whose_memory_was_not_watched_nothing_is_said_of_memory) {
    head().peak = {};
    head().history = head().recent = 0;
    EXPECT_THAT(contradictions_of(*record_), IsEmpty());
}

TEST_F(Contradictions, a_place_that_waited_for_longer_than_it_took) {
    record_->sites[1].waiting_ns = record_->sites[1].time_ns + 1;
    expect("of which");
}

TEST_F(Contradictions, a_rank_that_was_in_mpi_init_for_longer_than_it_lived) {
    record_->sites[0].kind = record::Kind::setup;
    head().now_us = head().end_us = init_ns_of(*record_) / 1000 - 1;
    expect("MPI_Init took");
}

TEST_F(Contradictions, of_a_rank_that_runs_nothing_is_said) {
    last_sample().in_flight = last_sample().resident;
    for (record::State const state : {record::State::running, record::State::finalizing, record::State::unknown}) {
        head().state = state;
        EXPECT_THAT(contradictions_of(*record_), IsEmpty());
    }
}

}  // namespace
}  // namespace sluice::report
