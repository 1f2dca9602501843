// SPDX-License-Identifier: BSD-3-Clause
#include "report/advice/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/jobs.hpp"

namespace sluice::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Advice, names_communicators_that_were_never_freed_and_their_cost) {
    Summary summary = job(2, Story::healthy);
    std::uint64_t const memory = 400'000 << 10;
    summary.objects = {
        {record::Object::communicator, Spread::of(2001, 1), Spread::of(2000, 1), 2001, Spread::of(memory, 1)}};
    std::string const all = all_advice(summary);
    EXPECT_THAT(all, HasSubstr("Rank 1 made 2001 communicators, and 2000 were never freed"));
    EXPECT_THAT(all, HasSubstr("391 MiB in the calls that made them, about 200 KiB each"));
    EXPECT_THAT(all, HasSubstr("free them with MPI_Comm_free"));
}

TEST(Advice, says_nothing_of_objects_where_none_is_lost) {
    Summary summary = job(2, Story::healthy);
    summary.objects = {{record::Object::communicator, Spread::of(2000, 1), Spread::of(0, 1), 2000, Spread::of(0, 1)}};
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("communicator")));
}

TEST(Advice, names_the_places_of_requests_that_were_never_completed) {
    Summary summary = job(2, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Isend");
    site.object = record::Object::request;
    site.left = Spread::of(300, 1);
    summary.objects = {{record::Object::request, Spread::of(4000, 1), Spread::of(300, 1), 4000, Spread::of(0, 1)}};
    EXPECT_THAT(all_advice(summary),
                HasSubstr("300 requests of MPI_Isend at exchange_halo+0x5f (app) on rank 1 were never"));
    summary.states[static_cast<std::size_t>(record::State::ended)] = RankSet();
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("never completed"))) << "they may be completed later";
}

TEST(Advice, names_the_late_rank) {
    Summary summary = job(4, Story::healthy);
    summary.waiting_ns = {4, 27'000'000'000, 0, 9'000'000'000, 2, 0};
    std::string const all = all_advice(summary);
    EXPECT_THAT(all, HasSubstr("Rank 2 waits least"));
    EXPECT_THAT(all, HasSubstr("56 % of all time"));
}

TEST(Advice, never_proposes_what_the_call_does_already) {
    Summary summary = job(4, Story::healthy);
    EXPECT_THAT(all_advice(summary), HasSubstr("with MPI_IN_PLACE"));
    SiteSum& site = site_of(summary, "MPI_Alltoallv");
    site.in_place = site.calls;
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("with MPI_IN_PLACE")));
    EXPECT_THAT(all_advice(summary), HasSubstr("They are exchanged in place"));
}

TEST(Advice, to_post_receives_earlier_is_only_for_messages) {
    Summary summary = job(4, Story::healthy);
    summary.served_calls = 0;
    SiteSum& site = site_of(summary, "MPI_Alltoallv");
    site.in_place = site.calls;
    site.grown = Spread::of(std::uint64_t{200} << 20, 1);
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("post receives earlier")));
    EXPECT_THAT(all_advice(summary), HasSubstr("with --inplace on"));
    site_of(summary, "MPI_Recv").grown = Spread::of(std::uint64_t{300} << 20, 1);
    EXPECT_THAT(all_advice(summary), HasSubstr("post receives earlier"));
}

TEST(Advice, says_what_buffers_in_flight_are) {
    Summary summary = job(4, Story::healthy);
    site_of(summary, "MPI_Alltoallv").in_flight = Spread::of(0, 0);
    SiteSum& site = site_of(summary, "MPI_Recv");
    site.in_flight = Spread::of(std::uint64_t{100} << 20, 1);
    site.other_buffers = 4;
    EXPECT_THAT(all_advice(summary), HasSubstr("one buffer, the same in all 8000 calls. The program keeps it"));
    Summary sent = summary;
    site_of(sent, "MPI_Recv").bytes_in = 0;
    EXPECT_THAT(all_advice(sent), HasSubstr("at one address in all 8000 calls. If the program keeps that buffer"));
    site.other_buffers = site.calls;
    EXPECT_THAT(all_advice(summary), HasSubstr("If they are the data themselves"));
    site.new_bytes = {4, site.bytes_in, site.bytes_in / 4, site.bytes_in / 4, 0, 1};
    EXPECT_THAT(all_advice(summary), HasSubstr("If they are the data themselves"))
        << "each rank received less than it holds: it may hold all of that";
    std::uint64_t const each = std::uint64_t{500} << 20;
    site.bytes_in = 4 * each;
    site.new_bytes = {4, 4 * each, each, each, 0, 1};
    EXPECT_THAT(all_advice(summary), HasSubstr("in new memory for each call, 1.95 GiB of pages in all. One buffer"))
        << "a blocking call is alone in flight";
    site.function = "MPI_Irecv";
    EXPECT_THAT(all_advice(summary), HasSubstr("in new memory for each call: with half as much in flight"));
}

