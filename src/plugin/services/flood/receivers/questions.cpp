// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/receivers/questions.hpp"

#include "groups/tags.hpp"

namespace sluice::plugin {

namespace {

constexpr int k_question = groups::tags::k_flood_questions[0];
constexpr int k_answer = groups::tags::k_flood_questions[1];

/// After an error there is nothing to wait for.
bool is_pending(MPI_Request& request) {
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) request = MPI_REQUEST_NULL;
    return request != MPI_REQUEST_NULL;
}

}  // namespace

bool Questions::is_open(Asked& asked) {
    bool const waits = asked.answer != MPI_REQUEST_NULL;
    bool const pending = is_pending(asked.answer);
    if (waits && !pending) asked.completed = asked.coming;
    return is_pending(asked.question) || pending;
}

std::optional<std::uint64_t> Questions::answer_of(int rank) {
    Asked& asked = place_of(rank);
    if (asked.rank != rank) return std::nullopt;
    is_open(asked);
    return asked.completed;
}

void Questions::ask(int rank, Time now) {
    Asked& asked = place_of(rank);
    if (is_open(asked) || (asked.rank == rank && now - asked.at < k_pause)) return;
    if (asked.rank != rank) asked = Asked();
    asked.rank = rank;
    asked.at = now;
    if (MPI_Irecv(&asked.coming, 1, MPI_UINT64_T, rank, k_answer, all_, &asked.answer) != MPI_SUCCESS) return;
    if (MPI_Isend(nullptr, 0, MPI_BYTE, rank, k_question, all_, &asked.question) != MPI_SUCCESS)
        MPI_Cancel(&asked.answer);
}

bool Questions::reply(std::uint64_t completed) {
    if (is_pending(telling_)) return false;
    int came = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, k_question, all_, &came, &status) != MPI_SUCCESS || came == 0) return false;
    int const rank = status.MPI_SOURCE;
    if (MPI_Recv(nullptr, 0, MPI_BYTE, rank, k_question, all_, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    told_ = completed;
    return MPI_Isend(&told_, 1, MPI_UINT64_T, rank, k_answer, all_, &telling_) == MPI_SUCCESS;
}

bool Questions::is_open() {
    bool open = is_pending(telling_);
    for (Asked& asked : asked_)
        open = is_open(asked) || open;
    return open;
}

}  // namespace sluice::plugin
