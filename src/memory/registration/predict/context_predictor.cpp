// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/predict/context_predictor.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "base/hash.hpp"

namespace sluice::memory::registration {

namespace {

constexpr int k_late_part = 8;             // of the period, as for a use without an anchor (Intervals::high)
constexpr std::uint64_t k_well_known = 8;  // intervals

}  // namespace

ContextPredictor::ContextPredictor(ContextOptions options, Budget const& tables)
    : options_(std::move(options)),
      signatures_(LeasedAllocator<std::uint64_t>(tables)),
      anchors_(LeasedAllocator<std::uint64_t>(tables)),
      known_(LeasedAllocator<Known>(tables)) {
    if (options_.window > k_longest_window) throw std::invalid_argument("a context has at most 4 adjacent uses");
    signatures_.reserve(k_most_signatures);
    anchors_.reserve(k_most_signatures);
    known_.reserve(k_most_signatures);
}

void ContextPredictor::learn(Event const& use, std::vector<Prediction>& predictions) {
    std::uint64_t const signature = signature_of(use);
    bool is_new = false;
    std::size_t const place = place_of(signature, is_new);
    Known& known = known_[place];
    if (!is_new) known.rhythm.add(use.at - known.last);
    known.last = use.at;
    known.range = use.range;
    learn_anchor(known, place, use);
    known.was_missed = false;
    history_[learnt_++ % k_history] = {signature, use.range.begin, use.range.bytes, use.at, use.kind};
    if (known.rhythm.count() > 0) predictions.push_back(next_use(signature, known));
    for (std::size_t i = 0; i < anchors_.size(); ++i)
        if (anchors_[i] == signature && has_anchor(known_[i]))
            predictions.push_back(from_anchor(signatures_[i], known_[i], use.at));
}

void ContextPredictor::missed(std::uint64_t signature) {
    auto const at = std::find(signatures_.begin(), signatures_.end(), signature);
    if (at != signatures_.end()) known_[static_cast<std::size_t>(at - signatures_.begin())].was_missed = true;
}

std::uint64_t ContextPredictor::signature_of(Event const& use) const noexcept {
    base::Fnv1a hash;
    for (std::uintptr_t const frame : use.frames)
        hash.add(static_cast<std::uint64_t>(frame));
    bool const has_size = options_.estimate == Estimate::best;
    auto const power = [&](std::uint64_t bytes) {
        return static_cast<unsigned char>(has_size ? std::bit_width(bytes) : 0);
    };
    hash.add(power(use.range.bytes));
    hash.add(static_cast<std::uint64_t>(use.range.begin)).add(static_cast<unsigned char>(use.kind));
    for (std::size_t back = 1; back <= std::min<std::uint64_t>(options_.window, learnt_); ++back)
        hash.add(static_cast<std::uint64_t>(past(back).address))
            .add(static_cast<unsigned char>(past(back).kind))
            .add(power(past(back).bytes));
    return hash.value() == 0 ? 1 : hash.value();
}

std::size_t ContextPredictor::place_of(std::uint64_t signature, bool& is_new) {
    auto const at = std::find(signatures_.begin(), signatures_.end(), signature);
    is_new = at == signatures_.end();
    if (!is_new) return static_cast<std::size_t>(at - signatures_.begin());
    std::size_t place = signatures_.size();
    if (place < k_most_signatures) {
        signatures_.push_back(0);
        anchors_.push_back(0);
        known_.push_back(Known());
    } else {
        auto const oldest = std::min_element(known_.begin(), known_.end(),
                                             [](Known const& a, Known const& b) { return a.last < b.last; });
        place = static_cast<std::size_t>(oldest - known_.begin());
    }
    signatures_[place] = signature;
    anchors_[place] = 0;
    known_[place] = Known();
    known_[place].rhythm = Rhythm(options_.estimate);
    return place;
}

/// Returns how many uses were learnt since the signature was last learnt, as far as the history goes.
std::size_t ContextPredictor::uses_between(std::uint64_t signature) const noexcept {
    std::size_t const all = std::min<std::uint64_t>(k_history, learnt_);
    std::size_t between = 0;
    while (between < all && past(between + 1).signature != signature)
        ++between;
    return between;
}

/// Returns the use of that signature among the last `between`, if there is exactly one.
ContextPredictor::Past const* ContextPredictor::only_one(std::uint64_t signature, std::size_t between) const noexcept {
    Past const* found = nullptr;
    for (std::size_t back = 1; back <= between; ++back) {
        if (past(back).signature != signature) continue;
        if (found != nullptr) return nullptr;
        found = &past(back);
    }
    return found;
}

/// Returns the nearest of the last `between` uses that leaves time to register this range and those after it, and is
/// the only one of its signature; null if there is none: the period then tells as much.
ContextPredictor::Past const* ContextPredictor::anchor_before(Event const& use, std::size_t between) const {
    constexpr int k_most_tries = 4;
    Time needed = options_.preparation(use.range.bytes);
    int tries = 0;
    for (std::size_t back = 1; back <= between && tries < k_most_tries; ++back) {
        Past const& before = past(back);
        if (use.at - before.at >= 2 * needed) {
            ++tries;
            if (only_one(before.signature, between) != nullptr) return &before;
        }
        needed += options_.preparation(before.bytes);
    }
    return nullptr;
}

/// An anchor stays while it comes once for each use and, as a rule, leaves time.
void ContextPredictor::learn_anchor(Known& known, std::size_t place, Event const& use) {
    if (!options_.preparation) return;
    if (known.rhythm.has_loops()) {  // what comes once for each use of a loop says nothing of the pause
        known.anchor = anchors_[place] = 0;
        return;
    }
    std::size_t const between = uses_between(signatures_[place]);
    Past const* before = known.anchor == 0 ? nullptr : only_one(known.anchor, between);
    if (before == nullptr || known.leads.typical() < options_.preparation(use.range.bytes)) {
        before = anchor_before(use, between);
        known.leads = Intervals(options_.estimate);
        known.anchor = before == nullptr ? 0 : before->signature;
        anchors_[place] = known.anchor;
    }
    if (before != nullptr) known.leads.add(use.at - before->at);
}

Prediction ContextPredictor::next_use(std::uint64_t signature, Known const& known) const {
    Prediction next;
    next.signature = signature;
    next.range = known.range;
    Intervals const& interval = known.rhythm.next();
    next.period = interval.expected();
    next.expected = known.last + next.period;
    next.deadline = known.last + std::min(interval.low(), next.period);
    next.given_up = known.last + interval.high();
    next.lead = has_anchor(known) ? known.leads.typical() : Time(0);
    next.is_guess = known.rhythm.count() < 2;
    return next;
}

Prediction ContextPredictor::from_anchor(std::uint64_t signature, Known const& known, Time anchored) const {
    Prediction next;
    next.signature = signature;
    next.range = known.range;
    next.period = known.rhythm.count() > 0 ? known.rhythm.next().expected() : known.leads.expected();
    next.expected = anchored + known.leads.expected();
    next.deadline = anchored + std::min(known.leads.low(), known.leads.expected());
    next.given_up = anchored + known.leads.high();
    // A program that is held up is late for all that follows: as late as a use without an anchor may be.
    if (known.rhythm.count() >= k_well_known) next.kept_until = next.expected + next.period / k_late_part;
    next.lead = known.leads.typical();
    next.follows = true;
    next.is_guess = known.was_missed;
    return next;
}

}  // namespace sluice::memory::registration
