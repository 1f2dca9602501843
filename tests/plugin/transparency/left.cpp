// SPDX-License-Identifier: BSD-3-Clause
// Functions that a program gives to MPI leave it by an exception or, with the argument "jump", by longjmp: attribute
// functions, an operation, those of generalized requests, error handlers of communicators, windows and files. The calls
// after them are as before.
#include <mpi.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Gone {};

bool by_jump = false;
bool armed = true;
jmp_buf back;
int rank = 0;
int ranks = 0;

void leave() {
    if (!armed) return;
    if (by_jump) longjmp(back, 1);
    throw Gone{};
}

/// Says whether the call came back or was left.
template <class Call>
void see(char const* what, Call const& call) {
    bool volatile left = false;
    if (by_jump) {
        if (setjmp(back) == 0)
            call();
        else
            left = true;
    } else {
        try {
            call();
        } catch (Gone const&) {
            left = true;
        }
    }
    std::printf("rank %d %s %s\n", rank, what, left ? "left" : "returned");
}

void operation(void*, void*, int*, MPI_Datatype*) {
    leave();
}
int copies(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    leave();
    return MPI_SUCCESS;
}
int deletes(MPI_Comm, int, void*, void*) {
    leave();
    return MPI_SUCCESS;
}
int copies_type(MPI_Datatype, int, void*, void*, void*, int* flag) {
    *flag = 0;
    leave();
    return MPI_SUCCESS;
}
int deletes_type(MPI_Datatype, int, void*, void*) {
    leave();
    return MPI_SUCCESS;
}
int queries(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 0;
    status->MPI_TAG = 0;
    leave();
    return MPI_SUCCESS;
}
int frees(void*) {
    return MPI_SUCCESS;
}
int cancels(void*, int) {
    leave();
    return MPI_SUCCESS;
}
void refused(MPI_Comm*, int*, ...) {
    leave();
}
void refused_window(MPI_Win*, int*, ...) {
    leave();
}
void refused_file(MPI_File*, int*, ...) {
    leave();
}

void operations() {
    MPI_Op op;
    MPI_Op_create(&operation, 1, &op);
    std::array<int, 4> from{}, to{};
    see("MPI_Reduce_local", [&] { MPI_Reduce_local(from.data(), to.data(), 4, MPI_INT, op); });
}

void attributes() {
    int key = 0;
    MPI_Comm comm, copy;
    armed = false;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    armed = true;
    MPI_Comm_create_keyval(&copies, &deletes, &key, nullptr);
    MPI_Comm_set_attr(comm, key, nullptr);
    see("MPI_Comm_dup", [&] { MPI_Comm_dup(comm, &copy); });
    see("MPI_Comm_delete_attr", [&] { MPI_Comm_delete_attr(comm, key); });
    MPI_Datatype type, other;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_create_keyval(&copies_type, &deletes_type, &key, nullptr);
    MPI_Type_set_attr(type, key, nullptr);
    see("MPI_Type_dup", [&] { MPI_Type_dup(type, &other); });
    see("MPI_Type_delete_attr", [&] { MPI_Type_delete_attr(type, key); });
}

MPI_Request completed() {
    MPI_Request request;
    MPI_Grequest_start(&queries, &frees, &cancels, nullptr, &request);
    MPI_Grequest_complete(request);
    return request;
}

void generalized_requests() {
    int flag = 0;
    MPI_Request request = completed();
    see("MPI_Wait", [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    request = completed();
    see("MPI_Test", [&] { MPI_Test(&request, &flag, MPI_STATUS_IGNORE); });
    std::array<MPI_Request, 2> both{completed(), MPI_REQUEST_NULL};
    see("MPI_Waitall", [&] { MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE); });
    MPI_Grequest_start(&queries, &frees, &cancels, nullptr, &request);
    see("MPI_Cancel", [&] { MPI_Cancel(&request); });
    MPI_Grequest_complete(request);
}

void error_handlers() {
    MPI_Errhandler handler;
    MPI_Comm comm;
    armed = false;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    armed = true;
    MPI_Comm_create_errhandler(&refused, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    int value = 0;
    MPI_Request request;
    see("MPI_Isend", [&] { MPI_Isend(&value, 1, MPI_INT, 99, 0, comm, &request); });

    MPI_Win window;
    void* memory = nullptr;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&memory), &window);
    MPI_Win_create_errhandler(&refused_window, &handler);
    MPI_Win_set_errhandler(window, handler);
    see("MPI_Put", [&] { MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, window); });
    MPI_Win_free(&window);

    MPI_File file;
    std::string const name = "left." + std::to_string(rank);
    MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_create_errhandler(&refused_file, &handler);
    MPI_File_set_errhandler(file, handler);
    see("MPI_File_read", [&] { MPI_File_read(file, &value, -1, MPI_INT, MPI_STATUS_IGNORE); });
    MPI_File_close(&file);
}

long long exchanged() {
    constexpr int k_block = 1 << 16;
    std::vector<int> data(static_cast<std::size_t>(ranks) * k_block, rank + 1);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), k_block, MPI_INT, MPI_COMM_WORLD);
    long long sum = 0;
    for (int const value : data)
        sum += value;
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    by_jump = argc > 1 && std::string_view(argv[1]) == "jump";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int time = 0; time < 3; ++time) {
        operations();
        attributes();
        generalized_requests();
        error_handlers();
        std::printf("rank %d then exchanged %lld\n", rank, exchanged());
    }
    MPI_Finalize();
}
