// SPDX-License-Identifier: BSD-3-Clause
/// The calls that complete requests, beside receives that are under way: all as tests in the program's turn. MPI_Wait
/// and MPI_Waitall return when the messages of their receives are matched, the others when the data are there.
#pragma once

#include <memory>
#include <new>

#include "plugin/services/job.hpp"
#include "plugin/services/overlap/receiving.hpp"
#include "plugin/services/requests/answer_places.hpp"
#include "plugin/services/requests/translated.hpp"
#include "plugin/services/requests/wait_all.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

/// MPICH 4.0.2 takes the requests of an MPI_Testall for its own kinds if the last 64 of them are, where the program
/// asks for no statuses: a ticket among the others ends the job. So it is asked for statuses.
class StatusesOf {
  public:
    StatusesOf([[maybe_unused]] int count, MPI_Status* statuses) noexcept : statuses_(statuses) {
#ifdef MPICH
        constexpr int k_batch = 64;
        if (statuses != MPI_STATUSES_IGNORE || count <= k_batch) return;
        own_.reset(new (std::nothrow) MPI_Status[static_cast<std::size_t>(count)]);
        if (own_) statuses_ = own_.get();
#endif
    }
    MPI_Status* get() const noexcept {
        return statuses_;
    }

  private:
    std::unique_ptr<MPI_Status[]> own_;
    MPI_Status* statuses_;
};

/// A test of requests in the place of a call that waits for them, with the links of the services that follow.
template <class Chain, class Translation, class... Arguments>
int ask(Chain const& chain, Receiving& receiving, Call& call, Translation translation, typename Chain::Below below,
        Arguments... arguments) {
    typename Chain::Translation translated = nullptr;
    if (!call.job().owned.empty()) translated = translation;
    return chain.run_after(&receiving, call, translated, below, arguments...);
}

/// A call that MPI refuses: not as a test, which may be refused in another way.
template <class Next, class... Arguments>
int refused(Receiving& receiving, Next const& next, Arguments... arguments) {
    return receiving.in_turn([&] { return next(arguments...); });
}

#ifdef OPEN_MPI
/// What a wait for all is made of (wait_all.hpp), each test like one of the program in its turn.
struct Asked {
    Receiving& receiving;
    Call& call;

    int Test(MPI_Request* request, int* done, MPI_Status* status) const {
        return ask(call.job().chains.Test, receiving, call, Translated<false>::Test, MPI_Test, request, done, status);
    }
    int Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) const {
        return ask(call.job().chains.Testall, receiving, call, Translated<false>::Testall, MPI_Testall, count, requests,
                   done, statuses);
    }
    int Testsome(int count, MPI_Request* requests, int* number, int* places, MPI_Status* statuses) const {
        return ask(call.job().chains.Testsome, receiving, call, Translated<false>::Testsome, MPI_Testsome, count,
                   requests, number, places, statuses);
    }
    int Request_get_status(MPI_Request request, int* done, MPI_Status* status) const {
        return ask(call.job().chains.Request_get_status, receiving, call, Translated<false>::Request_get_status,
                   MPI_Request_get_status, request, done, status);
    }
};
#endif

struct CompletionLinks {
    static constexpr auto Test = [](Receiving& receiving, Call&, auto next, auto... arguments) {
        if (!receiving.any()) [[likely]]
            return next(arguments...);
        return receiving.in_turn([&] {
            receiving.receives().advance();
            return next(arguments...);
        });
    };
    static constexpr auto Testall = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                       int* done, MPI_Status* statuses) {
        if (!receiving.any()) [[likely]]
            return next(count, requests, done, statuses);
        StatusesOf const asked(count, statuses);
        return Test(receiving, call, next, count, requests, done, asked.get());
    };
    static constexpr auto Testany = Test;
    static constexpr auto Testsome = Test;

    static constexpr auto Wait = [](Receiving& receiving, Call& call, auto next, MPI_Request* request,
                                    MPI_Status* status) {
        if (receiving.may_wait_in_mpi(request, 1)) [[likely]]
            return next(request, status);
        if (request == nullptr || lacks_a_place(status)) return refused(receiving, next, request, status);
        return receiving.until_complete(true, request, 1, [&](int* done) {
            return ask(call.job().chains.Test, receiving, call, Translated<false>::Test, MPI_Test, request, done,
                       status);
        });
    };
    static constexpr auto Waitall = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                       MPI_Status* statuses) {
        if (receiving.may_wait_in_mpi(requests, count)) [[likely]]
            return next(count, requests, statuses);
        if (lacks_a_place_of(count, requests, statuses)) return refused(receiving, next, count, requests, statuses);
#ifdef OPEN_MPI
        if (WaitAll all(count, requests, statuses); count > 0 && requests != nullptr && all.has_room())
            return receiving.until_complete(true, requests, count, [&](int* done) {
                return all.test(Asked{receiving, call}, done);
            });
#endif
        StatusesOf const asked(count, statuses);
        return receiving.until_complete(true, requests, count, [&](int* done) {
            return ask(call.job().chains.Testall, receiving, call, Translated<false>::Testall, MPI_Testall, count,
                       requests, done, asked.get());
        });
    };
    static constexpr auto Waitany = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                       int* index, MPI_Status* status) {
        if (receiving.may_wait_in_mpi(requests, count)) [[likely]]
            return next(count, requests, index, status);
        if (lacks_a_place_of(count, requests, status, index))
            return refused(receiving, next, count, requests, index, status);
        return receiving.until_complete(false, requests, count, [&](int* done) {
            return ask(call.job().chains.Testany, receiving, call, Translated<false>::Testany, MPI_Testany, count,
                       requests, index, done, status);
        });
    };
    static constexpr auto Waitsome = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                        int* number, int* indices, MPI_Status* statuses) {
        if (receiving.may_wait_in_mpi(requests, count)) [[likely]]
            return next(count, requests, number, indices, statuses);
        if (lacks_a_place_of(count, requests, statuses, number, indices))
            return refused(receiving, next, count, requests, number, indices, statuses);
        return receiving.until_complete(false, requests, count, [&](int* done) {
            int const code = ask(call.job().chains.Testsome, receiving, call, Translated<false>::Testsome, MPI_Testsome,
                                 count, requests, number, indices, statuses);
            *done = *number != 0 ? 1 : 0;
            return code;
        });
    };
};

}  // namespace sluice::plugin
