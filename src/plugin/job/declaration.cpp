// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/declaration.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "kernel/launcher.hpp"
#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

namespace {

// The number is that of what declared ranks do on the wire: ranks of different versions are strangers.
constexpr char k_key[] = "sluice.declared.1";

using Stage = Declaration::Stage;

Declaration& declaration() {
    return g_plugin.declaration;
}

bool says(char const* variable, std::initializer_list<std::string_view> answers) {
    char const* const value = std::getenv(variable);
    if (value == nullptr) return false;
    for (std::string_view const answer : answers)
        if (answer == value) return true;
    return false;
}

/// No rank leaves the fence of MPI_Init before it has what all ranks have committed.
bool fence_tells_all() {
    return says("OMPI_MCA_pmix_base_async_modex", {"0", "false", "no"}) &&
           says("OMPI_MCA_pmix_base_collect_data", {"1", "true", "yes"});
}

void put_key(void* library) {
    auto const put = pmix::below<pmix::Put>(library, "PMIx_Put");
    auto const get = pmix::below<pmix::Get>(library, "PMIx_Get");
    if (put == nullptr || get == nullptr || !fence_tells_all()) return;
    pmix::Value value;
    value.type = pmix::k_uint32;
    value.data.uint32 = 1;
    if (put(pmix::k_global, k_key, &value) == pmix::k_success) {
        declaration().get = get;
        declaration().stage = Stage::put;
    }
}

bool declared(pmix::Proc const& proc) {
    pmix::Info immediate;
    std::strncpy(immediate.key, pmix::k_immediate, sizeof immediate.key - 1);
    immediate.value.type = pmix::k_bool;
    immediate.value.data.flag = true;
    pmix::Value* value = nullptr;
    int const code = declaration().get(&proc, k_key, &immediate, 1, &value);
    bool const yes = code == pmix::k_success && value != nullptr && value->type == pmix::k_uint32;
    std::free(value);  // a number owns nothing
    return yes;
}

/// The job whose ranks put keys that this rank can look up; null if there is none.
char const* job_with_keys() {
    return declaration().stage == Stage::put ? std::getenv("PMIX_NAMESPACE") : nullptr;
}

bool put_its_key(char const* job, int rank) {
    pmix::Proc proc;
    std::strncpy(proc.nspace, job, sizeof proc.nspace - 1);
    proc.rank = static_cast<std::uint32_t>(rank);
    return declared(proc);
}

bool all_put_their_keys(int size) {
    char const* const job = job_with_keys();
    if (job == nullptr) return false;
    // From the far end, where in a job of two kinds the other kind often is: one look then suffices.
    for (int rank = size - 1; rank >= 0; --rank)
        if (!put_its_key(job, rank)) return false;
    return true;
}

bool may_speak(int rank, int size) {
    char const* const job = job_with_keys();
    if (job == nullptr) return rank == 0 || kernel::ranks_of_node() == static_cast<std::uint32_t>(size);
    for (int lower = 0; lower < rank; ++lower)
        if (put_its_key(job, lower)) return false;
    return true;
}

void let_go_of_pmix() {
    declaration().stage = Stage::idle;
    declaration().get = nullptr;
    if (declaration().library != nullptr) dlclose(declaration().library);
    declaration().library = nullptr;
}

/// The first of the node to decide does so for all of it; the others would find the same.
bool decide(record::RecordFile& file, int size) {
    if (!file.shares_node()) return all_put_their_keys(size);
    record::NodeHeader& node = file.node();
    std::uint32_t decision = std::atomic_ref(node.decision).load();
    if (decision == 0) {
        bool const yes =
            std::atomic_ref(node.arrived).load() == static_cast<std::uint32_t>(size) || all_put_their_keys(size);
        std::uint32_t const mine = yes ? 1 : 2;
        if (std::atomic_ref(node.decision).compare_exchange_strong(decision, mine)) decision = mine;
    }
    return decision == 1;
}

}  // namespace

void declare() {
    declaration().stage = Stage::armed;
}

void keep_fence_to_ourselves() {
    if (std::getenv(kernel::k_fence_variable) == nullptr) return;
    for (char const* const name :
         {"OMPI_MCA_pmix_base_async_modex", "OMPI_MCA_pmix_base_collect_data", kernel::k_fence_variable})
        unsetenv(name);
}

Declared who_declared(record::RecordFile& file, int rank, int size) {
    bool const all = size == 1 || decide(file, size);
    Declared const found{all, !all && may_speak(rank, size)};
    let_go_of_pmix();
    return found;
}

}  // namespace sluice::plugin

/// Called by the MPI within MPI_Init, before its fence. Any later commit, or one of the program's own, just passes.
extern "C" [[gnu::visibility("default")]] int PMIx_Commit() {
    using namespace sluice::plugin;
    void* const library = pmix::library_of(__builtin_return_address(0));
    auto commit = pmix::below<pmix::Commit>(library, "PMIx_Commit");
    if (commit == nullptr || commit == &PMIx_Commit)
        commit = reinterpret_cast<pmix::Commit>(dlsym(RTLD_NEXT, "PMIx_Commit"));
    Declaration& declaration = g_plugin.declaration;
    auto armed = Declaration::Stage::armed;
    if (commit != nullptr && declaration.stage.compare_exchange_strong(armed, Declaration::Stage::idle)) {
        declaration.abort = pmix::below<pmix::Abort>(library, "PMIx_Abort");
        put_key(library);
        if (declaration.stage == Declaration::Stage::put) declaration.library = library;
    }
    if (library != nullptr && library != declaration.library) dlclose(library);
    return commit != nullptr ? commit() : pmix::k_not_supported;
}
