// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/store_state.hpp"

#include <string>
#include <utility>

#include "base/checks_data.hpp"
#include "engine/patience.hpp"
#include "groups/nonblocking_barrier.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::fetch {

namespace {

/// The helper thread calls MPI while the program may do so too, so the program must have asked MPI for
/// MPI_THREAD_MULTIPLE.
bool may_look_in_background(engine::ContextState& context) {
    if (context.settings().progress == ProgressBy::tasks || !kernel::HelperThread::is_possible()) return false;
    int level = MPI_THREAD_SINGLE;
    mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
    return level == MPI_THREAD_MULTIPLE && context.size() > 1;
}

/// Each figure is one part's, or a sum over the parts.
void add(StoreReport& all, StoreReport const& part) {
    static_assert(sizeof(StoreReport) == 22 * sizeof(std::uint64_t), "a new figure is added here, too");
    for (auto const figure :
         {&StoreReport::sets, &StoreReport::fetched, &StoreReport::fetched_here, &StoreReport::reused,
          &StoreReport::served, &StoreReport::beyond, &StoreReport::early, &StoreReport::retried, &StoreReport::read,
          &StoreReport::moved_in_background, &StoreReport::most_on_their_way, &StoreReport::sent,
          &StoreReport::received, &StoreReport::compared})
        all.*figure += part.*figure;
    for (auto const figure : {&StoreReport::fetched_bytes, &StoreReport::held, &StoreReport::peak,
                              &StoreReport::sent_bytes, &StoreReport::received_bytes, &StoreReport::packed_peak,
                              &StoreReport::uncontrolled_peak, &StoreReport::unexpected})
        all.*figure += part.*figure;
}

constexpr unsigned k_polls_between_clocks = 8;
// As in Tasks: looks without result before an idle rank yields its core.
constexpr std::uint64_t k_looks_before_yield = 50;
// The number of sets in each half of the tokens. More than keeps a processor busy gains nothing: data fetched long
// before their task's turn have left the cache again (docs/fetch.md, "How to choose a budget").
constexpr std::uint64_t k_sets = 4;
constexpr Bytes k_least_share = 512_KiB;

}  // namespace

StoreState::StoreState(Context& context)
    : context_(engine::ContextState::shared_by(context)),
      memory_(context_->budget()),
      wire_(context_->comm()),
      tentative_(context_->budget(), Purpose::fetched, share_of_receiving(), budget::TokenPool::First::like_any),
      ready_(context_->budget(), Purpose::fetched, share_of_receiving(), budget::TokenPool::First::always,
             context_->settings().tokens),
      serving_pool_(context_->budget(), Purpose::served, context_->settings().serve_memory,
                    budget::TokenPool::First::always, context_->settings().tokens),
      packed_(context_->budget(), Purpose::served, Bytes{}, budget::TokenPool::First::always),
      uncontrolled_(context_->budget(), Purpose::fetched, Bytes{}, budget::TokenPool::First::always),
      fetching_(wire_, context_->settings().tokens == 0 ? &tentative_ : nullptr, ready_, memory_,
                context_->settings().fetch_order, context_->settings().fetch_window,
                context_->process().memory().memory_limit().limit),
      serving_(wire_, serving_pool_, memory_, fetching_, base::checks_data(context_->settings().check)),
      reads_(wire_, context_->remote_memory(), context_->settings().read_from),
      sending_(wire_, packed_, memory_, context_->settings().send_control == Switch::on,
               base::checks_data(context_->settings().check)),
      receiving_(wire_, fetching_, uncontrolled_, memory_),
      waits_(wire_, fetching_, serving_, receiving_, static_cast<double>(context_->settings().waiting_told_after)),
      dispatch_(fetching_, serving_, reads_, sending_, receiving_, faults_, waits_) {
    fetching_.set_serving(serving_);
    fetching_.set_sending(sending_);
    sending_.set_receiving(receiving_);
    receiving_.set_sending(sending_);
    fetching_.set_reads(reads_);
    serving_.set_reads(reads_);
    serving_.set_hold([this] { return hold(); });
    context_->progress().add(*this);
    if (may_look_in_background(*context_)) try {
            context_->process().helper_will_call_mpi();
            background_.emplace(context_->process().helper_thread(), *this);
        } catch (Error const&) {
            // No thread can be made, so communication advances between tasks only.
        }
}

StoreState::~StoreState() {
    background_.reset();
    fetching_.leave_sets_behind();
    serving_.leave_waits_behind();
    context_->progress().remove(*this);
    context_->tell_if_late("a Store");
}

void StoreState::stall() {
    Hold const held = hold();
    fetching_.stall();
}

/// Inside a callback the program may still do anything; so it may after an exception that it has not seen yet.
void StoreState::tell_endless(kernel::EndlessWaits& waits) {
    Hold const held = hold();
    if (polling_ || failure_ || fetching_.will_call()) {
        waits.may_end();
        return;
    }
    serving_.tell_endless(waits);
    receiving_.tell_endless(waits);
}

void StoreState::give_up(std::string const& why) {
    Hold const held = hold();
    serving_.give_up(why);
    sending_.give_up(why);
}

/// Tentative sets, and sets whose data exist, each get half of the memory.
budget::TokenPool::Limit StoreState::share_of_receiving() const {
    Bytes const setting = context_->settings().fetch_memory;
    budget::TokenPool::Limit const limit = setting.count != 0
                                               ? budget::TokenPool::Limit(setting / 2)
                                               : budget::TokenPool::Limit::room_for(k_sets, k_least_share);
    return limit.within_part(2);
}

