// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/long_waits.hpp"

#include <cmath>
#include <new>
#include <utility>

#include "engine/told_line.hpp"
#include "fetch/owner/serving.hpp"
#include "fetch/reader/fetching.hpp"
#include "fetch/reader/receiving.hpp"

namespace sluice::fetch {

namespace {

constexpr unsigned k_looks_between_clocks = 64;
// A wait is found at the latest after this part of the time after which it is told.
constexpr double k_sweeps = 4;

std::string text_of_state(LongWaits::State state) {
    switch (state) {
        case LongWaits::State::not_published:
            return "which has not published it";
        case LongWaits::State::waits_for_memory:
            return "which has published it and waits for memory to serve it (setting serve_memory)";
        case LongWaits::State::is_brought:
            return "which is bringing its data";
        case LongWaits::State::is_on_its_way:
            return "which has sent it";
        case LongWaits::State::is_published:
            break;
    }
    return "which has published it";
}

}  // namespace

void LongWaits::look() {
    if (after_ <= 0 || ++looks_ % k_looks_between_clocks != 0) return;
    double const waited = clock_.look(wire_->now());
    if (waited < next_sweep_) return;
    next_sweep_ = waited + after_ / k_sweeps;
    try {
        sweep();
    } catch (std::bad_alloc const&) {
        return;  // the line is all that is late
    }
}

void LongWaits::sweep() {
    if (!told_.expired()) return;  // this wait has its line
    OldestWait oldest(clock_.waited());
    fetching_->find_oldest(oldest);
    receiving_->find_oldest(oldest);
    serving_->find_oldest(oldest);
    if (!oldest.get() || clock_.waited() - oldest.get()->since < after_) return;
    if (has_answer(*oldest.get())) tell(*oldest.get());
}

/// Whether it is known why the data do not come, or nothing more will be known. Asks the owner first.
bool LongWaits::has_answer(LongWait const& wait) {
    if (wait.what == LongWait::For::sent_data) return !waits_for_answers_ || !receiving_->is_asking();
    if (wait.what == LongWait::For::readers) return true;
    if (wait.key.owner == wire_->rank()) {
        answer_ = serving_->state_of(wire_->rank(), {wait.key.id, wait.key.epoch});
        return true;
    }
    if (!asked_ || asked_->waiting.lock() != wait.waiting.lock()) {
        ask(wait);
        return false;
    }
    return answer_ || (!waits_for_answers_ && clock_.waited() - asked_at_ >= after_ / 2);
}

void LongWaits::ask(LongWait const& wait) {
    if (unanswered_ > 0) return;  // an answer would not say to which question
    answer_.reset();
    asked_ = wait;
    asked_at_ = clock_.waited();
    ++unanswered_;
    wire_->send(wait.key.owner, {Kind::ask_state, 0, {wait.key.id, wait.key.epoch}, 0});
}

void LongWaits::answered(State state) noexcept {
    --unanswered_;
    answer_ = state;
}

void LongWaits::tell(LongWait const& wait) {
    engine::tell_line("rank " + std::to_string(wire_->rank()) + " has waited " +
                      std::to_string(std::lround(clock_.waited() - wait.since)) + " s for " + text_of(wait));
    told_ = wait.waiting;
    asked_.reset();
    answer_.reset();
    after_ *= 2;
    ++lines_;
}

std::string LongWaits::text_of(LongWait const& wait) const {
    std::string const data =
        "id " + std::to_string(wait.key.id) + " of epoch " + std::to_string(wait.key.epoch) + " of rank ";
    std::string const owner = std::to_string(wait.key.owner);
    switch (wait.what) {
        case LongWait::For::data:
            return data + owner + ", " +
                   (answer_ ? text_of_state(*answer_) : "which does not answer: it makes no call of Sluice");
        case LongWait::For::sent_data:
            return data + owner + ", which " +
                   (receiving_->is_asking() ? "does not answer: it makes no call of Sluice" : "has not sent it");
        case LongWait::For::readers:
            break;
    }
    return "the readers of " + data + owner + ": " + std::to_string(wait.have) + " of " + std::to_string(wait.readers) +
           " have it";
}

}  // namespace sluice::fetch