TEST(Advice, tells_a_buffer_that_is_taken_again_at_the_same_address_as_new_memory) {
    Summary summary = job(4, Story::healthy);
    site_of(summary, "MPI_Alltoallv").in_flight = Spread::of(0, 0);
    SiteSum& site = site_of(summary, "MPI_Recv");
    std::uint64_t const bytes = std::uint64_t{100} << 20;
    site.calls = 12;  // three on each rank, and only one rank receives
    site.in_flight = Spread::of(bytes, 0);
    site.other_buffers = 4;
    site.bytes_in = 3 * bytes;
    site.new_bytes = Spread::of(bytes, 0);
    EXPECT_THAT(all_advice(summary), HasSubstr("one buffer, the same in all 12 calls")) << "new in the first call only";
    site.new_bytes = Spread::of(3 * bytes, 0);
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("in new memory for each call, 300 MiB of pages in all"),
                                           Not(HasSubstr("The program keeps it"))));
}

TEST(Advice, names_memory_of_calls_that_make_objects_of_which_none_is_left) {
    Summary summary = job(2, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Comm_dup");
    site.grown = Spread::of(std::uint64_t{64} << 20, 1);
    site.left = Spread::of(0, 0);
    EXPECT_THAT(all_advice(summary), HasSubstr("memory grew by 64 MiB in MPI_Comm_dup at"));
    site.function = "MPI_Win_allocate";
    site.kind = record::Kind::window;
    EXPECT_THAT(all_advice(summary), HasSubstr("it has the memory of the windows themselves"));
    site.grown = Spread::of(std::uint64_t{1} << 20, 1);
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("MPI_Win_allocate"))) << "it is little";
}

TEST(Advice, tells_memory_of_objects_that_are_left_once) {
    Summary summary = job(2, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Comm_dup");
    site.object = record::Object::communicator;
    site.grown = Spread::of(std::uint64_t{64} << 20, 1);
    site.left = Spread::of(2000, 1);
    summary.objects = {{record::Object::communicator, Spread::of(2001, 1), Spread::of(2000, 1), 2001,
                        Spread::of(std::uint64_t{64} << 20, 1)}};
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("2000 were never freed"), Not(HasSubstr("in MPI_Comm_dup at"))));
}

TEST(Advice, is_silent_on_balance_in_a_job_that_did_not_end) {
    Summary summary = job(4, Story::flooded);
    summary.waiting_ns = {4, 27'000'000'000, 0, 9'000'000'000, 2, 0};
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("share of the")));
}

TEST(Advice, on_memory_that_grows_depends_on_the_kind_of_call_and_its_side) {
    Summary summary = job(4, Story::healthy);
    auto const grows = [&summary](std::string_view function, record::Kind kind, std::string name) {
        Summary grown = summary;
        SiteSum& site = site_of(grown, function);
        site.grown = Spread::of(std::uint64_t{300} << 20, 1);
        site.kind = kind;
        site.function = std::move(name);
        return all_advice(grown);
    };
    using record::Kind;
    EXPECT_THAT(grows("MPI_Isend", Kind::send, "MPI_Send"), AllOf(HasSubstr("--flood on"), Not(HasSubstr("earlier"))));
    EXPECT_THAT(grows("MPI_Recv", Kind::receive, "MPI_Recv"), HasSubstr("post receives earlier"));
    EXPECT_THAT(grows("MPI_Waitall", Kind::completion, "MPI_Waitall"), HasSubstr("post receives earlier"));
    EXPECT_THAT(grows("MPI_Waitall", Kind::collective, "MPI_Allreduce"), Not(HasSubstr("earlier")));
    EXPECT_THAT(grows("MPI_Waitall", Kind::collective, "MPI_Barrier"), Not(HasSubstr("earlier")));
    EXPECT_THAT(grows("MPI_Waitall", Kind::file, "MPI_File_write_at"), Not(HasSubstr("hint")));
    EXPECT_THAT(grows("MPI_Waitall", Kind::file, "MPI_File_write_at_all"),
                AllOf(HasSubstr("cb_buffer_size"), HasSubstr("cb_nodes")));
}

