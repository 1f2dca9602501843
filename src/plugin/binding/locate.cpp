// SPDX-License-Identifier: BSD-3-Clause
// Finds the MPI that the program uses: one, and of the kind this plugin was built for.
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/job/run_mark.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/binding/say.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

namespace {

/// The paths of all libraries that are loaded.
std::vector<std::string> loaded_objects() {
    std::vector<std::string> found;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
            if (object->dlpi_name != nullptr && *object->dlpi_name != '\0')
                static_cast<std::vector<std::string>*>(result)->emplace_back(object->dlpi_name);
            return 0;
        },
        &found);
    return found;
}

/// An MPI is what defines PMPI_Init, under any name: packages of Python have libmpi-1a2b3c4d.so.40. Its bindings of
/// other languages, libmpi_mpifh and the like, do not. Plugins of Sluice do; an inner job may have two.
bool is_mpi(std::string const& path) {
    if (path.substr(path.rfind('/') + 1).starts_with("libsluice-preload-")) return false;
    void* const object = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (object == nullptr) return false;
    // May be that of a library which this one needs.
    void* const function = dlsym(object, "PMPI_Init");
    Dl_info info{};
    bool const defines = function != nullptr && dladdr(function, &info) != 0 && info.dli_fname == path;
    dlclose(object);
    return defines;
}

/// The pointers behind `names`, looked up in `handle`; a function that this MPI has not stays null.
template <class Names>
void look_up(void* handle, Names const& names, void* table) {
    auto* const pointers = static_cast<void**>(table);
    for (std::size_t i = 0; i < names.size(); ++i)
        pointers[i] = dlsym(handle, names[i]);
}

/// In the place of a function that nothing below us has. A program that asks whether a function is there (a weak
/// reference, dlsym) finds ours.
int is_absent() noexcept {
    return MPI_ERR_OTHER;
}

/// Below us comes the next in the order of symbols: another tool, or libmpi. There is none where MPI was loaded late
/// and privately (a Python module): then it is that library.
void* next_function(char const* name, void* libmpi) {
    void* const next = dlsym(RTLD_NEXT, name);
    return next == nullptr && libmpi != nullptr ? dlsym(libmpi, name) : next;
}

/// False if there is none.
bool fill_below(void* libmpi) {
    bool found = false;
    auto* const pointers = reinterpret_cast<void**>(&g_plugin.below);
    for (std::size_t i = 0; i < k_below_names.size(); ++i) {
        void* const next = next_function(k_below_names[i], libmpi);
        found = found || next != nullptr;
        pointers[i] = next != nullptr ? next : reinterpret_cast<void*>(&is_absent);
    }
    return found;
}

/// The one MPI library that is loaded; null if there is none, or if there are several.
void* only_mpi(std::vector<std::string> const& mpis) {
    return mpis.size() == 1 ? dlopen(mpis.front().c_str(), RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

/// libmpi itself, past other tools. Its data, the handles' addresses, may have been moved into the program by the
/// linker (copy relocations), so those are looked up as the program would.
void fill_libmpi(void* libmpi) {
    look_up(libmpi, k_straight_names, &g_plugin.libmpi);
    auto* const pointers = reinterpret_cast<void**>(&g_plugin.libmpi);
    for (std::size_t i = 0; i < k_straight_names.size(); ++i)
        if (std::string_view(k_straight_names[i]).starts_with("ompi_"))
            if (void* const seen = dlsym(RTLD_DEFAULT, k_straight_names[i]); seen != nullptr) pointers[i] = seen;
}

/// MPI_Init, which reads the settings, may be far.
bool is_to_be_quiet() noexcept {
    try {
        return Settings::from_environment().quiet == Switch::on;
    } catch (std::exception const&) {
        return false;  // `sluice run` has complained of them
    }
}

template <class... Values>
void complain(char const* format, Values... values) {
    if (!is_to_be_quiet()) say_once_a_node(format, values...);
}

bool is_ours(std::string const& library) {
    return library.find(SLUICE_MPI_MARK) != std::string::npos;
}

}  // namespace

std::vector<std::string> loaded_mpis() {
    std::vector<std::string> found = loaded_objects();
    std::erase_if(found, [](std::string const& path) { return !is_mpi(path); });
    return found;
}

void* function_below(char const* name) {
    return next_function(name, only_mpi(loaded_mpis()));
}

void locate_below() {
    std::lock_guard const lock(g_plugin.locating);
    if (g_plugin.located) return;
    std::vector<std::string> const mpis = loaded_mpis();
    void* const libmpi = only_mpi(mpis);
    bool const found = fill_below(libmpi);
    if (mpis.empty() && !found) {
        // The program may load one yet: its next call looks again.
        if (!g_plugin.called_in_vain.exchange(true) && !kernel::is_of_other_job())
            complain("%s", "stands aside: MPI was called, but no MPI library is loaded: the call returns an error");
        return;
    }
    g_plugin.called_in_vain = false;
    if (kernel::is_of_other_job()) {
        // Its calls pass.
    } else if (mpis.size() > 1) {
        complain("stands aside: the program has loaded two MPI libraries, %s and %s", mpis[0].c_str(), mpis[1].c_str());
    } else if (libmpi == nullptr) {
        complain("%s", "stands aside: the MPI that was called has no PMPI_Init (a stub?)");
    } else {
        fill_libmpi(libmpi);
        std::string text(8192, '\0');
        int length = 0;
        auto const version = g_plugin.libmpi.PMPI_Get_library_version;
        if (version != nullptr) version(text.data(), &length);
        text.resize(std::strlen(text.c_str()));
        g_plugin.acting = is_ours(text);
        if (!g_plugin.acting)
            complain("stands aside: this plugin is for %s, the program uses %.40s", SLUICE_MPI_MARK, text.c_str());
    }
    g_plugin.located.store(true, std::memory_order_release);
}

}  // namespace sluice::plugin
