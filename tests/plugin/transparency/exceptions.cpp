// SPDX-License-Identifier: BSD-3-Clause
// Functions that a program gives to MPI throw exceptions of the standard library, also std::bad_alloc, out of calls of
// MPI while services own requests of the program: they come to the program as they were thrown. What MPI has completed
// before is complete. Argument "flood": nonblocking sends that are held; "in_place": an MPI_Ialltoallw in place.
#include <mpi.h>

#include <array>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <vector>

extern "C" {
#include "transcript.h"
}

namespace {

enum class Thrown { bad_alloc, bad_array, length, runtime, system, number };
constexpr std::array k_all{Thrown::bad_alloc, Thrown::bad_array, Thrown::length,
                           Thrown::runtime,   Thrown::system,    Thrown::number};

int thrown = 0;
bool armed = false;
Thrown what = Thrown::bad_alloc;

void throw_it() {
    if (!armed) return;
    ++thrown;
    switch (what) {
        case Thrown::bad_alloc:
            throw std::bad_alloc();
        case Thrown::bad_array:
            throw std::bad_array_new_length();
        case Thrown::length:
            throw std::length_error("too long");
        case Thrown::runtime:
            throw std::runtime_error("at run time");
        case Thrown::system:
            throw std::system_error(std::make_error_code(std::errc::interrupted));
        case Thrown::number:
            throw 7;
    }
}

/// Says what came out of the call, and how often it was thrown.
template <class Call>
void see(char const* name, Call const& call) {
    std::string came = "nothing";
    thrown = 0;
    armed = true;
    try {
        call();
    } catch (std::exception const& error) {
        came = std::string(typeid(error).name()) + " " + error.what();
    } catch (int number) {
        came = std::to_string(number);
    }
    armed = false;
    say("%s: %s, thrown %d", name, came.c_str(), thrown);
}

void refused(MPI_Comm*, int*, ...) {
    throw_it();
}
int queries(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 0;
    status->MPI_TAG = 0;
    throw_it();
    return MPI_SUCCESS;
}
int frees(void*) {
    return MPI_SUCCESS;
}
int cancels(void*, int) {
    throw_it();
    return MPI_SUCCESS;
}
int copies(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    throw_it();
    return MPI_SUCCESS;
}

MPI_Comm refusing = MPI_COMM_NULL;  // its error handler throws
MPI_Comm quiet = MPI_COMM_NULL;

int right() {
    return (me + 1) % ranks;
}
int left() {
    return (me + ranks - 1) % ranks;
}

/// A request that a service owns, until the function ends.
class Owned {
  public:
    explicit Owned(bool in_place) : in_place_(in_place) {
        auto const n = static_cast<std::size_t>(ranks);
        data_.resize(n * k_ints);
        counts_.assign(n, k_ints);
        types_.assign(n, MPI_INT);
        for (std::size_t i = 0; i < n; ++i)
            places_.push_back(static_cast<int>(i * k_ints * sizeof(int)));
        if (in_place_) {
            MPI_Ialltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, data_.data(), counts_.data(), places_.data(),
                           types_.data(), quiet, &request);
            return;
        }
        for (MPI_Request& one : sends_)
            MPI_Isend(data_.data(), k_ints, MPI_INT, right(), 1, quiet, &one);
        request = sends_.back();
    }
    Owned(Owned const&) = delete;
    Owned& operator=(Owned const&) = delete;
    /// Completes what the call has left.
    void complete() {
        if (!in_place_) {
            for (std::size_t i = 0; i < sends_.size(); ++i)
                MPI_Recv(data_.data(), k_ints, MPI_INT, left(), 1, quiet, MPI_STATUS_IGNORE);
            sends_.back() = request;
            MPI_Waitall(k_sends, sends_.data(), MPI_STATUSES_IGNORE);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Request request = MPI_REQUEST_NULL;

  private:
    static constexpr int k_ints = 512;
    static constexpr int k_sends = 8;
    bool in_place_;
    std::vector<int> data_, counts_, places_;
    std::vector<MPI_Datatype> types_;
    std::array<MPI_Request, k_sends> sends_{};
};

/// A receive that fails: two come.
MPI_Request truncated() {
    static std::array<int, 4> two;
    MPI_Request request;
    MPI_Irecv(two.data(), 1, MPI_INT, left(), 5, refusing, &request);
    MPI_Send(two.data() + 2, 2, MPI_INT, right(), 5, refusing);
    return request;
}

MPI_Request completed() {
    MPI_Request request;
    MPI_Grequest_start(&queries, &frees, &cancels, nullptr, &request);
    MPI_Grequest_complete(request);
    return request;
}

/// How the program's handle looks after the call.
void tell(char const* name, MPI_Request request) {
    say("%s is %s", name, request == MPI_REQUEST_NULL ? "null" : "there");
}

void calls(bool in_place) {
    Owned owned(in_place);
    int flag = 0, index = 0, number = 0;
    std::array<int, 2> indices{};
    std::array<MPI_Status, 2> statuses{};

    MPI_Request failed = truncated();
    see("MPI_Wait", [&] { MPI_Wait(&failed, MPI_STATUS_IGNORE); });
    tell("its request", failed);
    failed = truncated();
    see("MPI_Test", [&] {
        for (flag = 0; flag == 0;)
            MPI_Test(&failed, &flag, MPI_STATUS_IGNORE);
    });
    tell("its request", failed);
    failed = truncated();
    see("MPI_Waitany", [&] { MPI_Waitany(1, &failed, &index, MPI_STATUS_IGNORE); });
    tell("its request", failed);

    // Beside the owned one.
    std::array<MPI_Request, 2> both{truncated(), owned.request};
    see("MPI_Testsome", [&] {
        while (both[0] != MPI_REQUEST_NULL)
            MPI_Testsome(2, both.data(), &number, indices.data(), statuses.data());
    });
    tell("its first request", both[0]);
    both[0] = completed();
    see("MPI_Testany", [&] { MPI_Testany(2, both.data(), &index, &flag, MPI_STATUS_IGNORE); });
    both[0] = completed();
    see("MPI_Waitany", [&] { MPI_Waitany(2, both.data(), &index, MPI_STATUS_IGNORE); });
    owned.request = both[1];

    MPI_Request generalized = completed();
    see("MPI_Wait of a generalized one", [&] { MPI_Wait(&generalized, MPI_STATUS_IGNORE); });
    MPI_Grequest_start(&queries, &frees, &cancels, nullptr, &generalized);
    see("MPI_Cancel", [&] { MPI_Cancel(&generalized); });
    MPI_Grequest_complete(generalized);

    int key = 0;
    MPI_Comm comm = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(&copies, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(comm, key, nullptr);
    see("MPI_Comm_dup", [&] { MPI_Comm_dup(comm, &copy); });
    see("MPI_Comm_call_errhandler", [&] { MPI_Comm_call_errhandler(refusing, MPI_ERR_NO_MEM); });
    see("MPI_Send", [&] { MPI_Send(&flag, -1, MPI_INT, 0, 0, refusing); });
    owned.complete();
}

}  // namespace

int main(int argc, char** argv) {
    bool const in_place = argc > 1 && std::string_view(argv[1]) == "in_place";
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    MPI_Comm_dup(MPI_COMM_WORLD, &refusing);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(&refused, &handler);
    MPI_Comm_set_errhandler(refusing, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);  // of requests that have no communicator
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    for (Thrown const one : k_all) {
        what = one;
        calls(in_place);
    }
    return end();
}