/// Rank 0 grows in MPI_Recv, to which the others send.
Summary flooded_by(std::uint32_t ranks, std::vector<Cell> cells) {
    Summary summary = job(ranks, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Recv");
    site.grown = Spread::of(std::uint64_t{300} << 20, 0);
    summary.matrix = std::move(cells);
    SiteSum& sends = site_of(summary, "MPI_Isend");
    sends.function = "MPI_Send";
    sends.calls = 9000;
    sends.bytes_out = 9000 * 1000;
    return summary;
}

TEST(Advice, on_a_flood_names_all_who_send_about_as_much) {
    Summary summary = flooded_by(4, {{1, 0, 3'000'000, 3000}, {2, 0, 3'100'000, 3100}, {3, 0, 90'000, 90}});
    EXPECT_THAT(
        all_advice(summary),
        AllOf(HasSubstr("2 ranks sent it 6100 messages of 1000 B (rank 2 sent 3100 of them), most by MPI_Send at "),
              HasSubstr("receive wait there, about 6100 at once (an estimate): post")));
    site_of(summary, "MPI_Recv").grown = Spread::of(std::uint64_t{20} << 20, 0);
    EXPECT_THAT(all_advice(summary), HasSubstr("about 5211 at once (an estimate)"));
    summary.matrix[1].messages = 1;
    EXPECT_THAT(all_advice(summary), HasSubstr("Rank 1 sent it 3000 messages of 1000 B, most by MPI_Send at "));
    summary.matrix[0].messages = 900;
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("sent it"))) << "they are few";
}

TEST(Advice, on_a_flood_names_no_place_whose_messages_are_others) {
    Summary summary = flooded_by(2, {{1, 0, 3'000'000, 3000}});
    SiteSum& sends = site_of(summary, "MPI_Send");
    sends.bytes_out = sends.calls * 64;
    EXPECT_THAT(all_advice(summary), HasSubstr("Rank 1 sent it 3000 messages of 1000 B. Messages"));
    sends.bytes_out = sends.calls * 1000;
    sends.function = "MPI_Ssend";
    EXPECT_THAT(all_advice(summary), HasSubstr("Rank 1 sent it 3000 messages of 1000 B. Messages"))
        << "a synchronous send waits for its receive";
}

TEST(Advice, on_a_flood_names_parts_of_large_jobs) {
    Summary summary = flooded_by(2, {{1, 0, 3'000'000, 3000}, {0, 0, 4'000'000, 4000}});
    summary.world_size = 512;
    EXPECT_THAT(all_advice(summary),
                HasSubstr("About 4 ranks sent ranks 0 to 1 7000 messages of 1000 B (ranks 0 to 1 sent 4000 of them)"));
}

TEST(Advice, on_a_flood_that_its_sender_keeps_names_who_takes_too_little) {
    Summary summary = flooded_by(4, {{0, 1, 3'000'000, 3000}, {0, 2, 2'000'000, 2000}});
    site_of(summary, "MPI_Recv").grown = Spread::of(0, 0);
    site_of(summary, "MPI_Send").grown = Spread::of(std::uint64_t{300} << 20, 0);
    EXPECT_THAT(all_advice(summary), HasSubstr("It sent 2 ranks 5000 messages of 1000 B (3000 of them to rank 1). The "
                                               "MPI keeps there what is sent"));
    EXPECT_THAT(all_advice(summary), HasSubstr("--flood on`, with which about 768 KiB would wait (an estimate)"));
}

TEST(Advice, on_a_flood_of_rooted_calls_is_not_that_of_a_part_of_the_call) {
    Summary summary = flooded_by(4, {{1, 0, 3'000'000, 3000}, {2, 0, 3'000'000, 3000}});
    SiteSum& site = site_of(summary, "MPI_Recv");
    site.function = "MPI_Reduce";
    site.kind = record::Kind::collective;
    site.calls = 4 * 100'000;
    site.bytes.sum = site.calls * 64;
    EXPECT_THAT(all_advice(summary),
                AllOf(HasSubstr("2 ranks sent it 6000 messages of 1000 B (rank 1 sent 3000 of them). The others do not "
                                "wait for the root"),
                      HasSubstr("about 384 KiB would wait (an estimate)"), Not(HasSubstr("own part"))));
    site.calls = 40;
    EXPECT_THAT(all_advice(summary), HasSubstr("its own part")) << "so few messages do not take so much";
    site.calls = 4 * 100'000;
    site.function = "MPI_Allreduce";
    EXPECT_THAT(all_advice(summary), HasSubstr("its own part")) << "no rank runs ahead";
}

/// What grows in MPI_Recv of flooded_by() grows in a barrier.
Summary flooded_barrier(std::vector<Cell> cells, std::uint64_t grown) {
    Summary summary = flooded_by(4, std::move(cells));
    SiteSum barrier = site_of(summary, "MPI_Recv");
    site_of(summary, "MPI_Recv").grown = Spread::of(0, 0);
    site_of(summary, "MPI_Recv").bytes_out = 0;
    barrier.id = 77;
    barrier.function = "MPI_Barrier";
    barrier.kind = record::Kind::collective;
    barrier.bytes_in = barrier.bytes_out = 0;
    barrier.grown = Spread::of(grown, 0);
    summary.sites.push_back(barrier);
    return summary;
}

TEST(Advice, on_a_flood_in_a_barrier_is_for_messages_from_rank_to_rank) {
    Summary summary = flooded_barrier({{1, 0, 6'000'000, 6000}, {2, 0, 3'000'000, 3000}}, 20 << 20);
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("in MPI_Barrier at "),
                                           HasSubstr("2 ranks sent it 9000 messages of 1000 B (rank 1 sent 6000"),
                                           HasSubstr("A barrier has no data"), HasSubstr("--flood on")));
    site_of(summary, "MPI_Barrier").grown = Spread::of(80 << 20, 0);
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("its own part of this collective"), Not(HasSubstr("--flood"))))
        << "9000 messages of 1000 B do not take so much";
}

