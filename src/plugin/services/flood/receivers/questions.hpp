// SPDX-License-Identifier: BSD-3-Clause
/// How far receivers of other nodes are. A rank whose send is held asks its receiver, which answers at its next call of
/// MPI; no answer means that it does not move. Nothing is sent unless a send is held for a while.
///
///     held rank ── question ──> receiver: computes … next MPI call ── how many receives it has completed ──> held rank
///
/// At most one question to a rank is open. All are answered before MPI_Finalize, so no message is left over.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice::plugin {

class Questions {
  public:
    using Time = std::chrono::steady_clock::time_point;
    explicit Questions(MPI_Comm all) noexcept : all_(all) {}
    Questions(Questions const&) = delete;
    Questions& operator=(Questions const&) = delete;

    /// What `rank` has last answered; nothing if it never did.
    std::optional<std::uint64_t> answer_of(int rank);
    /// Asks it, unless a question is open or the last one was a moment ago.
    void ask(int rank, Time now);
    /// Answers a rank that has asked, if there is one: returns true then.
    bool reply(std::uint64_t completed);
    /// True if a question of this rank is not answered yet.
    bool is_open();

  private:
    struct Asked {
        int rank = -1;  // −1: unused
        Time at{};
        MPI_Request question = MPI_REQUEST_NULL;
        MPI_Request answer = MPI_REQUEST_NULL;
        std::uint64_t coming = 0;                // the answer is received here
        std::optional<std::uint64_t> completed;  // the last one that came
    };
    static constexpr std::size_t k_asked = 16;
    static constexpr std::chrono::milliseconds k_pause{2};

    Asked& place_of(int rank) noexcept { return asked_[static_cast<std::size_t>(rank) % k_asked]; }
    static bool is_open(Asked& asked);

    MPI_Comm all_;
    std::array<Asked, k_asked> asked_{};
    std::uint64_t told_ = 0;  // leaves from here
    MPI_Request telling_ = MPI_REQUEST_NULL;
};

}  // namespace sluice::plugin
