// SPDX-License-Identifier: BSD-3-Clause
#include "report/advice/advice_on_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice/kinds_of_calls.hpp"
#include "report/advice/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

using record::Object;

// Fewer are what libraries keep for the whole run.
constexpr std::uint64_t k_many = 10;
constexpr std::uint64_t k_many_small = 100;
constexpr std::size_t k_places = 2;
constexpr std::uint64_t k_least_each = 16;

std::uint64_t least_of(Object kind) {
    bool const is_large =
        kind == Object::request || kind == Object::communicator || kind == Object::window || kind == Object::file;
    return is_large ? k_many : k_many_small;
}

/// The places that left most objects of a kind, the first one first.
std::vector<SiteSum const*> places_of(Summary const& summary, Object kind) {
    std::vector<SiteSum const*> sites;
    for (SiteSum const& site : summary.sites)
        if (site.object == kind && site.left.most > 0) sites.push_back(&site);
    std::stable_sort(sites.begin(), sites.end(),
                     [](SiteSum const* a, SiteSum const* b) { return a->left.most > b->left.most; });
    return sites;
}

/// "of MPI_Recv_init at step+0x1f (app) (40000) and 2 other places"
std::string places_text(Summary const& summary, Object kind, std::string_view before) {
    std::vector<SiteSum const*> const sites = places_of(summary, kind);
    std::string text;
    for (std::size_t i = 0; i < std::min(sites.size(), k_places); ++i)
        text +=
            fmt::format("{}{} ({})", i == 0 ? before : " and ", call_of(*sites[i]), count_text(sites[i]->left.most));
    if (sites.size() > k_places) text += fmt::format(" and {}", plural(sites.size() - k_places, "other place"));
    return text;
}

/// What the MPI took for each that was left. Nothing if it was next to nothing: it is taken in other calls then.
std::uint64_t bytes_of_each(ObjectSum const& sum) {
    std::uint64_t const each = sum.grown.most / std::max<std::uint64_t>(1, sum.left.most);
    return each < k_least_each ? 0 : each;
}

std::string memory_text(ObjectSum const& sum) {
    std::uint64_t const each = bytes_of_each(sum);
    if (each == 0) return {};
    return fmt::format(" MPI's memory grew by up to {} in the calls that made them, about {} each.", grown_text(sum),
                       size_text(each));
}

std::string about_requests_left(Summary const& summary, ObjectSum const& sum) {
    std::vector<SiteSum const*> const sites = places_of(summary, Object::request);
    std::string text;
    for (std::size_t i = 0; i < std::min(sites.size(), k_places); ++i)
        text += fmt::format("{}{} of {}", i == 0 ? "" : " and ", plural(sites[i]->left.most, "request"),
                            call_of(*sites[i]));
    if (sites.empty()) text = plural(sum.left.most, "request");
    if (sites.size() > k_places) text += fmt::format(" and of {}", plural(sites.size() - k_places, "other place"));
    return text + fmt::format(
                      " on rank {} were never completed or freed, {} in all, and the MPI keeps memory for each.{} "
                      "Complete them with MPI_Wait or MPI_Test, and free persistent ones with MPI_Request_free.",
                      sum.left.most_rank, count_text(sum.left.most), memory_text(sum));
}

std::string about_left(Summary const& summary, ObjectSum const& sum) {
    if (sum.kind == Object::request) return about_requests_left(summary, sum);
    std::string_view const name = name_of(sum.kind);
    std::string const free =
        sum.kind == Object::file
            ? "Close them with MPI_File_close."
            : fmt::format("Make them once and use them again, or free them with {}.", function_that_frees(sum.kind));
    return fmt::format("Rank {} made {}, and {} were never freed{}.{} {}", sum.left.most_rank,
                       plural(sum.made_there, name), count_text(sum.left.most),
                       places_text(summary, sum.kind, ", most of "), memory_text(sum), free);
}

bool is_told(Summary const& summary, ObjectSum const& sum) {
    return summary.all_ended() &&
           (sum.left.most >= least_of(sum.kind) || (sum.left.most > 0 && is_large(sum.grown.most, summary)));
}

}  // namespace

std::vector<std::string> about_objects(Summary const& summary) {
    std::vector<std::string> list;
    if (!summary.all_ended()) return list;
    std::vector<ObjectSum> objects = summary.objects;
    std::stable_sort(objects.begin(), objects.end(),
                     [](ObjectSum const& a, ObjectSum const& b) { return a.grown.most > b.grown.most; });
    for (ObjectSum const& sum : objects)
        if (is_told(summary, sum)) list.push_back(about_left(summary, sum));
    return list;
}

std::string about_making(Summary const& summary) {
    SiteSum const* const site = greatest(summary, [&summary](SiteSum const& s) {
        bool const told = is_told(summary, objects_of_kind(summary.objects, s.object)) && s.left.most > 0;
        return makes_objects(s) && !told ? s.grown.most : 0;
    });
    if (site == nullptr || !is_large(site->grown.most, summary)) return {};
    std::string const text = fmt::format("MPI's memory grew by {} in {} on rank {}", size_text(site->grown.most),
                                         call_of(*site), site->grown.most_rank);
    if (site->function.starts_with("MPI_Win_allocate"))
        return text + ": it has the memory of the windows themselves, which MPI_Win_free gives back.";
    return text +
           ". The MPI takes it for what the call makes, or a function of the program does that the call runs, such as "
           "one that copies attributes.";
}

std::string line_on_objects(Summary const& summary) {
    std::vector<ObjectSum> left;
    for (ObjectSum const& sum : summary.objects)
        if (sum.left.most > 0) left.push_back(sum);
    std::stable_sort(left.begin(), left.end(),
                     [](ObjectSum const& a, ObjectSum const& b) { return a.grown.most > b.grown.most; });
    std::string text;
    for (ObjectSum const& sum : left)
        text += fmt::format("{}{} of {} on rank {}{}",
                            !text.empty()         ? "; "
                            : summary.all_ended() ? "never freed: "
                                                  : "not yet freed: ",
                            count_text(sum.left.most), plural(sum.made_there, name_of(sum.kind)), sum.left.most_rank,
                            bytes_of_each(sum) > 0 ? ", " + grown_text(sum) : std::string());
    return text;
}

}  // namespace sluice::report