TEST(Advice, on_a_flood_in_a_barrier_leaves_out_messages_of_collective_calls) {
    // Of 9800 messages 9000 went from rank to rank.
    Summary summary = flooded_barrier({{1, 0, 6'500'000, 6500}, {0, 1, 3'300'000, 3300}}, 20 << 20);
    EXPECT_THAT(all_advice(summary),
                AllOf(HasSubstr("The ranks sent each other 9000 messages of 1000 B, without those of collective calls"),
                      HasSubstr("A barrier has no data"), Not(HasSubstr("sent it 6500"))));
    // Of 99000, these may all have gone to others.
    summary.matrix = {{1, 0, 306'900'000, 99'000}, {0, 1, 306'900'000, 99'000}};
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("its own part of this collective"), Not(HasSubstr("--flood"))));
}

TEST(Advice, with_flood_control_says_what_can_help) {
    Summary summary = flooded_by(2, {{1, 0, 3'000'000, 3000}});
    auto const count = [&summary](char const* what, std::uint64_t n) {
        summary.counters.push_back({"flood control", what, Spread::of(n, 1)});
    };
    EXPECT_THAT(all_advice(summary), HasSubstr("with which about 384 KiB would wait (an estimate)"));
    count("synchronous sends", 0);
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("Flood control bounded none of them"), Not(HasSubstr("--flood"))));
    summary.counters.clear();
    count("synchronous sends", 700);
    EXPECT_THAT(all_advice(summary), HasSubstr("or give `sluice run` a smaller --flood-share"));
    SiteSum& sends = site_of(summary, "MPI_Send");
    sends.function = "MPI_Isend";
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("start fewer of them at once"), Not(HasSubstr("--flood-share"))));
    count("sends let go after flood-hold", 7);
    EXPECT_THAT(all_advice(summary), HasSubstr("let 7 messages go to receivers that took nothing for long: a longer "
                                               "--flood-hold"));
}

