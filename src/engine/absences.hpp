// SPDX-License-Identifier: BSD-3-Clause
/// Which ranks have not entered the collective call that this rank waits in: one line on standard error. It ends
/// nothing.
///
///     waits ──> the wait is old: all ranks are asked ──> all have answered, or the others are late ──> told
///                                                        (another line only for another wait, after twice the time)
///
/// Nothing is sent before a wait is old. A rank answers when it polls: inside any call on this context that waits. So a
/// rank that computes, has ended, or waits elsewhere does not answer.
///
/// A question may reach a rank that has just left the call. So questions are asked in the first step of a call only,
/// and each call has a later step that asks all ranks whether there were any (ContextState::most_of_all). If so,
/// settle() waits until every question has its answer, and no message is left when a communicator is freed.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/entry.hpp"
#include "engine/wait_clock.hpp"
#include "kernel/progress.hpp"

namespace sluice::engine {

/// One for each context.
class Absences final : public kernel::Pollable {
  public:
    /// A line names at most so many ranks, and counts the others.
    static constexpr int k_most_named = 8;
    /// In a larger job the other ranks leave the line to these, if one of them waits, too.
    static constexpr int k_most_lines = 64;

    /// `after`: seconds; 0: never.
    Absences(MPI_Comm comm, int rank, int size, double after, EntryGuard const& guard) noexcept
        : comm_(comm), rank_(rank), size_(size), after_(after), guard_(&guard) {}
    ~Absences();
    Absences(Absences const&) = delete;
    Absences& operator=(Absences const&) = delete;

    /// As long as it lives, this rank has entered the collective call `call`, a literal, and may wait there.
    class Wait {
      public:
        Wait(Absences& absences, char const* call) noexcept;
        Wait(Wait const&) = delete;
        Wait& operator=(Wait const&) = delete;
    };
    /// A rank that waits in the first step of a call calls it again and again. Answers, asks and tells.
    void look();
    /// The same for a call that knows by itself for whom it waits: only answers. Returns true when it is time to tell.
    bool is_due();
    /// Prints "rank 0 has waited 10 s in redistribute" and `for_whom`.
    void tell(std::string_view for_whom);

    /// The number of calls that this rank has entered; the maximum over all ranks replaces it in each meeting, because
    /// an exception may have kept a rank out of a call.
    std::uint64_t entered() const noexcept { return entered_; }
    void set_entered(std::uint64_t calls) noexcept { entered_ = calls; }

    /// Whether this rank has asked since the last settle().
    bool has_asked() const noexcept { return has_asked_; }
    /// Collective: returns when all questions of all ranks have been answered, and no message is under way.
    void settle();

    bool poll() override;
    void tell_endless(kernel::EndlessWaits&) override {}

    /// For tests: the lines so far.
    std::uint64_t lines() const noexcept { return lines_; }
    /// For tests: tells after `seconds`. If `answers` is not negative, a line is told when as many ranks have answered,
    /// however long that takes.
    void tell_after(double seconds, int answers, int most_lines = k_most_lines) noexcept {
        after_ = seconds;
        answers_of_test_ = answers;
        most_lines_ = std::min(most_lines, size_);
    }

  private:
    enum class Stage : std::uint8_t { waits, asks_first, asks_all, over };
    enum class Kind : std::uint32_t { ask, here, elsewhere };
    static constexpr std::size_t k_name = 48;
    using Name = std::array<char, k_name>;
    struct Message {
        Kind kind = Kind::ask;
        std::uint32_t tells = 0;    ///< here: whether the rank tells of long waits
        std::uint64_t number = 0;   ///< of the question
        std::uint64_t entered = 0;  ///< ask: Absences::entered()
        Name call{};                ///< ask: the call of the rank that asks; elsewhere: of the one that answers
    };
    struct Sent {
        Message message;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    static Name name_of(char const* call) noexcept;
    void ask(int first, int last);
    bool has_answers() const noexcept;
    void conclude();
    std::string missing() const;

    void receive();
    void answer(int to, Message const& question);
    void take(int from, Message const& answer);
    bool send(int to, Message const& message);
    void forget_sent();

    MPI_Comm comm_;
    int rank_;
    int size_;
    double after_;
    EntryGuard const* guard_;
    unsigned polls_ = 0;

    // The collective call that this rank has entered last.
    char const* call_ = "";
    std::uint64_t entered_ = 0;
    WaitClock clock_;
    Stage stage_ = Stage::over;

    // What was asked, and what is known.
    std::uint64_t number_ = 0;
    int asked_ = 0;  // ranks that were asked under this number
    int answered_ = 0;
    double asked_at_ = 0;
    bool another_tells_ = false;
    std::vector<bool> here_;                // a bit for each rank, from the first question of a wait to its line
    std::map<int, std::string> elsewhere_;  // the lowest ranks that are in another call
    int answers_of_test_ = -1;
    int most_lines_ = k_most_lines;

    bool has_asked_ = false;
    std::uint64_t unanswered_ = 0;
    std::list<Sent> sent_;  // messages that have not left
    std::uint64_t lines_ = 0;
};

}  // namespace sluice::engine
