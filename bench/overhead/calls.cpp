// SPDX-License-Identifier: BSD-3-Clause
#include "overhead/calls.hpp"

#include <dlfcn.h>
#include <link.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::bench {

namespace {

/// Opens the loaded library whose file has the name of an MPI.
void* libmpi() {
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
            std::string_view const name = object->dlpi_name != nullptr ? object->dlpi_name : "";
            std::string_view const file = name.substr(name.rfind('/') + 1);
            if (!file.starts_with("libmpi.so") && !file.starts_with("libmpich.so")) return 0;
            *static_cast<std::string*>(result) = name;
            return 1;
        },
        &path);
    void* const handle = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) throw std::runtime_error("overhead: no libmpi.so or libmpich.so is loaded");
    return handle;
}

template <class Pointer>
void find(Pointer& pointer, void* library, char const* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(std::string("overhead: libmpi has no ") + name);
    pointer = reinterpret_cast<Pointer>(found);
}

}  // namespace

char const* Calls::name_of(std::size_t which) {
    static constexpr std::array<char const*, k_names> names{"MPI_Send",    "MPI_Recv",      "MPI_Isend",  "MPI_Irecv",
                                                            "MPI_Waitall", "MPI_Allreduce", "MPI_Barrier"};
    return names.at(which);
}

Calls Calls::of_the_program() {
    Calls calls;
    calls.send_ = &MPI_Send;
    calls.recv_ = &MPI_Recv;
    calls.isend_ = &MPI_Isend;
    calls.irecv_ = &MPI_Irecv;
    calls.waitall_ = &MPI_Waitall;
    calls.allreduce_ = &MPI_Allreduce;
    calls.barrier_ = &MPI_Barrier;
    return calls;
}

Calls Calls::straight() {
    Calls calls;
    void* const library = libmpi();
    find(calls.send_, library, "PMPI_Send");
    find(calls.recv_, library, "PMPI_Recv");
    find(calls.isend_, library, "PMPI_Isend");
    find(calls.irecv_, library, "PMPI_Irecv");
    find(calls.waitall_, library, "PMPI_Waitall");
    find(calls.allreduce_, library, "PMPI_Allreduce");
    find(calls.barrier_, library, "PMPI_Barrier");
    return calls;
}

bool Calls::something_stands_between() {
    return dlsym(RTLD_DEFAULT, "MPI_Send") != dlsym(libmpi(), "MPI_Send");
}

}  // namespace sluice::bench
