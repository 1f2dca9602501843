// SPDX-License-Identifier: BSD-3-Clause
/// What the MPI takes for objects. Calls that make one are short and many, and a reading of memory takes ten times as
/// long as most of them. So few have readings of their own; what memory grows by between two readings is shared out to
/// the others.
///
///     measured ──> | making | program, other calls | making, making, … no readings … | reading
///                  ^ inside ^ outside              ^                                 ^ all that has grown, of which
///                                                                        inside / (inside + outside) is the makings'
///
/// Measured are the first makings of each place, of the others one in 4 to 128, ever more seldom, and those that come
/// when a reading is due. The stretch behind a measured one is measured, too: a program that takes memory itself
/// between its makings keeps it. Among places, what was measured there decides, for as many makings as each had.
/// Nothing here allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugin/binding/tally.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Makings {
  public:
    explicit Makings(record::RankRecord& record) noexcept : record_(record) {}
    Makings(Makings const&) = delete;
    Makings& operator=(Makings const&) = delete;

    /// Whether the making that begins at a place is to be measured, although no reading is due.
    bool wants(std::uint32_t site) const noexcept {
        std::uint64_t const number = look_at(record_.sites[site].calls) + 1;
        return look_at(left_) == 0 || (number <= k_first && (number & (number - 1)) == 0);
    }
    /// Whether the next making, measured or not, begins with a reading: the stretch behind a measured one ends there.
    bool is_outside() const noexcept { return look_at(is_outside_); }
    /// One has begun with a reading, and is measured or not.
    void begins(bool is_measured) noexcept {
        put(is_outside_, false);
        put(is_measuring_, is_measured);
    }
    /// Whether the call that ends with a reading is one that is measured.
    bool is_measuring() const noexcept { return look_at(is_measuring_); }
    /// It is over, and the MPI has taken `bytes` in it.
    void measured(std::uint32_t site, std::uint64_t bytes) noexcept;
    /// Memory grew outside MPI's measured calls.
    void grew_outside(std::uint64_t bytes) noexcept {
        if (look_at(is_outside_)) put(outside_, look_at(outside_) + bytes);
    }
    /// One without readings, which took `ticks`.
    void unread(record::Object kind, std::uint32_t site, std::uint64_t ticks) noexcept;

    /// What of a growth the makings since the last reading have taken, and how long they took.
    struct Part {
        std::uint64_t bytes = 0;
        std::uint64_t ticks = 0;
    };
    /// `grown`: since the last reading; `most`: what can be taken in a tick.
    Part part_of(std::uint64_t grown, double most) const noexcept;
    /// The same at a reading: it is written down at the places. `resident`: bytes that the process has.
    Part share_out(std::uint64_t grown, double most, std::uint64_t resident, std::uint64_t now_us) noexcept;

  private:
    static constexpr std::uint64_t k_first = 32;
    static constexpr std::uint64_t k_often = 4, k_seldom = 96;
    // Counts as measured inside from the start: growth is the makings' until it is known better.
    static constexpr std::uint64_t k_prior = 4096;
    // What is remembered: the program may do something else later.
    static constexpr std::uint64_t k_remembered = 16 << 20;
    static constexpr std::size_t k_places = 32;

    struct Place {
        std::uint64_t inside = 0;    // bytes in measured makings
        std::uint32_t measured = 0;  // these
        std::uint32_t unread = 0;    // makings since the last reading
        record::Object kind = record::Object::none;
    };
    /// Bytes that its makings take, by what is known; more than 0, so that a place that has unread ones gets some where
    /// nothing was measured.
    double weight_of(Place const& place) const noexcept {
        double const each = (static_cast<double>(place.inside) + 1) / (static_cast<double>(place.measured) + 1);
        return each * static_cast<double>(place.unread);
    }

    record::RankRecord& record_;
    std::mutex changing_;
    std::array<Place, record::k_sites> places_{};
    std::array<std::uint32_t, k_places> waiting_{};  // places with unread makings
    std::size_t used_ = 0;                           // of these
    std::uint64_t unread_ = 0;                       // makings so far
    // Tallies, which samples look at.
    std::uint64_t ticks_ = 0;
    std::uint64_t inside_ = 0;
    std::uint64_t outside_ = 0;
    std::uint64_t left_ = k_often;  // makings until the next is measured
    bool is_outside_ = false;       // behind a measured making
    bool is_measuring_ = false;     // inside one
};

}  // namespace sluice::plugin
