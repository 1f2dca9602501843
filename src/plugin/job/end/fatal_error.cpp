// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/end/fatal_error.hpp"

#include <dlfcn.h>

#include <cstddef>

#include "plugin/binding/plugin.hpp"
#include "plugin/binding/pmix.hpp"

namespace sluice::plugin {

namespace {

pmix::Abort abort_below(void const* caller) {
    void* const library = pmix::library_of(caller);
    auto const found = pmix::below<pmix::Abort>(library, "PMIx_Abort");
    if (library != nullptr) dlclose(library);
    return found;
}

}  // namespace

}  // namespace sluice::plugin

/// Called by the MPI when it ends the job, in MPI_Abort and after a fatal error.
extern "C" [[gnu::visibility("default")]] int PMIx_Abort(int status, char const message[],
                                                         sluice::plugin::pmix::Proc procs[], std::size_t count) {
    using namespace sluice::plugin;
    // Between MPI_Init and MPI_Finalize nothing is looked up: MPI_Abort may be called in a handler of a signal.
    pmix::Abort abort = g_plugin.declaration.abort;
    if (abort == nullptr) abort = abort_below(__builtin_return_address(0));
    if (abort == nullptr || abort == &PMIx_Abort) abort = reinterpret_cast<pmix::Abort>(dlsym(RTLD_NEXT, "PMIx_Abort"));
    note_fatal_error(status);
    return abort != nullptr ? abort(status, message, procs, count) : pmix::k_not_supported;
}
