// SPDX-License-Identifier: BSD-3-Clause
/// The context-aware predictor (Li et al. 2011, sections 3.1 and 4.2), and what goes beyond it.
///
///     uses        … W ── X ── Y ── Z            signature of Z = hash(frames of Z, address of Z, kind and address of
///     Y, X) published   Z again at its last use + shortest period beyond      the period is the estimate that was best
///     so far; loops that end are known (rhythm.hpp); the
///                 signature has the power of two of the bytes, too, for some programs use one buffer for messages of
///                 all sizes; and Z has an anchor: the nearest use before it that leaves time to register, and comes
///                 once for each Z. When the anchor comes, Z is told again from there. A moment that is told 5 ms ahead
///                 is off by the noise of 5 ms, not by that of a whole step of the program.
///
/// The table has a fixed number of signatures; the one that was used longest ago makes room. Allocates in the
/// constructor alone, leased for bookkeeping.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "memory/leased.hpp"
#include "memory/registration/predict/predictor.hpp"
#include "memory/registration/predict/rhythm.hpp"

namespace sluice::memory::registration {

struct ContextOptions {
    std::size_t window = 2;  ///< adjacent uses that a signature contains, at most ContextPredictor::k_longest_window
    Estimate estimate = Estimate::best;
    /// What it takes to register a range of so many bytes, the helper's reaction included: an anchor leaves twice that
    /// for all ranges that follow it. Empty: no anchors, as published.
    std::function<Time(std::uint64_t bytes)> preparation;
};

class ContextPredictor : public Predictor {
  public:
    static constexpr std::size_t k_longest_window = 4;
    static constexpr std::size_t k_most_signatures = 1024;

    ContextPredictor(ContextOptions options, Budget const& tables);

    void learn(Event const& use, std::vector<Prediction>& predictions) override;
    void missed(std::uint64_t signature) override;

  private:
    static constexpr std::size_t k_history = 256;
    struct Past {
        std::uint64_t signature = 0;
        std::uintptr_t address = 0;
        std::uint64_t bytes = 0;
        Time at{};
        Kind kind = Kind::send;
    };
    struct Known {
        Range range;
        Time last{};
        Rhythm rhythm;
        std::uint64_t anchor = 0;  // a signature; 0: none
        Intervals leads;           // from the anchor to the use
        bool was_missed = false;
    };

    std::uint64_t signature_of(Event const& use) const noexcept;
    std::size_t place_of(std::uint64_t signature, bool& is_new);
    std::size_t uses_between(std::uint64_t signature) const noexcept;
    Past const* anchor_before(Event const& use, std::size_t between) const;
    Past const* only_one(std::uint64_t signature, std::size_t between) const noexcept;
    void learn_anchor(Known& known, std::size_t place, Event const& use);
    Past const& past(std::size_t back) const noexcept { return history_[(learnt_ - back) % k_history]; }
    bool has_anchor(Known const& known) const noexcept { return known.anchor != 0 && known.leads.count() >= 2; }
    Prediction next_use(std::uint64_t signature, Known const& known) const;
    Prediction from_anchor(std::uint64_t signature, Known const& known, Time anchored) const;

    ContextOptions options_;
    LeasedVector<std::uint64_t> signatures_;
    LeasedVector<std::uint64_t> anchors_;  // of the same places, together: they are searched at each use
    LeasedVector<Known> known_;
    std::array<Past, k_history> history_{};
    std::uint64_t learnt_ = 0;
};

}  // namespace sluice::memory::registration