TEST(Advice, to_post_receives_earlier_is_not_for_those_that_were_posted) {
    Summary summary = job(4, Story::healthy);
    SiteSum& waits = site_of(summary, "MPI_Waitall");
    waits.grown = Spread::of(std::uint64_t{90} << 20, 1);
    SiteSum& receives = site_of(summary, "MPI_Recv");
    receives.function = "MPI_Irecv";
    receives.in_flight = Spread::of(std::uint64_t{100} << 20, 1);
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("posted in time"), Not(HasSubstr("earlier"))));
    receives.in_flight = Spread::of(std::uint64_t{1} << 20, 1);
    EXPECT_THAT(all_advice(summary), HasSubstr("post receives earlier"));
}

TEST(Advice, names_memory_that_the_MPI_has_only_during_a_call) {
    Summary summary = job(4, Story::healthy);
    summary.highest.sample.mpi_private = 100 << 10;  // KiB; 12 + 16 MiB are those of MPI_Init
    summary.highest.sample.mpi_shared = 0;
    summary.highest.kept_mpi_kib = 28 << 10;
    EXPECT_THAT(all_advice(summary), HasSubstr("memory was 71.8 MiB more at the peak of rank 3, in MPI_Alltoallv"));
    Summary outside = summary;
    outside.highest.function.clear();
    outside.highest.place.clear();
    EXPECT_THAT(all_advice(outside), Not(HasSubstr("gave it back")));
}

TEST(Advice, names_the_compiler_that_mpi_init_brings_in) {
    Summary summary = job(2, Story::healthy);
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("HWLOC_COMPONENTS")));
    summary.init_compiler = Spread::of(70 << 20, 0);
    EXPECT_THAT(all_advice(summary), AllOf(HasSubstr("MPI_Init brings 70 MiB into a rank"),
                                           HasSubstr("HWLOC_COMPONENTS=-opencl"), Not(HasSubstr("MPI takes"))));
}

TEST(Advice, on_a_rank_uses_the_peak_of_that_rank) {
    Summary summary = job(4, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Alltoallv");
    EXPECT_EQ(site.in_flight.most_rank, 0U);
    EXPECT_LT(site.in_flight_peak_kib, summary.highest.kib);
    summary.highest.kib = 900 << 10;
    EXPECT_THAT(all_advice(summary), HasSubstr("33 % of its peak")) << "120 of 361 MiB";
}

TEST(Advice, tells_what_a_blocking_send_waits_for) {
    Summary summary = job(4, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Isend");
    site.function = "MPI_Send";
    site.waiting_ns = Spread::of(30'000'000'000, 1);
    summary.waiting_ns = {4, 27'000'000'000, 0, 9'000'000'000, 2, 0};
    EXPECT_THAT(all_advice(summary), HasSubstr("which returns when its receiver has begun to take the message"));
    site.function = "MPI_Isend";
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("its receiver has begun")));
}

TEST(Advice, begins_with_ranks_that_share_processors) {
    Summary summary = job(4, Story::healthy);
    summary.nodes[0].processors = 2;
    summary.waiting_ns = {4, 27'000'000'000, 0, 9'000'000'000, 2, 0};
    EXPECT_THAT(all_advice(summary), HasSubstr("\n4 ranks share the 2 processors of node 0, so a rank also waits"));
}

TEST(Advice, tells_what_the_option_memory_did_not_bound) {
    Summary summary = job(2, Story::healthy);
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("bound")));
    summary.nodes[0].asked = std::uint64_t{100} << 20;
    EXPECT_THAT(all_advice(summary), HasSubstr("--memory 100MiB bounds what Sluice takes to serve calls"));
    summary.nodes[0].asked = std::uint64_t{4} << 30;
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("bound"))) << "it held all peaks";
    summary.served_calls = 0;
    summary.counters.clear();
    EXPECT_THAT(all_advice(summary), HasSubstr("--memory 4GiB bounded nothing, because Sluice served no call"));
}

