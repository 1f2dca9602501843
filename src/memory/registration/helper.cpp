// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/helper.hpp"

#include <algorithm>

namespace sluice::memory::registration {

namespace {

constexpr Time k_between_sweeps = std::chrono::milliseconds(100);

}  // namespace

Helper::Helper(EventQueue& events, Cache& cache, Predictor& predictor, Costs const& costs, HelperOptions options,
               Budget const& tables)
    : events_(&events), cache_(&cache), predictor_(&predictor), costs_(costs), options_(options), due_(tables) {
    predictions_.reserve(64);
}

Helper::Turn Helper::work(Time now) {
    clock_ = now;
    if (std::optional<Event> const event = events_->take())
        take_event(*event);
    else
        look_for_strays();
    end_lingering();
    sweep();
    give_up_overdue();
    register_due();
    return {clock_ - now, next_moment()};
}

void Helper::take_event(Event const& event) {
    if (event.range.bytes < options_.least_bytes) return;
    ++counters_.events;
    clock_ += costs_.steps.event;
    if (event.what == What::begins) {
        learn(event);
        if (!event.was_registered) give_back_inside(event.range);
    } else {
        consider_giving_back(event.range, true);
    }
}

void Helper::learn(Event const& event) {
    predictions_.clear();
    predictor_->learn(event, predictions_);
    auto const own = std::find_if(predictions_.begin(), predictions_.end(), [](auto const& p) { return !p.follows; });
    Due const* const due = own == predictions_.end() ? nullptr : due_.find(own->signature);
    if (!event.was_registered) {
        if (due != nullptr || (own != predictions_.end() && !own->is_guess))
            count_unprepared(event, due);
        else
            ++counters_.unprepared.unknown;
    }
    if (due != nullptr && !due->is_missed) {
        accuracy_.judge(due->prediction.expected, due->prediction.period, event.at);
        learn_margin(event, *due);
    }
    for (Prediction const& prediction : predictions_)
        put(prediction);
}

void Helper::learn_margin(Event const& event, Due const& due) noexcept {
    if (event.was_registered) return margin_.found();
    if (due.waits || due.is_done) return;
    margin_.came_sooner(due.begin + add_cost(event.range) - event.at, due.prediction.period);
}

void Helper::count_unprepared(Event const& event, Due const* due) noexcept {
    Unprepared& why = counters_.unprepared;
    if (due == nullptr || due->is_missed)
        ++why.given_up;
    else if (due->waits)
        ++why.unannounced;
    else if (due->is_done)
        ++why.refused;
    else
        ++(event.at < due->begin ? why.early : why.late);
}

/// A range that an earlier message will announce in time waits for that message. One that is announced too late for its
/// registration keeps the deadline that it has.
void Helper::put(Prediction const& prediction) {
    bool const leaves_time = prediction.lead >= to_register_again(prediction.range);
    if (prediction.follows && !leaves_time) return;
    due_.put(prediction, !prediction.follows && leaves_time);
    clock_ += costs_.steps.insert;
    begins_known_ = false;
}

/// The deregistration condition: the range is given back if it can be registered again before its earliest deadline.
void Helper::consider_giving_back(Range range, bool may_linger) {
    std::optional<Cache::Found> const region = cache_->region_of(range);
    if (!region || region->uses > 0) return;
    clock_ += costs_.steps.update;
    Time const deadline = due_.earliest(region->range);
    cache_->set_next_use(region->range, deadline);
    if (deadline != k_never && clock_ + remove_cost(region->range) + to_register_again(region->range) > deadline) {
        ++counters_.kept;
        return;
    }
    if (may_linger) return linger(region->range);
    give_back(region->range);
}

/// The program may use it again at once, as in loops over directions: waiting costs no more than the wrong choice.
void Helper::linger(Range range) {
    if (lingering_end_ - lingering_first_ == lingering_.size()) return give_back(range);
    lingering_[lingering_end_++ % lingering_.size()] = {range, clock_ + remove_cost(range) + add_cost(range)};
}

void Helper::end_lingering() {
    if (lingering_first_ == lingering_end_) return;
    Lingering const first = lingering_[lingering_first_ % lingering_.size()];
    if (first.until > clock_) return;
    ++lingering_first_;
    consider_giving_back(first.range, false);
}

void Helper::give_back(Range range) {
    Cache::Done const done = cache_->give_back(range);
    if (!done.done) return;
    clock_ += done.cost;
    costs_.remove.learn(pages_of(range), done.cost);
    begins_known_ = false;
}

/// A program may use the begin of a buffer for smaller messages: pinned twice, such pages would count twice.
void Helper::give_back_inside(Range range) {
    for (Cache::Done done = cache_->give_back_inside(range); done.done; done = cache_->give_back_inside(range)) {
        clock_ += done.cost;
        begins_known_ = false;
    }
}

Time Helper::to_register_again(Range range) const noexcept {
    return costs_.steps.event + costs_.steps.insert + add_cost(range) + costs_.steps.update + options_.reaction;
}

/// Regions that were forgotten; and, if events were dropped, those whose end was never told.
void Helper::look_for_strays() {
    std::uint64_t const dropped = events_->dropped();
    if (cache_->strays() == 0 && dropped == dropped_seen_) return;
    Cache::Done const done = cache_->give_back_stray();
    clock_ += done.cost;
    if (!done.done) dropped_seen_ = dropped;
}

/// A region whose predictions have moved on to another range is found by no deadline.
void Helper::sweep() {
    if (clock_ < swept_ + k_between_sweeps || !events_->is_empty()) return;
    swept_ = clock_;
    std::uint32_t place = 0;
    while (std::optional<Range> const unused = cache_->next_unused(place))
        if (due_.earliest(*unused) == k_never) give_back(*unused);
}

/// Not while something is told that was not heard yet: it may be the use.
void Helper::give_up_overdue() {
    if (!events_->is_empty()) return;
    for (Due& due : due_.all()) {
        if (due.looked_at() + options_.reaction > clock_) continue;
        Prediction const wrong = due.prediction;
        if (!due.is_missed) {
            accuracy_.miss();
            predictor_->missed(wrong.signature);
        }
        due.is_missed = true;
        due.is_pending = false;
        if (due.looked_at() + options_.reaction > clock_) return;
        due_.erase(wrong.signature);
        begins_known_ = false;
        consider_giving_back(wrong.range, false);
        return;  // one a turn
    }
}

/// The registration condition: a range waits as long as one event can be served and the range registered in time. Where
/// the peak stays as it is, it begins a margin earlier.
void Helper::register_due() {
    if (!begins_known_) find_begins();
    for (Due& due : due_.all())
        if (due.is_pending && moment_of(due) <= clock_) return register_ahead(due);
}

/// From the last deadline to the first: a registration ends before that of the next one must begin, so that near
/// neighbours are all in time (Li et al. 2011, "Adjusting Registration Deadlines").
void Helper::find_begins() {
    Time next = k_never;
    std::span<Due> const dues = due_.all();
    for (auto due = dues.rbegin(); due != dues.rend(); ++due) {
        Range const range = due->prediction.range;
        due->is_pending = !due->waits && !due->is_done && !due->is_missed && !cache_->region_of(range);
        if (!due->is_pending) continue;
        if (next < due->prediction.deadline) ++counters_.spread;
        due->begin = std::min(due->prediction.deadline, next) - remove_cost(range) - to_register_again(range);
        due->early = due->begin - margin_.of(due->prediction.period);
        next = due->begin;
    }
    begins_known_ = true;
}

void Helper::register_ahead(Due& due) {
    Range const range = due.prediction.range;
    if (would_raise_peak(range) && clock_ < due.prediction.deadline && cache_->is_used_inside(range)) {
        due.begin = clock_ + add_cost(range);  // pages of it are pinned: a moment later they are not
        return;
    }
    due.is_done = true;
    due.is_pending = false;
    begins_known_ = false;
    give_back_inside(range);
    if (would_raise_peak(range)) {
        if (due.prediction.is_guess) {
            ++counters_.guesses_denied;
            return;
        }
        make_way_for(due);
    }
    Cache::Done const done = cache_->warm(range, due.prediction.deadline);
    clock_ += done.cost;
    if (done.failure != Failure::none) ++counters_.failed;
    if (!done.done) return;
    costs_.add.learn(pages_of(range), done.cost);
    cache_->set_next_use(range, due.prediction.deadline);
}

/// Guesses never raise the peak: those that were carried out make way for what is known.
void Helper::make_way_for(Due const& due) {
    for (Due& guess : due_.all()) {
        if (!guess.prediction.is_guess || !guess.is_done || &guess == &due) continue;
        std::optional<Cache::Found> const region = cache_->region_of(guess.prediction.range);
        if (!region || region->uses > 0 || !(region->range == whole_pages(guess.prediction.range))) continue;
        if (due_.earliest(region->range) != guess.prediction.deadline) continue;  // it serves what is known, too
        give_back(region->range);
        ++counters_.guesses_denied;
        if (!would_raise_peak(due.prediction.range)) return;
    }
}

bool Helper::would_raise_peak(Range range) const noexcept {
    return cache_->pinned().count + whole_pages(range).bytes > cache_->peak().count;
}

Time Helper::next_moment() const {
    if (!events_->is_empty() || cache_->strays() > 0 || events_->dropped() != dropped_seen_) return clock_;
    if (!begins_known_) return clock_;
    Time next = k_never;
    if (lingering_first_ != lingering_end_) next = lingering_[lingering_first_ % lingering_.size()].until;
    for (Due const& due : due_.all()) {
        next = std::min(next, due.looked_at() + options_.reaction);
        if (due.is_pending) next = std::min(next, moment_of(due));
    }
    if (cache_->pinned().count > 0) next = std::min(next, swept_ + k_between_sweeps);
    return std::max(next, clock_);
}

}  // namespace sluice::memory::registration
