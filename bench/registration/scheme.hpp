// SPDX-License-Identifier: BSD-3-Clause
/// What is done about registration when a message begins and ends: the schemes that are compared, in turned time. A
/// scheme belongs to one rank.
///
///     leave_pinned   registered at the first use, and never given back (Open MPI's and MVAPICH's default)
///     direct         registered at the begin and given back at the end of each message (no leave pinned)
///     pipelined      as direct, in pieces of which one is registered while another is under way (Woodall et al. 2006)
///     lru            leave pinned within a limit; what was not used for longest makes room (UCX)
///     published      the helper as Li et al. 2011 describe it: shortest period, no anchors
///     periodicity    the same with the predictor of Freitag et al. 2003
///     sluice         the helper of this library
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "memory/registration/predict/accuracy.hpp"
#include "memory/registration/registrars/counting.hpp"
#include "registration/stream.hpp"
#include "registration/timeline.hpp"

namespace sluice::bench {

namespace registration = memory::registration;

/// A look into a cache with a lock (the paper, section 4.1).
constexpr Time k_look_up{72};

struct SchemeFigures {
    std::uint64_t messages = 0;
    std::uint64_t registered_by_main = 0;  ///< messages, or pieces of them, that the main thread registered
    std::uint64_t late_by_main = 0;        ///< those in the second half of the run
    std::uint64_t late_messages = 0;       ///< messages in the second half
    std::uint64_t waited = 0;              ///< messages that waited for a registration of the helper
    registration::Accuracy accuracy;
    std::uint64_t peak = 0;  ///< by the scheme's own counter; the timeline's must be the same
};

class Scheme {
  public:
    virtual ~Scheme() = default;
    /// Both return what the main thread spends, beginning at `now`.
    virtual Time begin(std::uint32_t id, Message const& message, Time now) = 0;
    virtual Time end(std::uint32_t id, Message const& message, Time now) = 0;
    /// The main thread has come to `now` without a message: a helper may work meanwhile.
    virtual void advance(Time now) = 0;
    virtual SchemeFigures figures() const = 0;
    Timeline const& timeline() const { return timeline_; }

  protected:
    Timeline timeline_;
};

struct SchemeOptions {
    registration::CostLaw law;
    std::uint64_t limit = ~std::uint64_t{0};  ///< of lru, and of the helper
    Time reaction{0};                         ///< how late the helper notices
};

/// A counting registrar whose registrations take their time on a clock that it is told.
class TimedRegistrar : public registration::CountingRegistrar {
  public:
    TimedRegistrar(registration::CostLaw law, Timeline& timeline) : CountingRegistrar(law), timeline_(&timeline) {}

    void set_clock(Time now) { clock_ = now; }
    registration::Registered add(Range range) noexcept override;
    Time remove(std::uint64_t key, Range range) noexcept override;
    /// When the registration was complete.
    Time ready(std::uint64_t key) const { return ready_[key - 1]; }

  private:
    Timeline* timeline_;
    Time clock_{};
    std::vector<Time> ready_;
};

std::vector<std::string_view> scheme_names();
/// Throws std::invalid_argument for an unknown name.
std::unique_ptr<Scheme> make_scheme(std::string_view name, SchemeOptions const& options);

// In a file of its own: the schemes with a helper.
std::unique_ptr<Scheme> make_helped(std::string_view name, SchemeOptions const& options);

}  // namespace sluice::bench
