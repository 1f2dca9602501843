// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/predict/context_predictor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/hash.hpp"

namespace sluice::memory::registration {

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
    if (!is_new) known.periods.add(use.at - known.last);
    known.last = use.at;
    known.range = use.range;
    learn_anchor(known, place, use);
    known.was_missed = false;
    history_[learnt_++ % k_history] = {signature, use.range.begin, use.range.bytes, use.at, use.kind};
    if (known.periods.count() > 0) predictions.push_back(next_use(signature, known));
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
    hash.add(static_cast<std::uint64_t>(use.range.begin)).add(static_cast<unsigned char>(use.kind));
    for (std::size_t back = 1; back <= std::min<std::uint64_t>(options_.window, learnt_); ++back)
        hash.add(static_cast<std::uint64_t>(past(back).address)).add(static_cast<unsigned char>(past(back).kind));
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
    known_[place].periods = Intervals(options_.estimate);
    return place;
}

/// Returns the nearest use before this one that leaves time to register this range and those between; null if there is
/// none since the range was last used by the same signature, whose period then tells as much.
ContextPredictor::Past const* ContextPredictor::anchor_before(Event const& use, std::uint64_t signature) const {
    Time needed = options_.preparation(use.range.bytes);
    for (std::size_t back = 1; back <= std::min<std::uint64_t>(k_history, learnt_); ++back) {
        Past const& before = past(back);
        if (before.signature == signature) return nullptr;
        if (use.at - before.at >= 2 * needed) return &before;
        needed += options_.preparation(before.bytes);
    }
    return nullptr;
}

void ContextPredictor::learn_anchor(Known& known, std::size_t place, Event const& use) {
    if (!options_.preparation) return;
    Past const* before = nullptr;
    // An anchor that has proved itself stays while it comes before each use and leaves any time.
    for (std::size_t back = 1; known.anchor != 0 && back <= std::min<std::uint64_t>(k_history, learnt_); ++back) {
        if (past(back).signature == signatures_[place]) break;
        if (past(back).signature != known.anchor) continue;
        before = &past(back);
        break;
    }
    if (before == nullptr || use.at - before->at < options_.preparation(use.range.bytes)) {
        before = anchor_before(use, signatures_[place]);
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
    next.period = known.periods.expected();
    next.expected = known.last + next.period;
    next.deadline = known.last + std::min(known.periods.low(), next.period);
    next.given_up = known.last + known.periods.high();
    next.lead = has_anchor(known) ? known.leads.low() : Time(0);
    next.is_guess = known.periods.count() < 2;
    return next;
}

Prediction ContextPredictor::from_anchor(std::uint64_t signature, Known const& known, Time anchored) const {
    Prediction next;
    next.signature = signature;
    next.range = known.range;
    next.period = known.periods.count() > 0 ? known.periods.expected() : known.leads.expected();
    next.expected = anchored + known.leads.expected();
    next.deadline = anchored + std::min(known.leads.low(), known.leads.expected());
    next.given_up = anchored + known.leads.high();
    next.lead = known.leads.low();
    next.follows = true;
    next.is_guess = known.was_missed;
    return next;
}

}  // namespace sluice::memory::registration
