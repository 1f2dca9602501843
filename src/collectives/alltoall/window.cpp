// SPDX-License-Identifier: BSD-3-Clause
/// A message for each pair, straight from one buffer into the other, and a bounded number of them under way:
///
///     distance   1    2    3    4   …     rank me sends to me + d and receives from me - d, in the order of distances
///              [out][out]──> sends        a message starts when one before it is complete, in any order
///              [in ][in ]──> receives
///
/// With as many tokens as peers everything is under way at once; with one token it is a pairwise exchange. Ranks may
/// have different numbers of tokens. It always ends: take the message of the smallest distance that is not complete.
/// Its sender has finished all that it sends before, its receiver all that it receives before, so both have started it.
#include <array>
#include <vector>

#include "collectives/alltoall/block_message.hpp"
#include "collectives/alltoall/own_block.hpp"
#include "collectives/alltoall/tokens.hpp"
#include "engine/patience.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

std::uint64_t largest_block(Problem const& problem) noexcept {
    std::uint64_t most = 0;
    for (int member = 0; member < problem.size; ++member)
        if (member != problem.rank) most = std::max({most, problem.bytes_to(member), problem.bytes_from(member)});
    return most;
}

class Window {
  public:
    Window(Problem const& problem, AlltoallOutcome& outcome)
        : problem_(problem), outcome_(outcome), tokens_(problem, largest_block(problem)) {
        requests_.fill(MPI_REQUEST_NULL);
    }
    Window(Window const&) = delete;
    Window& operator=(Window const&) = delete;
    /// If MPI failed, cancels what is open.
    ~Window() {
        for (MPI_Request& request : requests_)
            if (request != MPI_REQUEST_NULL) {
                MPI_Cancel(&request);
                MPI_Request_free(&request);
            }
    }

    void run() {
        start();
        copy_own_block(problem_, outcome_);
        engine::Patience patience({.spins = problem_.spins});
        while (under_way_ > 0) {
            bool const moved = test();
            if (moved) start();
            patience.after(moved);
            if (patience.in_vain() % k_looks_in_vain == k_looks_in_vain - 1)
                problem_.look([this] { return under_way(); });
        }
    }

  private:
    /// Starts messages for all tokens that are free: receives in even places, sends in odd ones.
    void start() {
        int const tag = groups::tags::k_alltoalls[0];
        for (std::size_t token = 0; token < tokens_.count(); ++token) {
            MPI_Request& in = requests_[2 * token];
            for (; in == MPI_REQUEST_NULL && next_in_ < problem_.size; ++next_in_) {
                int const member = (problem_.rank - next_in_ + problem_.size) % problem_.size;
                if (problem_.bytes_from(member) == 0) continue;
                receive_block(problem_, member, tag, in);
                members_[2 * token] = member;
                ++under_way_;
            }
            MPI_Request& out = requests_[2 * token + 1];
            for (; out == MPI_REQUEST_NULL && next_out_ < problem_.size; ++next_out_) {
                int const member = (problem_.rank + next_out_) % problem_.size;
                if (problem_.bytes_to(member) == 0) continue;
                send_block(problem_, member, tag, out);
                members_[2 * token + 1] = member;
                ++under_way_;
                ++outcome_.messages;
            }
        }
        outcome_.most_under_way =
            std::min<std::uint64_t>(tokens_.count(), static_cast<std::uint64_t>(problem_.size) - 1);
    }
    std::vector<int> under_way() const {
        std::vector<int> members;
        for (std::size_t i = 0; i < requests_.size(); ++i)
            if (requests_[i] != MPI_REQUEST_NULL) members.push_back(members_[i]);
        return members;
    }
    bool test() {
        std::array<int, 2 * Tokens::k_most> which;
        int completed = 0;
        mpi::check(MPI_Testsome(static_cast<int>(2 * tokens_.count()), requests_.data(), &completed, which.data(),
                                MPI_STATUSES_IGNORE),
                   "MPI_Testsome");
        if (completed == MPI_UNDEFINED) return false;
        under_way_ -= completed;
        return completed > 0;
    }

    Problem const& problem_;
    AlltoallOutcome& outcome_;
    Tokens tokens_;
    std::array<MPI_Request, 2 * Tokens::k_most> requests_;
    std::array<int, 2 * Tokens::k_most> members_{};  // of the messages that are under way
    int next_in_ = 1;
    int next_out_ = 1;
    int under_way_ = 0;
};

}  // namespace

void run_window(Problem const& problem, AlltoallOutcome& outcome) {
    Window(problem, outcome).run();
}

}  // namespace sluice::collectives
