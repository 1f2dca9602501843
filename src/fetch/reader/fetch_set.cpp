// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/fetch_set.hpp"

namespace sluice::fetch {

std::string text_of(Key const& key) {
    return "id " + std::to_string(key.id) + " of epoch " + std::to_string(key.epoch) + " from rank " +
           std::to_string(key.owner);
}

char const* verb_of(FetchSet const& set) {
    return set.pushed ? " receives " : " fetches ";
}

void fail(FetchSet& set, std::size_t which, int rank, ErrorCode code, std::string_view text) {
    set_error(set, [&] {
        FetchRequest const& want = set.wants[which];
        std::string const wanted =
            want.bytes == FetchRequest::k_any ? "" : " (" + std::to_string(want.bytes.count) + " bytes)";
        return Error(code, "rank " + std::to_string(rank) + verb_of(set) + text_of(want.key) + wanted + "; rank " +
                               std::to_string(want.key.owner) + " says: " + std::string(text));
    });
}

void fail_as_changed(FetchSet& set, std::size_t which, int rank) {
    set_error(set, [&] {
        FetchRequest const& want = set.wants[which];
        std::string const owner = "rank " + std::to_string(want.key.owner);
        std::string const what =
            "rank " + std::to_string(rank) + verb_of(set) + text_of(want.key) + " (" + std::to_string(want.bytes.count);
        if (set.pushed)
            return Error(ErrorCode::internal, what + " bytes), but got other bytes than were packed (setting check)");
        return Error(ErrorCode::invalid_argument,
                     what + " bytes), but got other bytes than were published: " + owner +
                         " changed them before all readers had them. A task of " + owner +
                         " must await all_have_it(key) before they change, or keep two arrays (setting check)");
    });
}

void tell_changed(Wire& wire, Key const& key, bool was_sent) {
    if (key.owner == wire.rank()) return;
    wire.send(key.owner, {Kind::differs, was_sent ? 1U : 0U, {key.id, key.epoch}, 0});
}

}  // namespace sluice::fetch
