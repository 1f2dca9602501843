// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/fetch_set.hpp"

#include "sluice/error.hpp"

namespace sluice::fetch {

std::string text_of(Key const& key) {
    return "id " + std::to_string(key.id) + " of epoch " + std::to_string(key.epoch) + " from rank " +
           std::to_string(key.owner);
}

char const* verb_of(FetchSet const& set) {
    return set.pushed ? " receives " : " fetches ";
}

void fail(FetchSet& set, std::size_t which, int rank, std::string const& text) {
    if (set.error) return;
    FetchRequest const& want = set.wants[which];
    std::string const wanted =
        want.bytes == FetchRequest::k_any ? "" : " (" + std::to_string(want.bytes.count) + " bytes)";
    set.error = std::make_exception_ptr(
        Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + verb_of(set) + text_of(want.key) + wanted +
                                               "; rank " + std::to_string(want.key.owner) + " says: " + text));
}

}  // namespace sluice::fetch
