// SPDX-License-Identifier: BSD-3-Clause
#include "support/libmpi.hpp"

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
    if (handle == nullptr) throw std::runtime_error("no libmpi.so or libmpich.so is loaded");
    return handle;
}

}  // namespace

void* function_of_libmpi(char const* name) {
    void* const found = dlsym(libmpi(), name);
    if (found == nullptr) throw std::runtime_error(std::string("libmpi has no ") + name);
    return found;
}

bool something_stands_between() {
    return dlsym(RTLD_DEFAULT, "MPI_Send") != function_of_libmpi("MPI_Send");
}

}  // namespace sluice::bench