TEST(Advice, memory_that_the_mpi_kept_was_not_given_back_by_the_call_of_the_peak) {
    Summary summary = job(4, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Alltoallv");
    site.grown = {};
    PeakOf& peak = summary.highest;
    peak.function = site.function;
    peak.place = site.place;
    peak.sample.mpi_private = 400 << 10;
    summary.init_private = summary.init_shared = {};
    EXPECT_THAT(all_advice(summary), HasSubstr("gave it back later"));
    peak.kept_mpi_kib = 399 << 10;
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("gave it back later")));
    std::vector<Consumer> const consumers = consumers_of(summary);
    auto const told = std::find_if(consumers.begin(), consumers.end(),
                                   [](Consumer const& consumer) { return consumer.who == "the MPI"; });
    ASSERT_NE(told, consumers.end());
    EXPECT_EQ(told->how, "its memory grew, it is not known in which calls");
    EXPECT_EQ(told->rank, peak.rank);
    site.grown = Spread::of(told->bytes - (1 << 20) + 1, peak.rank);
    for (Consumer const& consumer : consumers_of(summary))
        EXPECT_NE(consumer.who, "the MPI") << "less than 1 MiB is not told";
}

TEST(Advice, on_a_reduction_says_that_operators_of_the_program_may_have_taken_the_memory) {
    Summary summary = job(4, Story::healthy);
    SiteSum& site = site_of(summary, "MPI_Alltoallv");
    site.function = "MPI_Allreduce";
    site.grown = Spread::of(std::uint64_t{350} << 20, 2);
    EXPECT_THAT(all_advice(summary), HasSubstr("The MPI takes it for its own part of this collective call."));
    auto const told = [&summary] {
        return all_advice(summary).find("own operators (MPI_Op_create) may run in this call") != std::string::npos;
    };
    EXPECT_FALSE(told());
    EXPECT_EQ(consumers_of(summary)[0].how, "MPI's memory grew");
    ObjectSum operations;
    operations.kind = record::Object::operation;
    operations.made = Spread::of(1, 0);
    summary.objects.push_back(operations);
    EXPECT_TRUE(told());
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("for its own part")));
    EXPECT_EQ(consumers_of(summary)[0].how, "MPI's memory grew, with what the program's operators took");
    site.function = "MPI_Allgather";
    EXPECT_FALSE(told()) << "no operator runs in it";
    site.function = "MPI_Waitall";
    site.kind = record::Kind::completion;
    EXPECT_FALSE(told());
    site_of(summary, "MPI_Comm_dup").function = "MPI_Iexscan";
    EXPECT_TRUE(told()) << "an operator may run where the reduction is completed";
}

TEST(Advice, leaves_room_for_the_launcher_beside_a_small_need) {
    Summary summary = job(2, Story::healthy);
    NodeSum& node = summary.nodes[0];
    node.peaks_own_kib = 7 << 10;
    node.peaks_shared_kib = node.most_kib = 0;
    EXPECT_THAT(all_advice(summary), HasSubstr("--memory 23MiB holds it"));
    node.peaks_own_kib = 1000 << 10;
    EXPECT_THAT(all_advice(summary), HasSubstr("--memory 1100MiB holds it"));
}

TEST(Advice, names_whose_most_of_the_memory_is_where_nothing_stands_out) {
    Summary summary = job(2, Story::healthy);
    summary.sites.clear();
    record::Sample& highest = summary.highest.sample;
    EXPECT_THAT(all_advice(summary), HasSubstr("of the highest peak are the application's memory."));
    highest.files = highest.resident * 3 / 4;
    highest.mpi_private = highest.mpi_shared = highest.sluice = 0;
    EXPECT_THAT(all_advice(summary), HasSubstr("75 % of the highest peak are memory of libraries and mapped files."));
}

TEST(Advice, of_a_job_that_did_not_end_says_nothing_of_what_is_in_order) {
    Summary summary = job(4, Story::flooded);
    for (SiteSum& site : summary.sites)
        site.grown = site.in_flight = Spread::of(0, 0);
    EXPECT_THAT(all_advice(summary), Not(HasSubstr("stands out")));
    EXPECT_THAT(all_advice(summary), HasSubstr("so far"));
}

}  // namespace
}  // namespace sluice::report
