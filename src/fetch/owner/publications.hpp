// SPDX-License-Identifier: BSD-3-Clause
/// What a rank has published, and who has asked too early.
///
///     published ──> asked by a reader ──> served … ──> read by all its readers: forgotten
///         └── withdrawn: forgotten when nothing of it is on its way
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fetch/wire.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch::detail {

/// Who waits until a publication is read by all.
struct ReadWait {
    sluice::detail::TaskPromise* task = nullptr;  // null where it is not waiting (any more), or
    std::function<void()> done;
};
using ReadWaits = std::vector<std::shared_ptr<ReadWait>>;

struct Publication {
    std::uint64_t bytes = 0;
    Store::Pack pack;                 // or
    std::byte const* data = nullptr;  // side by side, or
    Store::Bring bring;
    int readers_left = 0;  // who have not been sent it yet
    int on_their_way = 0;  // to readers
    bool withdrawn = false;
    ReadWaits waiting;  // until it is read by all
};

/// Somebody's wish, kept until what he wants is published.
struct Wish {
    int peer;
    Control control;
};

class Publications {
  public:
    /// Throws Error(invalid_argument) where the name is taken.
    Publication& add(Name const& name, Publication&& publication);
    Publication* find(Name const& name);
    /// Whether `name` can still come to be. Where not, why.
    std::optional<std::string> refusal(Name const& name) const;

    void wish(Wish const& wish) { wishes_[wish.control.name].push_back(wish); }
    std::vector<Wish> take_wishes(Name const& name);
    /// Those that can no longer be fulfilled.
    std::vector<Wish> take_refused();

    /// One reader less. Forgets it when it was the last; gives those who waited for that.
    ReadWaits read(Name const& name);
    ReadWaits withdraw(Name const& name);
    /// One is no longer on its way.
    ReadWaits arrived(Name const& name);
    /// One was on its way and is not any more: its reader is to be served again.
    ReadWaits take_back(Name const& name);

    void close(std::uint64_t epoch);
    void finish() { finished_ = true; }

    std::size_t size() const noexcept { return published_.size(); }

  private:
    ReadWaits forget_if_over(Name const& name);

    // Names that are over are remembered, as far as there is room, so that who comes late is told.
    static constexpr std::size_t k_remembered = 1024;

    std::unordered_map<Name, Publication, NameHash> published_;
    std::unordered_map<Name, std::vector<Wish>, NameHash> wishes_;
    std::vector<Name> over_;  // a ring
    std::size_t next_over_ = 0;
    std::optional<std::uint64_t> closed_;  // epochs up to this
    bool finished_ = false;
};

}  // namespace sluice::fetch::detail
