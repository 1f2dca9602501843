// SPDX-License-Identifier: BSD-3-Clause
/// MPI_Waitall made of tests, for Open MPI 4.1.4: where its level is above MPI_THREAD_SINGLE, its own hangs if a
/// request of several has failed when the call comes, for it leaves out the wait and then waits for the signal of its
/// end.
///
///     the program asks for statuses   MPI_Testall, once: what is complete already, it ends as MPI_Waitall does
///     else, or one is not complete    MPI_Testsome until no request is active, or one has failed
///
/// Of many requests MPI_Testsome is mostly given a window, the first of which may be active, and all of them so often
/// that this costs no more than the windows: a failure is found wherever it is, and each request is asked for.
///
/// Like MPI_Waitall, MPI_Testsome ends what is complete, tells the error handler once, and frees the requests that have
/// failed, persistent ones, too; MPI_Testall loses the error of persistent ones. As with MPI_Waitall the requests that
/// are pending beside one that failed stay pending; of many requests also one that fails while the error of another is
/// told. If the handler leaves by a jump, the statuses of the requests that were complete together with the one that
/// failed are not told.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>

namespace sluice::plugin {

/// An element for each request, not set; on the stack if they are few.
template <class Element>
class PerRequest {
  public:
    explicit PerRequest(int count) noexcept {
        auto const many = static_cast<std::size_t>(std::max(count, 0));
        if (many > few_.size()) many_.reset(new (std::nothrow) Element[many]);
        begin_ = many > few_.size() ? many_.get() : few_.data();
    }
    PerRequest(PerRequest const&) = delete;
    PerRequest& operator=(PerRequest const&) = delete;
    /// Null if there is no memory.
    Element* get() const noexcept { return begin_; }
    Element& operator[](int i) const noexcept { return begin_[i]; }

  private:
    std::array<Element, 32> few_;
    std::unique_ptr<Element[]> many_;
    Element* begin_;
};

class WaitAll {
  public:
    /// MPI may be asked about all of them, and none is a null pointer.
    WaitAll(int count, MPI_Request* requests, MPI_Status* statuses) noexcept
        : count_(count),
          requests_(requests),
          statuses_(statuses),
          places_(count),
          found_(tells() ? count : 0),
          is_told_(tells() ? count : 0) {
        if (tells() && is_told_.get() != nullptr) std::fill_n(is_told_.get(), count_, false);
    }
    WaitAll(WaitAll const&) = delete;
    WaitAll& operator=(WaitAll const&) = delete;

    bool has_room() const noexcept {
        return places_.get() != nullptr && found_.get() != nullptr && is_told_.get() != nullptr;
    }

    /// Tests once, by MPI's functions `Test`, `Testall`, `Testsome` and `Request_get_status` of `mpi`. Gives the error
    /// code; with one, or if `done`, the wait is over.
    template <class Mpi>
    int test(Mpi const& mpi, int* done) {
        if (!begun_ && tells()) {
            begun_ = true;
            int const code = mpi.Testall(count_, requests_, done, statuses_);
            if (code != MPI_SUCCESS || *done != 0) return code;
        }
        bool const tests_all = rounds_until_all_ == 0;
        rounds_until_all_ = tests_all ? count_ / k_window : rounds_until_all_ - 1;
        return tests_all ? test_all(mpi, done) : test_window(mpi, done);
    }

  private:
    static constexpr int k_window = 64;

    bool tells() const noexcept { return statuses_ != MPI_STATUSES_IGNORE; }

    template <class Mpi>
    int test_all(Mpi const& mpi, int* done) {
        int number = 0;
        int const code = test_some(mpi, 0, count_, &number);
        *done = code != MPI_SUCCESS || number == MPI_UNDEFINED ? 1 : 0;
        if (*done != 0 && tells()) end_others(mpi);
        return code;
    }

    template <class Mpi>
    int test_window(Mpi const& mpi, int* done) {
        int number = 0;
        int const end = std::min(count_, first_ + k_window);
        int const code = test_some(mpi, first_, end, &number);
        if (number == MPI_UNDEFINED) first_ = end;
        *done = code != MPI_SUCCESS || first_ == count_ ? 1 : 0;
        if (code != MPI_SUCCESS || (*done != 0 && tells())) end_others(mpi);
        return code;
    }

    template <class Mpi>
    int test_some(Mpi const& mpi, int begin, int end, int* number) {
        int const code = mpi.Testsome(end - begin, requests_ + begin, number, places_.get(),
                                      tells() ? found_.get() : MPI_STATUSES_IGNORE);
        for (int i = 0; tells() && i < *number; ++i) {
            statuses_[begin + places_[i]] = found_[i];
            is_told_[begin + places_[i]] = true;
        }
        return code;
    }

    /// Those that were not active, and those beside one that has failed, which are ended if they are complete now.
    template <class Mpi>
    void end_others(Mpi const& mpi) {
        for (int i = 0; i < count_; ++i) {
            if (tells() && is_told_[i]) continue;
            int is_over = 0;
            MPI_Status status{};
            mpi.Request_get_status(requests_[i], &is_over, &status);
            bool const is_pending = is_over == 0 || status.MPI_ERROR != MPI_SUCCESS;
            if (!is_pending && requests_[i] != MPI_REQUEST_NULL) mpi.Test(&requests_[i], &is_over, &status);
            if (!tells()) continue;
            if (is_pending)
                statuses_[i].MPI_ERROR = MPI_ERR_PENDING;
            else
                statuses_[i] = status;
        }
    }

    int count_;
    MPI_Request* requests_;
    MPI_Status* statuses_;
    bool begun_ = false;
    int first_ = 0;  // those before it are not active
    int rounds_until_all_ = 0;
    PerRequest<int> places_;
    PerRequest<MPI_Status> found_;
    PerRequest<bool> is_told_;
};

}  // namespace sluice::plugin
