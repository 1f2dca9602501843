// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "report/records.hpp"
#include "report/summary/summary_json.hpp"
#include "sluice/error.hpp"

namespace sluice::report {
namespace {

Summary of(std::uint32_t rank, std::uint32_t size, Story story = Story::healthy, CommCounts before = {}) {
    return summary_of(*make_record(rank, size, story), {k_names, 12'000'000, before, 0, 0});
}

/// Makes a record in which everything that can be random is random.
RecordPointer drawn_record(std::uint32_t rank, std::uint32_t size, std::mt19937_64& random) {
    RecordPointer record = make_record(rank, size, random() % 2 == 0 ? Story::healthy : Story::flooded);
    for (std::uint64_t i = 0; i < record->head.sites; ++i) {
        record::Site& site = record->sites[i];
        site.calls = random() % 1000;
        site.time_ns = random() % 1'000'000'000;
        site.grown_private = random() % (1 << 30);
        site.in_flight_peak = random() % (1 << 30);
        site.growing_since_us = random() % 3 == 0 ? random() % 1'000'000 : 0;
        site.deferred = random() % 100;
        site.hidden_ns = random() % 1'000'000'000;
        site.left_ns = random() % 1'000'000'000;
        site.moving_ns = random() % 1'000'000;
        site.object = static_cast<record::Object>(random() % record::k_objects);
        site.made = random() % 1000;
        site.freed = random() % 1000;
    }
    for (record::Peer& peer : record->peers)
        peer = {random() % 5 == 0 ? random() % 1'000'000 : 0, random() % 7};
    record->head.peak.resident += static_cast<std::uint32_t>(random() % 100'000);
    record->head.waiting_ns = random() % 10'000'000'000;
    for (record::ObjectCount& count : record->head.objects)
        count = {random() % 4, random() % 4, random() % 1'000'000};
    record->head.state = static_cast<record::State>(random() % k_states);
    record->head.abort_code = static_cast<std::int32_t>(random() % 9) - 4;
    record->head.aborted_by_mpi = static_cast<std::uint32_t>(random() % 2);
    record->head.exit_code = static_cast<std::int32_t>(random() % 4) - 1;
    record->head.end_unix_us = record->head.start_unix_us + random() % 9'000'000;
    if (random() % 2 == 0)
        record->head.end_seen = {1, static_cast<std::int32_t>(random() % 40) - 1,
                                 record->head.start_unix_us + random() % 9'000'000};
    return record;
}

std::vector<Summary> drawn_job(std::uint32_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Summary> parts;
    CommCounts comms;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        RecordPointer const record = drawn_record(rank, size, random);
        parts.push_back(summary_of(*record, {k_names, 12'000'000, comms, 100, 1'700'000'000'000'000}));
        comms += rooted_comms(*record);
    }
    return parts;
}

Summary merged(std::vector<Summary> const& parts, std::size_t begin, std::size_t end, std::mt19937_64& random) {
    if (end - begin == 1) return parts[begin];
    std::size_t const middle = begin + 1 + random() % (end - begin - 1);
    Summary left = merged(parts, begin, middle, random);
    Summary const right = merged(parts, middle, end, random);
    if (random() % 2 == 0) {
        merge(left, right);
        return left;
    }
    Summary swapped = right;
    merge(swapped, left);
    return swapped;
}

TEST(Summary, is_the_same_along_every_tree_and_in_every_order) {
    for (std::uint32_t const size : {2U, 7U, 40U, 70U}) {
        std::vector<Summary> parts = drawn_job(size, size);
        std::mt19937_64 random(99);
        Summary const first = merged(parts, 0, parts.size(), random);
        for (int attempt = 0; attempt < 5; ++attempt) {
            std::shuffle(parts.begin(), parts.end(), random);
            Summary const again = merged(parts, 0, parts.size(), random);
            EXPECT_EQ(again, first) << size << " ranks, attempt " << attempt;
            EXPECT_EQ(to_text(again), to_text(first));
        }
    }
}

TEST(Summary, goes_through_JSON_and_CBOR_unchanged) {
    for (std::uint32_t const size : {1U, 5U, 50U}) {
        std::mt19937_64 random(size);
        std::vector<Summary> const parts = drawn_job(size, 3);
        Summary const whole = merged(parts, 0, parts.size(), random);
        EXPECT_EQ(from_text(to_text(whole), "test"), whole);
        EXPECT_EQ(from_bytes(to_bytes(whole)), whole);
    }
}

TEST(Summary, knows_where_the_peak_was) {
    Summary whole = of(0, 8);
    for (std::uint32_t rank = 1; rank < 8; ++rank)
        merge(whole, of(rank, 8));
    EXPECT_EQ(whole.ranks_seen, 8U);
    EXPECT_TRUE(whole.all_ended());
    EXPECT_EQ(whole.highest.rank, 7U);
    EXPECT_EQ(whole.highest.function, "MPI_Alltoallv");
    EXPECT_EQ(whole.highest.place, "transpose+0x244 (libfield.so)");
    EXPECT_NEAR(static_cast<double>(whole.highest.sample.time_us), 8e6, 1e5);
    EXPECT_EQ(whole.peak_kib.most_rank, 7U);
    EXPECT_EQ(whole.peak_kib.least_rank, 0U);
    EXPECT_EQ(whole.peak_kib.ranks, 8U);
    EXPECT_EQ(whole.served_calls, 240U);
    EXPECT_EQ(whole.saved_bytes.most, 60U << 20);
    SiteSum const* const transpose = whole.site(site_id("MPI_Alltoallv", "transpose+0x244 (libfield.so)"));
    ASSERT_NE(transpose, nullptr);
    EXPECT_EQ(transpose->calls, 240U);
    EXPECT_EQ(transpose->kind, record::Kind::collective);
    EXPECT_EQ(transpose->in_flight.most, 120U << 20);
    EXPECT_EQ(transpose->time_ns.ranks, 8U);
}

TEST(Summary, adds_up_the_counters_of_services_by_name) {
    Summary whole = of(2, 3);
    for (std::uint32_t rank = 0; rank < 2; ++rank)
        merge(whole, of(rank, 3));
    ASSERT_EQ(whole.counters.size(), 4U);
    EXPECT_EQ(whole.counters[1], (CounterSum{"all-to-alls in place", "calls served", {3, 90, 30, 30, 0, 0}}));
    EXPECT_EQ(whole.counters[3], (CounterSum{"checks of collectives", "calls compared", {3, 33, 10, 12, 0, 2}}));
}

TEST(Summary, numbers_communicators_by_prefix_sums) {
    // Communicator {0,0} has all ranks; each pair 2i, 2i+1 has made one, whose root is 2i.
    std::vector<Summary> parts;
    CommCounts comms;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
        parts.push_back(of(rank, 6, Story::healthy, comms));
        comms += rooted_comms(*make_record(rank, 6));
    }
    EXPECT_EQ(comms.several, 4U);
    EXPECT_EQ(comms.alone, 0U);
    std::mt19937_64 random(5);
    Summary const whole = merged(parts, 0, parts.size(), random);
    EXPECT_EQ(whole.comms_total, 4U);
    ASSERT_EQ(whole.comms.size(), 4U);
    EXPECT_EQ(whole.comms[0].size, 6U);
    std::vector<std::uint64_t> ids;
    for (CommSum const& comm : whole.comms) {
        ASSERT_TRUE(comm.id.has_value());
        ids.push_back(*comm.id);
        EXPECT_EQ(comm.memory_kib.ranks, comm.size) << "every member added its part";
        EXPECT_EQ(comm.stride, 1);
        EXPECT_EQ(comm.first, comm.root);
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(Summary, keeps_sums_exact_when_places_do_not_fit) {
    constexpr std::uint32_t k_ranks = 5;
    Summary whole;
    std::uint64_t calls = 0, bytes = 0;
    for (std::uint32_t rank = 0; rank < k_ranks; ++rank) {
        RecordPointer const record = make_record(rank, k_ranks);
        for (std::size_t i = 1; i < record::k_sites; ++i) {
            record::Site& site = record->sites[i];
            site.address = 100 + i;
            site.calls = i;
            site.bytes_out = 10 * i;
            site.time_ns = 1000 * i;
            std::string const place = "f" + std::to_string(i) + "_" + std::to_string(rank) + " (app)";
            std::copy(place.c_str(), place.c_str() + place.size() + 1, site.place.begin());
        }
        record->head.sites = record::k_sites;
        for (record::Site const& site : record->sites) {
            calls += site.calls;
            bytes += site.bytes_out;
        }
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    EXPECT_LE(whole.sites.size(), record::k_sites);
    std::uint64_t summed_calls = 0, summed_bytes = 0;
    for (SiteSum const& site : whole.sites) {
        summed_calls += site.calls;
        summed_bytes += site.bytes_out;
    }
    EXPECT_EQ(summed_calls, calls);
    EXPECT_EQ(summed_bytes, bytes);
    EXPECT_NE(whole.site(k_other_places), nullptr);
    EXPECT_NE(whole.site(site_id(k_names[0], "f255_3 (app)")), nullptr) << "the places with most time keep their names";
}

TEST(Summary, adds_up_addresses_of_one_name) {
    RecordPointer const record = make_record(0, 1);
    record->sites[record->head.sites++] = record->sites[4];
    record->sites[record->head.sites - 1].address = 0xabcdef;
    Summary const one = summary_of(*make_record(0, 1), {k_names, 0, {}, 0, 0});
    Summary const two = summary_of(*record, {k_names, 0, {}, 0, 0});
    std::uint64_t const id = site_id("MPI_Alltoallv", "transpose+0x244 (libfield.so)");
    EXPECT_EQ(two.site(id)->calls, 2 * one.site(id)->calls);
    EXPECT_EQ(two.site(id)->time_ns.sum, 2 * one.site(id)->time_ns.sum);
    EXPECT_EQ(two.site(id)->time_ns.ranks, 1U);
    EXPECT_EQ(two.site(id)->in_flight.most, one.site(id)->in_flight.most);
}

TEST(Summary, numbers_communicators_without_gaps_and_those_of_one_rank_last) {
    // Numbers have gaps, because members agree on them. {0,1} has all ranks, each rank has two of its own, and ranks 2
    // and 3 have made one more.
    Summary whole;
    Scope scope{k_names, 0, {}, 2, 0};
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        RecordPointer const record = make_record(rank, 4);
        auto const own = [rank](std::uint32_t number) {
            return record::Comm{rank, number, 1, 0, rank, 1, 5, 0, 0, 0, 0, 0};
        };
        record->comms[0] = {0, 1, 4, rank, 0, 1, 5, 0, 0, 0, 0, 0};
        record->comms[1] = own(2);
        record->comms[2] = own(9);
        if (rank >= 2) record->comms[3] = {2, 70, 2, rank - 2, 2, 1, 5, 0, 0, 0, 0, 0};
        record->head.comms = rank >= 2 ? 4 : 3;
        merge(whole, summary_of(*record, scope));
        scope.comms_before += rooted_comms(*record);
    }
    EXPECT_EQ(scope.comms_before, (CommCounts{2, 8}));
    std::vector<std::uint64_t> ids(11, 0);
    for (CommSum const& comm : whole.comms) {
        ASSERT_TRUE(comm.id.has_value() && *comm.id < 10) << comm.size << " " << comm.root;
        ++ids[*comm.id];
        EXPECT_EQ(*comm.id<2, comm.size> 1);
        EXPECT_EQ(*comm.id == 0, comm.size == 4);
    }
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}));
}

TEST(Summary, has_in_the_matrix_what_collectives_are_defined_to_move) {
    Summary whole;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        RecordPointer const record = make_record(rank, 4);
        record->peers = {};
        record->peers[3] = {5, 1};
        record->comms[0] = {0, 0, 4, rank, 0, 1, 5, 0, 0, 0, 100, 2};
        record->comms[1] = {rank % 2, 1, 2, rank / 2, rank % 2, 2, 5, 0, 0, 0, 1000, 1};
        record->comms[2] = {0, 2, 3, rank, 0, 0, 5, 0, 0, 0, 0, 0};  // members that follow no rule
        record->head.comms = 3;
        if (rank != 1) record->received[1] = {70'000, 1};
        record->sites[2].unplaced_bytes = rank;
        merge(whole, summary_of(*record, {k_names, 0, {}, 0, 0}));
    }
    std::size_t cells = 0;
    for (std::uint32_t from = 0; from < 4; ++from)
        for (std::uint32_t to = 0; to < 4; ++to) {
            Cell expected{from, to, to == 3 ? 5U : 0U, to == 3 ? 1U : 0U};
            if (from != to) {
                expected.bytes += 100 + (from % 2 == to % 2 ? 1000 : 0) + (from == 1 ? 70'000 : 0);
                expected.messages += 2 + (from % 2 == to % 2 ? 1 : 0) + (from == 1 ? 1 : 0);
            }
            if (expected.messages == 0) continue;
            EXPECT_NE(std::find(whole.matrix.begin(), whole.matrix.end(), expected), whole.matrix.end())
                << from << " to " << to;
            ++cells;
        }
    EXPECT_EQ(whole.matrix.size(), cells);
    EXPECT_TRUE(std::is_sorted(whole.matrix.begin(), whole.matrix.end(), [](Cell const& a, Cell const& b) {
        return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    }));
    EXPECT_EQ(whole.site(site_id("MPI_Recv", "drain+0x1c (app)"))->unplaced_bytes, 6U);
}

TEST(Summary, counts_the_time_of_a_call_that_never_returned) {
    RecordPointer const record = make_record(1, 4, Story::flooded);
    Summary const returned = summary_of(*make_record(1, 4), {k_names, 0, {}, 0, 0});
    record->head.state = record::State::gone;  // in MPI_Isend from 10 s to the end at 12 s
    Summary const open = summary_of(*record, {k_names, 0, {}, 0, 0});
    EXPECT_EQ(open.time_in_mpi_ns.sum, returned.time_in_mpi_ns.sum + 2'000'000'000);
    EXPECT_EQ(open.waiting_ns.sum, returned.waiting_ns.sum) << "a send is not said to wait";
    ASSERT_EQ(open.now.size(), 1U);
    EXPECT_EQ(open.now[0].state, record::State::gone);
    EXPECT_EQ(open.now[0].last_us.most, 12'000'000U);
}

TEST(Summary, has_no_place_that_held_more_than_its_rank) {
    RecordPointer const record = make_record(1, 4);
    record::Sample const& peak = record->head.peak;
    std::uint64_t const bytes = std::uint64_t{peak.resident} << 10;
    record->sites[1].in_flight_peak = 2 * bytes;  // of memory that was never written
    record->sites[1].grown_private = 2 * bytes;   // given back in calls of other places
    record->sites[1].estimated = 2 * bytes;
    Summary const summary = summary_of(*record, {k_names, 0, {}, 0, 0});
    std::uint64_t in_flight = 0, grown = 0, estimated = 0;
    for (SiteSum const& site : summary.sites) {
        in_flight = std::max(in_flight, site.in_flight.most);
        grown = std::max(grown, site.grown.most);
        estimated = std::max(estimated, site.estimated);
    }
    EXPECT_EQ(in_flight, bytes - (std::uint64_t{peak.mpi_private} + peak.mpi_shared + peak.files + peak.sluice) * 1024);
    EXPECT_EQ(grown, bytes);
    EXPECT_EQ(estimated, bytes);
}

TEST(Summary, has_no_objects_that_took_more_than_their_rank_had) {
    RecordPointer const record = make_record(1, 4);
    std::uint64_t const bytes = std::uint64_t{record->head.peak.resident} << 10;
    record::ObjectCount& made = record->head.objects[static_cast<std::size_t>(record::Object::communicator)];
    made.grown = made.estimated = 2 * bytes;
    Summary const summary = summary_of(*record, {k_names, 0, {}, 0, 0});
    EXPECT_EQ(summary.objects[0].grown.most, bytes);
    EXPECT_EQ(summary.objects[0].estimated, bytes);
}

TEST(Summary, of_the_need_of_a_node_are_no_pages_of_records_on_a_disk) {
    NodeSum node, without;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RecordPointer const record = make_record(rank, 2);
        add_rank(without, *record);
        record->head.sluice_code = 100;
        record->head.peak_sluice_files = 100 + 240;  // its code, and the record
        add_rank(node, *record);
    }
    EXPECT_EQ(node.need_kib(), without.need_kib() - 2 * 340);
    EXPECT_EQ(node.peaks_files_kib, without.peaks_files_kib + 2 * 340);
    EXPECT_EQ(node.last_kib(), without.last_kib() - 100) << "the code once, the records of both";
}

TEST(Summary, takes_the_part_of_a_rank_for_no_more_than_twice_the_segments_it_was_read_of) {
    RecordPointer const record = make_record(1, 4);
    record::RankHead& head = record->head;
    std::uint32_t const read = head.peak.resident / 16;
    head.peak = {};
    head.peak.resident = 16 * read;
    head.segments = read;
    head.segments_part = read / 4;
    head.peak_segments = 2 * read;
    NodeSum near;
    add_rank(near, *record);
    EXPECT_EQ(near.peaks_own_kib, 14 * read + 2 * (read / 4));
    EXPECT_EQ(near.peaks_shared_kib, 0U);
    head.peak_segments = 12 * read;
    NodeSum far;
    add_rank(far, *record);
    EXPECT_EQ(far.peaks_own_kib, 4 * read + 2 * (read / 4));
    EXPECT_EQ(far.peaks_shared_kib, 10 * read);
}

TEST(Summary, needs_for_a_node_what_its_highest_rank_had) {
    RecordPointer const record = make_record(1, 4);
    record::RankHead& head = record->head;
    std::uint32_t const shared = head.peak.mpi_shared;
    head.peak_segments = head.segments = shared;
    head.segments_part = shared / 4;  // shared with ranks whose peaks are at other times
    NodeSum node;
    add_rank(node, *record);
    EXPECT_EQ(node.need_kib(), head.peak.resident);
    EXPECT_LT(node.peaks_own_kib + node.peaks_shared_kib, node.need_kib());
    add_rank(node, *record);
    EXPECT_EQ(node.need_kib(), node.peaks_own_kib + node.peaks_shared_kib);
    EXPECT_EQ(node.repeated_kib(), 2 * (shared - shared / 4));
}

TEST(Summary, puts_ranks_into_the_bins_of_the_record) {
    for (std::uint32_t const size : {1U, 255U, 256U, 257U, 300U, 4096U, 5000U}) {
        std::uint32_t const bins = std::min(size, 256U);
        for (std::uint64_t bin = 0; bin < bins; ++bin) {
            auto const first = static_cast<std::uint32_t>(bin * size / bins);
            auto const end = static_cast<std::uint32_t>((bin + 1) * size / bins);
            for (std::uint32_t const rank : {first, end - 1})
                EXPECT_EQ(record::bin_of(rank, size), bin) << "rank " << rank << " of " << size;
        }
    }
}

TEST(Summary, refuses_what_is_no_record_and_what_is_another_job) {
    RecordPointer const record = make_record(0, 4);
    record->head.world_rank = 4;
    EXPECT_THROW(summary_of(*record, {}), Error);
    record->head.world_rank = 0;
    record->head.used = 0;
    EXPECT_THROW(summary_of(*record, {}), Error);
    Summary four = of(0, 4);
    EXPECT_THROW(merge(four, of(0, 5)), Error);
}

TEST(Summary, refuses_JSON_that_is_none_of_ours) {
    for (std::string const text :
         {"", "{}", "[]", "{\"what\":\"Sluice report\"}", "{\"what\":\"Sluice report\",\"format\":1}",
          "{\"what\":\"Sluice report\",\"format\":8}", "nonsense", "{\"what\":3}"})
        EXPECT_THROW(from_text(text, "test"), Error) << text;
    nlohmann::json json;
    to_json(json, of(0, 4));
    for (auto const& [name, value] : json.items()) {
        nlohmann::json broken = json;
        broken[name] = nlohmann::json{{"unexpected", "thing"}};
        EXPECT_THROW(from_text(broken.dump(), "test"), Error) << name;
        broken.erase(name);
        EXPECT_THROW(from_text(broken.dump(), "test"), Error) << name;
    }
}

/// The error of a report's text; empty if there is none.
std::string refusal_of(nlohmann::json const& json) {
    try {
        from_text(json.dump(), "report.json");
        return {};
    } catch (Error const& error) {
        return error.what();
    }
}

TEST(Summary, refuses_the_JSON_of_the_version_before) {
    nlohmann::json json;
    to_json(json, of(0, 4));
    ASSERT_EQ(refusal_of(json), "");
    json.at("format") = k_summary_format - 1;
    for (char const* name :
         {"pinned_kib", "left_pinned_kib", "used_at_once_kib", "huge_kib", "init_files_bytes", "init_compiler_bytes"})
        ASSERT_EQ(json.erase(name), 1U) << name;
    EXPECT_EQ(refusal_of(json), "report.json: its format is 11, this version reads 12");
}

TEST(Summary, refuses_JSON_with_a_name_that_this_version_does_not_know) {
    nlohmann::json json;
    to_json(json, of(0, 4));
    ASSERT_EQ(refusal_of(json), "");
    nlohmann::json kind = json;
    kind.at("sites").at(0).at("kind") = "telepathy";
    EXPECT_NE(refusal_of(kind).find("report.json: unknown name 'telepathy'"), std::string::npos) << refusal_of(kind);
    nlohmann::json state = json;
    state.at("ranks").at(0).at("state") = "asleep";
    EXPECT_NE(refusal_of(state).find("report.json: unknown name 'asleep'"), std::string::npos) << refusal_of(state);
}

TEST(Summary, refuses_JSON_of_a_job_without_ranks_and_of_numbers_that_do_not_fit) {
    nlohmann::json json;
    to_json(json, of(0, 4));
    nlohmann::json none = json;
    none.at("world_size") = 0;
    EXPECT_NE(refusal_of(none).find("report.json: a job of no ranks"), std::string::npos) << refusal_of(none);
    nlohmann::json many = json;
    many.at("world_size") = std::uint64_t{1} << 40;
    EXPECT_NE(refusal_of(many).find("the number 1099511627776 is too large"), std::string::npos) << refusal_of(many);
}

TEST(Summary, without_names_of_functions_shows_their_numbers) {
    Summary const summary = summary_of(*make_record(0, 1), {});
    EXPECT_EQ(summary.highest.function, "function 4");
}

}  // namespace
}  // namespace sluice::report
