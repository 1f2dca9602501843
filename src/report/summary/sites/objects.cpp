// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/sites/objects.hpp"

#include <algorithm>
#include <array>

namespace sluice::report {

namespace {

struct Words {
    std::string_view name;
    std::string_view frees;
};

constexpr std::array<Words, record::k_objects> k_words{{{"", ""},
                                                        {"request", "MPI_Request_free"},
                                                        {"datatype", "MPI_Type_free"},
                                                        {"communicator", "MPI_Comm_free"},
                                                        {"group", "MPI_Group_free"},
                                                        {"window", "MPI_Win_free"},
                                                        {"operation", "MPI_Op_free"},
                                                        {"info object", "MPI_Info_free"},
                                                        {"error handler", "MPI_Errhandler_free"},
                                                        {"file", "MPI_File_close"}}};

Words const& words_of(record::Object kind) {
    return k_words[static_cast<std::size_t>(checked(kind))];
}

/// All requests: those of place 0, which the head has, and those of the other places.
record::ObjectCount requests_of(record::RankRecord const& record) {
    record::ObjectCount count = record.head.objects[static_cast<std::size_t>(record::Object::request)];
    for (std::size_t i = 1; i < std::min<std::uint64_t>(record.head.sites, record::k_sites); ++i) {
        record::Site const& site = record.sites[i];
        if (site.object != record::Object::request) continue;
        count.made += site.made;
        count.freed += site.freed;
    }
    return count;
}

}  // namespace

record::Object checked(record::Object kind) {
    return static_cast<std::size_t>(kind) < record::k_objects ? kind : record::Object::none;
}

std::string_view name_of(record::Object kind) {
    return words_of(kind).name;
}

std::string_view function_that_frees(record::Object kind) {
    return words_of(kind).frees;
}

std::vector<ObjectSum> objects_of(record::RankRecord const& record) {
    record::RankHead const& head = record.head;
    std::vector<ObjectSum> objects;
    for (std::size_t i = 1; i < record::k_objects; ++i) {
        auto const kind = static_cast<record::Object>(i);
        record::ObjectCount const count = kind == record::Object::request ? requests_of(record) : head.objects[i];
        if (count.made == 0) continue;
        std::uint32_t const rank = head.world_rank;
        // What was given back elsewhere may still be counted.
        std::uint64_t const grown =
            head.peak.resident > 0 ? std::min(count.grown, std::uint64_t{head.peak.resident} << 10) : count.grown;
        objects.push_back({kind, Spread::of(count.made, rank),
                           Spread::of(count.made - std::min(count.made, count.freed), rank), count.made,
                           Spread::of(grown, rank), std::min(count.estimated, grown)});
    }
    return objects;
}

void add_objects(ObjectSum& into, ObjectSum const& from) {
    bool const more =
        from.left.most != into.left.most ? from.left.most > into.left.most : from.left.most_rank < into.left.most_rank;
    if (from.left.ranks > 0 && (more || into.left.ranks == 0)) into.made_there = from.made_there;
    into.made.add(from.made);
    into.left.add(from.left);
    into.grown.add(from.grown);
    into.estimated += from.estimated;
}

ObjectSum objects_of_kind(std::vector<ObjectSum> const& objects, record::Object kind) {
    auto const found =
        std::find_if(objects.begin(), objects.end(), [kind](ObjectSum const& sum) { return sum.kind == kind; });
    return found != objects.end() ? *found : ObjectSum{};
}

}  // namespace sluice::report