bool StoreState::poll() {
    Hold const held = hold();
    if (polling_) return false;  // called from a callback
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (!finished_) faults_.throw_any();  // finish() goes on to its end first
    if (background_) background_->program_looks();
    kernel::Polling const polling(polling_);
    return move();
}

/// Called here too, because a program without tasks polls only the store.
void StoreState::follow_memory() {
    if (++polls_ % k_polls_between_clocks == 0) context_->process().memory().look_if_due();
    std::uint64_t const looks = context_->process().memory().looks();
    if (looks != looks_) memory_.settle();
    looks_ = looks;
}

bool StoreState::move() {
    follow_memory();
    bool moved = wire_.poll(dispatch_);
    moved |= reads_.read(fetching_);
    moved |= serving_.serve();
    moved |= receiving_.ask_for_late(finished_);
    moved |= fetching_.grant();
    moved |= serving_.wake_up();
    moved |= fetching_.call_back();
    waits_.look();
    return moved;
}

/// Something is published or under way. Requests for what is not published wait in MPI, and a thread that calls MPI for
/// nothing could be in a call when the program calls MPI_Finalize: MPICH (4.0.2) lets go of its locks no more from
/// there on, and aborts because one is held.
bool StoreState::has_work() const noexcept {
    return serving_.publishes() || !nothing_moves();
}

/// Called while the program computes, so none of its code runs here: its next look resumes waiting tasks and packs.
bool StoreState::look_in_background() noexcept {
    if (context_->process().mpi_has_ended()) return false;
    Hold const held(mutex_, std::try_to_lock);
    if (!held || polling_ || failure_ || !has_work()) return false;
    bool moved = false;
    try {
        follow_memory();
        moved = wire_.poll(dispatch_);
        moved |= reads_.read(fetching_);
        moved |= serving_.serve_plain();
        moved |= fetching_.grant();
    } catch (...) {
        failure_ = std::current_exception();
    }
    return moved;
}

void StoreState::finish() {
    if (finished_) return;
    engine::Entry const entry(*context_, "Store::finish");
    check_no_callback("finish");
    finished_ = true;
    {
        Hold const held = hold();
        serving_.finish();
        sending_.finish();
    }
    // Everything on the context is polled, because published data may have to be brought by other capabilities.
    kernel::Progress& progress = context_->progress();
    auto const wait_until_quiet = [&] {
        while (!is_quiet())
            if (!progress.poll() && !progress.is_under_way()) stall();
    };
    wait_until_quiet();
    {
        Hold const held = hold();
        wire_.make_heard();
    }
    wait_until_quiet();
    // No set of this rank is open, and its messages have been heard.
    wait_for_all();
    wait_until_quiet();
    context_->end_questions();
    Hold const held = hold();
    sending_.drop();
    receiving_.drop();
    faults_.throw_any();
}

/// Collective. Serves the others meanwhile.
void StoreState::wait_for_all() {
    engine::Absences& absences = context_->absences();
    engine::Absences::Wait const wait(absences, "Store::finish");
    groups::NonblockingBarrier barrier(context_->comm(), groups::tags::k_store_barrier.first);
    for (unsigned looks = 1; !barrier.is_passed(); ++looks) {
        context_->progress().poll();
        if (looks % k_polls_between_clocks == 0) absences.look();
    }
}

void StoreState::check_no_callback(char const* what) const {
    if (polling_)
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(wire_.rank()) + " calls " + what +
                                                     " from inside a callback of the store, where nothing moves");
}

void StoreState::wait_until(std::function<bool()> const& over) {
    engine::Entry const entry(*context_, "Store::wait_until");
    check_no_callback("wait_until");
    kernel::Progress& progress = context_->progress();
    engine::ProgressPatience patience(progress, k_looks_before_yield);
    while (!over())
        patience.after(progress.poll());
}

bool StoreState::is_quiet() {
    Hold const held = hold();
    return nothing_moves() && !serving_.will_wake_up();
}

/// An answer that this rank waits for says why something came late; it is not waited for.
bool StoreState::is_empty() {
    Hold const held = hold();
    return !serving_.publishes() && fetching_.is_quiet() && serving_.is_quiet() && wire_.is_quiet();
}

void StoreState::forget_peaks() {
    Hold const held = hold();
    fetching_.forget_peak();
    for (budget::TokenPool* const pool : {&tentative_, &ready_, &serving_pool_, &packed_, &uncontrolled_})
        pool->forget_peak();
}

bool StoreState::nothing_moves() const noexcept {
    return fetching_.is_quiet() && serving_.is_quiet() && sending_.is_quiet() && receiving_.is_quiet() &&
           !waits_.is_asking() && wire_.is_quiet();
}

StoreReport StoreState::report() {
    Hold const held = hold();
    StoreReport report = fetching_.figures();
    add(report, serving_.figures());
    add(report, sending_.figures());
    add(report, receiving_.figures());
    report.read = reads_.done();
    report.moved_in_background = background_ ? background_->moved() : 0;
    report.held = tentative_.held() + ready_.held() + serving_pool_.held() + packed_.held() + uncontrolled_.held();
    report.peak = tentative_.peak() + ready_.peak() + serving_pool_.peak() + packed_.peak() + uncontrolled_.peak();
    return report;
}

}  // namespace sluice::fetch
