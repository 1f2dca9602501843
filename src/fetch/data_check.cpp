// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/data_check.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "sluice/error.hpp"

namespace sluice::fetch {

std::uint64_t hash_of(std::span<std::byte const> data) noexcept {
    base::Fnv1a hash;
    hash.add(std::string_view(reinterpret_cast<char const*>(data.data()), data.size()));
    return hash.value();
}

std::string_view text_of(DataHash const& hash) noexcept {
    if (!hash) return {};
    return {reinterpret_cast<char const*>(&*hash), sizeof *hash};
}

DataHash hash_in(std::string_view text) noexcept {
    std::uint64_t hash = 0;
    if (text.size() != sizeof hash) return std::nullopt;
    std::memcpy(&hash, text.data(), sizeof hash);
    return hash;
}

void DataFaults::add(int owner, int reader, Name const& name, bool was_sent) {
    if (number_++ > 0) return;
    owner_ = owner;
    reader_ = reader;
    name_ = name;
    was_sent_ = was_sent;
}

void DataFaults::throw_any() {
    if (number_ == 0) return;
    std::uint64_t const others = std::exchange(number_, 0) - 1;
    std::string const data = "id " + std::to_string(name_.id) + " of epoch " + std::to_string(name_.epoch);
    std::string const more = others == 0 ? "" : "; the same of " + std::to_string(others) + " further fetches";
    std::string const owner = "rank " + std::to_string(owner_);
    std::string const reader = "rank " + std::to_string(reader_);
    if (was_sent_)
        throw Error(ErrorCode::internal, owner + " has sent " + data + " to " + reader +
                                             ", which got other bytes than were packed (setting check)" + more);
    throw Error(ErrorCode::invalid_argument,
                owner + " has published " + data + ", and " + reader +
                    " got other bytes than were published: they changed before all readers had them. Await "
                    "all_have_it(key) before they change, or keep two arrays (setting check)" +
                    more);
}

}  // namespace sluice::fetch
