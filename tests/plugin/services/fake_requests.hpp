// SPDX-License-Identifier: BSD-3-Clause
/// Requests of an MPI that exists in the test alone: handles that become complete when the test says so, and the calls
/// on them with MPI's semantics. A call that waits lets requests become complete as MPI's own would.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <map>
#include <vector>

#include "plugin/handles.hpp"

namespace sluice::plugin::tests {

class FakeRequests {
  public:
    struct State {
        int tag = 0;
        bool persistent = false;
        bool active = false;
        bool ready = false;
        int error = MPI_SUCCESS;
        int started = 0;
        int cancels = 0;
    };
    int calls = 0;
    bool writes_errors = false;  // in each status of a call for several requests, as Open MPI does

    MPI_Request make(int tag, bool persistent = false) {
        MPI_Request const made = handle_number(1000 + ++made_);
        State state;
        state.tag = tag;
        state.persistent = persistent;
        state.active = !persistent;
        states_[made] = state;
        return made;
    }
    State& operator[](MPI_Request request) {
        static State unknown;
        auto const found = states_.find(request);
        EXPECT_NE(found, states_.end()) << "MPI was given a handle that it does not know";
        return found != states_.end() ? found->second : unknown;
    }
    bool knows(MPI_Request request) const { return states_.count(request) > 0; }
    std::size_t open() const { return states_.size(); }
    bool is_idle(MPI_Request request) { return request == MPI_REQUEST_NULL || !(*this)[request].active; }

    int wait(MPI_Request* request, MPI_Status* status) {
        ++calls;
        if (!is_idle(*request)) (*this)[*request].ready = true;
        return take(request, status);
    }
    int test(MPI_Request* request, int* flag, MPI_Status* status) {
        ++calls;
        *flag = is_idle(*request) || (*this)[*request].ready ? 1 : 0;
        return *flag != 0 ? take(request, status) : MPI_SUCCESS;
    }
    int get_status(MPI_Request request, int* flag, MPI_Status* status) {
        ++calls;
        *flag = is_idle(request) || (*this)[request].ready ? 1 : 0;
        if (*flag != 0) tell(request, status);
        return MPI_SUCCESS;
    }
    int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
        for (int i = 0; i < count; ++i)
            if (!is_idle(requests[i])) (*this)[requests[i]].ready = true;
        int flag = 0;
        return testall(count, requests, &flag, statuses);
    }
    int testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
        ++calls;
        *flag = 0;
        for (int i = 0; i < count; ++i)
            if (!is_idle(requests[i]) && !(*this)[requests[i]].ready) return MPI_SUCCESS;
        *flag = 1;
        std::vector<int> errors;
        bool failed = false;
        for (int i = 0; i < count; ++i) {
            errors.push_back(take(&requests[i], statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE));
            failed = failed || errors.back() != MPI_SUCCESS;
        }
        for (int i = 0; (failed || writes_errors) && statuses != MPI_STATUSES_IGNORE && i < count; ++i)
            statuses[i].MPI_ERROR = errors[static_cast<std::size_t>(i)];
        return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
    }
    int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
        int flag = 0;
        int const code = testany(count, requests, index, &flag, status);
        if (flag != 0) return code;
        let_one_be_ready(count, requests);
        return testany(count, requests, index, &flag, status);
    }
    int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
        ++calls;
        bool one_active = false;
        for (int i = 0; i < count; ++i) {
            if (is_idle(requests[i])) continue;
            one_active = true;
            if (!(*this)[requests[i]].ready) continue;
            *index = i;
            *flag = 1;
            return take(&requests[i], status);
        }
        *index = MPI_UNDEFINED;
        *flag = one_active ? 0 : 1;
        MPI_Request none = MPI_REQUEST_NULL;
        return one_active ? MPI_SUCCESS : take(&none, status);
    }
    int waitsome(int count, MPI_Request* requests, int* number, int* indices, MPI_Status* statuses) {
        int const code = testsome(count, requests, number, indices, statuses);
        if (*number != 0) return code;
        let_one_be_ready(count, requests);
        return testsome(count, requests, number, indices, statuses);
    }
    int testsome(int count, MPI_Request* requests, int* number, int* indices, MPI_Status* statuses) {
        ++calls;
        bool one_active = false;
        bool failed = false;
        std::vector<int> errors;
        *number = 0;
        for (int i = 0; i < count; ++i) {
            if (is_idle(requests[i])) continue;
            one_active = true;
            if (!(*this)[requests[i]].ready) continue;
            indices[*number] = i;
            errors.push_back(
                take(&requests[i], statuses != MPI_STATUSES_IGNORE ? &statuses[*number] : MPI_STATUS_IGNORE));
            failed = failed || errors.back() != MPI_SUCCESS;
            ++*number;
        }
        for (std::size_t i = 0; (failed || writes_errors) && statuses != MPI_STATUSES_IGNORE && i < errors.size(); ++i)
            statuses[i].MPI_ERROR = errors[i];
        if (!one_active) *number = MPI_UNDEFINED;
        return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
    }
    int start(MPI_Request* request) { return startall(1, request); }
    int startall(int count, MPI_Request* requests) {
        ++calls;
        for (int i = 0; i < count; ++i) {
            State& state = (*this)[requests[i]];
            if (!state.persistent || state.active) return MPI_ERR_REQUEST;
            state.active = true;
            state.ready = false;
            ++state.started;
        }
        return MPI_SUCCESS;
    }
    int cancel(MPI_Request* request) {
        ++(*this)[*request].cancels;
        (*this)[*request].ready = true;
        return MPI_SUCCESS;
    }
    int free_request(MPI_Request* request) {
        ++calls;
        if (*request == MPI_REQUEST_NULL) return MPI_ERR_REQUEST;
        states_.erase(*request);
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }

  private:
    void let_one_be_ready(int count, MPI_Request const* requests) {
        for (int i = 0; i < count; ++i) {
            MPI_Request const request = requests[(i + calls) % count];
            if (is_idle(request)) continue;
            (*this)[request].ready = true;
            return;
        }
    }
    void tell(MPI_Request request, MPI_Status* status) {
        if (status == MPI_STATUS_IGNORE) return;
        bool const is_empty = is_idle(request);
        status->MPI_SOURCE = is_empty ? MPI_ANY_SOURCE : 7;
        status->MPI_TAG = is_empty ? MPI_ANY_TAG : (*this)[request].tag;
    }
    int take(MPI_Request* request, MPI_Status* status) {
        tell(*request, status);
        if (is_idle(*request)) return MPI_SUCCESS;
        State& state = (*this)[*request];
        int const error = state.error;
        state.active = false;
        state.ready = false;
        if (state.persistent) return error;
        states_.erase(*request);
        *request = MPI_REQUEST_NULL;
        return error;
    }

    std::map<MPI_Request, State> states_;
    std::uintptr_t made_ = 0;
};

}  // namespace sluice::plugin::tests
