// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/end/unwatched.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/files/folder.hpp"
#include "kernel/files/standard_error.hpp"
#include "kernel/job/run_mark.hpp"
#include "kernel/launcher.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/binding/say.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

namespace {

constinit std::time_t g_loaded = 0;

[[gnu::constructor]] void remember_start() noexcept {
    g_loaded = std::time(nullptr);
}

/// The name of the first loaded MPI library in which MPI was initialised.
std::optional<std::string> initialised_mpi() {
    for (std::string const& path : loaded_mpis()) {
        void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) continue;
        auto const initialized = reinterpret_cast<int (*)(int*)>(dlsym(library, "PMPI_Initialized"));
        int flag = 0;
        if (initialized != nullptr) initialized(&flag);
        dlclose(library);
        if (flag != 0) return path.substr(path.rfind('/') + 1);
    }
    return std::nullopt;
}

/// Texts that the code of MPICH and of Open MPI has, also without symbols; programs that only name MPI's functions do
/// not have them.
constexpr std::array<std::string_view, 2> k_texts_of_mpis{"MPIR_CVAR_CTXID_EAGER_SIZE", "ompi_rte_init failed"};

bool has_text_of_mpi(void const* begin, std::size_t bytes) noexcept {
    return std::any_of(k_texts_of_mpis.begin(), k_texts_of_mpis.end(), [=](std::string_view text) {
        return memmem(begin, bytes, text.data(), text.size()) != nullptr;
    });
}

/// Whether the program's own file has an MPI in it. Only its constants are looked at, where linkers put them apart from
/// the code.
bool is_linked_statically() {
    bool found = false;
    dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* result) {
            for (std::size_t i = 0; i < program->dlpi_phnum; ++i) {
                ElfW(Phdr) const& part = program->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || part.p_flags != PF_R) continue;
                auto const* const begin = reinterpret_cast<void const*>(program->dlpi_addr + part.p_vaddr);
                if (has_text_of_mpi(begin, part.p_memsz)) *static_cast<bool*>(result) = true;
            }
            return 1;  // the first object is the program
        },
        &found);
    return found;
}

/// A child of the program may have called MPI_Init: then its records are in the folder.
bool has_new_records(std::string const& path) {
    constexpr std::time_t k_slack = 2;  // the clock of a file server
    kernel::Folder const folder = kernel::Folder::named(path);
    for (std::string const& name : folder.names("node-")) {
        struct stat status {};
        if (stat(folder.path_of(name).c_str(), &status) == 0 && status.st_mtime >= g_loaded - k_slack) return true;
    }
    return false;
}

Settings settings_in_silence() {
    try {
        return Settings::from_environment();
    } catch (std::exception const&) {
        return {};  // `sluice run` has complained of them
    }
}

void say_why() {
    Settings const settings = settings_in_silence();
    kernel::be_quiet(settings.quiet == Switch::on);
    if (kernel::is_quiet()) return;
    if (g_plugin.with_sessions == getpid())
        say("no report: the program starts MPI by MPI_Session_init, and only programs that call MPI_Init are watched");
    else if (auto const library = initialised_mpi())
        say("not watched: the program calls %s through a handle (dlopen, dlsym), which passes the plugin by",
            library->c_str());
    else if (is_linked_statically())
        say("not watched: MPI is linked statically into the program, where no library can stand between");
    else if (settings.watch == Switch::on && !settings.report.empty() && !has_new_records(settings.report))
        say("no report: no call of MPI_Init was seen (calls through a handle of dlopen pass the plugin by)");
}

}  // namespace

void note_unwatched() noexcept {
    // Why MPI's calls pass was said when the first one came.
    bool const stands_aside = (g_plugin.located && !g_plugin.acting) || g_plugin.called_in_vain;
    if (stands_aside || (g_plugin.with_sessions != getpid() && !kernel::is_run_itself())) return;
    if (!kernel::is_first_of_node()) return;
    try {
        say_why();
    } catch (std::exception const&) {  // no memory
    }
}

}  // namespace sluice::plugin
