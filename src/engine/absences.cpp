// SPDX-License-Identifier: BSD-3-Clause
#include "engine/absences.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <string_view>

#include "engine/told_line.hpp"
#include "groups/nonblocking_barrier.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::engine {

namespace {

constexpr int k_tag_of_absences = groups::tags::k_absences.first;
constexpr unsigned k_polls_between_probes = 64;
#ifdef SLUICE_SIMULATED
constexpr bool k_is_possible = false;  // the simulator finds ranks that wait for ever, and each probe would take time
#else
constexpr bool k_is_possible = true;
#endif

}  // namespace

Absences::~Absences() {
    if (!mpi::is_running()) return;
    for (Sent& sent : sent_)  // only if MPI failed
        if (sent.request != MPI_REQUEST_NULL) MPI_Request_free(&sent.request);
}

Absences::Name Absences::name_of(char const* call) noexcept {
    Name name{};
    if (call != nullptr) std::memcpy(name.data(), call, std::min(std::strlen(call), name.size() - 1));
    return name;
}

Absences::Wait::Wait(Absences& absences, char const* call) noexcept {
    absences.call_ = call;
    ++absences.entered_;
    absences.clock_ = {};
    absences.stage_ = Stage::waits;
}

bool Absences::is_due() {
    if (!k_is_possible) return false;
    receive();
    return clock_.look(MPI_Wtime()) >= after_ && after_ > 0 && stage_ != Stage::over;
}

void Absences::look() {
    if (!is_due()) return;
    try {
        if (stage_ == Stage::waits) {
            here_.assign(static_cast<std::size_t>(size_), false);
            elsewhere_.clear();
            stage_ = rank_ < most_lines_ ? Stage::asks_all : Stage::asks_first;
            ask(0, stage_ == Stage::asks_first ? most_lines_ : size_);
        } else if (has_answers()) {
            conclude();
        }
    } catch (std::bad_alloc const&) {
        stage_ = Stage::over;  // the line is all that is lost
    }
}

void Absences::ask(int first, int last) {
    ++number_;
    asked_ = 0;
    answered_ = 0;
    another_tells_ = false;
    asked_at_ = clock_.waited();
    for (int rank = first; rank < last; ++rank)
        if (rank != rank_ && send(rank, {Kind::ask, 0, number_, entered_, name_of(call_)})) {
            ++asked_;
            ++unanswered_;
            has_asked_ = true;
        }
}

/// A rank that waits in a call of this context answers at once, so one that is silent for long is not there.
bool Absences::has_answers() const noexcept {
    if (answered_ == asked_) return true;
    return answers_of_test_ >= 0 ? answered_ >= answers_of_test_ : clock_.waited() - asked_at_ >= after_ / 2;
}

void Absences::conclude() {
    if (stage_ == Stage::asks_first) {
        if (another_tells_) {
            stage_ = Stage::over;
        } else {
            stage_ = Stage::asks_all;
            ask(most_lines_, size_);
        }
        return;
    }
    std::string const missing_ranks = missing();
    if (!missing_ranks.empty())
        tell(missing_ranks);
    else
        stage_ = Stage::over;  // the last rank has entered the call meanwhile
    here_ = {};
    elsewhere_.clear();
}

/// " for 2 ranks that have not entered it: rank 1 (in Store::finish), rank 3 (no answer)", or nothing.
std::string Absences::missing() const {
    std::string ranks;
    int count = 0;
    for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_ || here_[static_cast<std::size_t>(rank)] || ++count > k_most_named) continue;
        auto const found = elsewhere_.find(rank);
        ranks += (count == 1 ? "rank " : ", rank ") + std::to_string(rank) +
                 (found != elsewhere_.end() ? " (in " + found->second + ")" : " (no answer)");
    }
    if (count == 0) return "";
    if (count > k_most_named) ranks += " and " + std::to_string(count - k_most_named) + " more";
    return (count == 1 ? " for 1 rank that has not entered it: "
                       : " for " + std::to_string(count) + " ranks that have not entered it: ") +
           ranks;
}

void Absences::tell(std::string_view for_whom) {
    stage_ = Stage::over;
    after_ *= 2;
    try {
        tell_line("rank " + std::to_string(rank_) + " has waited " + std::to_string(std::lround(clock_.waited())) +
                  " s in " + call_ + std::string(for_whom));
        ++lines_;
    } catch (std::bad_alloc const&) {
        return;  // the line is all that is lost
    }
}

bool Absences::poll() {
    if (k_is_possible && ++polls_ % k_polls_between_probes == 0) receive();
    return false;
}

void Absences::receive() {
    for (;;) {
        int found = 0;
        MPI_Status status;
        mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, k_tag_of_absences, comm_, &found, &status), "MPI_Iprobe");
        if (found == 0) break;
        Message message;
        mpi::check(MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, k_tag_of_absences, comm_,
                            MPI_STATUS_IGNORE),
                   "MPI_Recv");
        if (message.kind == Kind::ask)
            answer(status.MPI_SOURCE, message);
        else
            take(status.MPI_SOURCE, message);
    }
    if (!sent_.empty()) forget_sent();
}

void Absences::answer(int to, Message const& question) {
    bool const is_here =
        entered_ > question.entered || (entered_ == question.entered && name_of(call_) == question.call);
    send(to,
         {is_here ? Kind::here : Kind::elsewhere, after_ > 0 ? 1U : 0U, question.number, 0, name_of(guard_->call())});
}

void Absences::take(int from, Message const& answer) {
    --unanswered_;
    if (answer.number != number_ || stage_ == Stage::over || stage_ == Stage::waits) return;
    ++answered_;
    if (answer.kind == Kind::here) {
        here_[static_cast<std::size_t>(from)] = true;
        another_tells_ = another_tells_ || answer.tells != 0;
        return;
    }
    try {
        elsewhere_.emplace(from, answer.call.data());
        if (elsewhere_.size() > static_cast<std::size_t>(k_most_named)) elsewhere_.erase(std::prev(elsewhere_.end()));
    } catch (std::bad_alloc const&) {
        stage_ = Stage::over;  // the line is all that is lost
    }
}

/// Returns false if MPI cannot send to that rank, which then counts as one that does not answer. Without memory for a
/// message that has not left, this waits until it has: its receiver stores a message of so few bytes.
bool Absences::send(int to, Message const& message) {
    try {
        sent_.push_front({message, MPI_REQUEST_NULL});
    } catch (std::bad_alloc const&) {
        return MPI_Send(&message, sizeof message, MPI_BYTE, to, k_tag_of_absences, comm_) == MPI_SUCCESS;
    }
    Sent& sent = sent_.front();
    if (MPI_Isend(&sent.message, sizeof sent.message, MPI_BYTE, to, k_tag_of_absences, comm_, &sent.request) !=
        MPI_SUCCESS) {
        sent_.pop_front();
        return false;
    }
    int done = 0;
    if (MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0) sent_.pop_front();
    return true;
}

void Absences::forget_sent() {
    std::erase_if(sent_, [](Sent& sent) { return mpi::is_complete(sent.request); });
}

void Absences::settle() {
    stage_ = Stage::over;
    while (unanswered_ > 0) {
        receive();
        sched_yield();
    }
    // A rank that has all its answers may still be asked by others.
    groups::NonblockingBarrier barrier(comm_, groups::tags::k_absences[1]);
    while (!barrier.is_passed()) {
        receive();
        sched_yield();
    }
    while (!sent_.empty())
        forget_sent();
    has_asked_ = false;
}

}  // namespace sluice::engine
