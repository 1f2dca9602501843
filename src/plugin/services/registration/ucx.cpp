// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/ucx.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace sluice::plugin::ucx {

namespace {

constexpr unsigned k_major = 1;
constexpr unsigned k_minor = 13;

constexpr char const* k_libraries[] = {"libucp.so.0", "libucm.so.0", "libucs.so.0"};

thread_local bool t_is_quiet = false;

/// A log handler of UCX: 0 ends the line's way, 1 lets it go on to the handlers before.
int drop_if_quiet(char const*, unsigned, char const*, int, void const*, char const*, va_list) {
    return t_is_quiet ? 0 : 1;
}

/// What the thread does meanwhile says nothing.
class Quiet {
  public:
    Quiet() noexcept { t_is_quiet = true; }
    ~Quiet() { t_is_quiet = false; }
    Quiet(Quiet const&) = delete;
    Quiet& operator=(Quiet const&) = delete;
};

template <class Function>
Function find_function(char const* name) noexcept {
    return reinterpret_cast<Function>(look_up(name));
}

}  // namespace

/// Libraries that the MPI has loaded for itself alone are not in the order that RTLD_NEXT searches.
void* look_up(char const* name) noexcept {
    if (void* const found = dlsym(RTLD_NEXT, name)) return found;
    for (char const* const library : k_libraries) {
        void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) continue;
        void* const found = dlsym(handle, name);
        dlclose(handle);  // the MPI holds it
        if (found != nullptr) return found;
    }
    return nullptr;
}

std::optional<Library> Library::find(std::string& why_not) {
    auto const version = find_function<void (*)(unsigned*, unsigned*, unsigned*)>("ucp_get_version");
    if (version == nullptr) {
        why_not = "the MPI does not use UCX";
        return std::nullopt;
    }
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    version(&major, &minor, &release);
    if (major != k_major || minor != k_minor) {
        why_not = "UCX " + std::to_string(major) + '.' + std::to_string(minor) + " was not tested, only " +
                  std::to_string(k_major) + '.' + std::to_string(k_minor);
        return std::nullopt;
    }
    Library library;
    library.map_ = find_function<Map>("ucp_mem_map");
    library.unmap_ = find_function<Unmap>("ucp_mem_unmap");
    library.unmapped_ = find_function<Unmapped>("ucm_vm_munmap");
    auto const push_handler = find_function<void (*)(decltype(&drop_if_quiet))>("ucs_log_push_handler");
    if (library.map_ == nullptr || library.unmap_ == nullptr || library.unmapped_ == nullptr ||
        push_handler == nullptr) {
        why_not = "the UCX of this process lacks a function";
        return std::nullopt;
    }
    push_handler(drop_if_quiet);
    return library;
}

bool Library::register_in_cache(void* context, memory::registration::Range range) const noexcept {
    Quiet const quiet;
    MapParams params;
    params.fields = 1 << 0 | 1 << 1;
    params.address = reinterpret_cast<void*>(range.begin);
    params.bytes = range.bytes;
    void* mapped = nullptr;
    if (map_(context, &params, &mapped) != k_ok) return false;
    unmap_(context, mapped);
    return true;
}

void Library::forget(memory::registration::Range range) const noexcept {
    unmapped_(reinterpret_cast<void*>(range.begin), range.bytes);
}

}  // namespace sluice::plugin::ucx
