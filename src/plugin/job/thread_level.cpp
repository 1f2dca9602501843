// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/thread_level.hpp"

#include <mpi.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "plugin/binding/plugin.hpp"
#include "plugin/services/requests/wait_all.hpp"
#include "plugin/wrappers/around.hpp"

namespace sluice::plugin {

namespace {

/// The level of a program that calls MPI_Init, as the environment tells this MPI.
int level_of_plain_init() noexcept {
#ifdef OPEN_MPI
    char const* const text = std::getenv("OMPI_MPI_THREAD_LEVEL");
    if (text == nullptr) return MPI_THREAD_SINGLE;
    int const level = std::atoi(text);
    return level < MPI_THREAD_SINGLE || level > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : level;
#else
    constexpr std::array k_names{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                 "MPI_THREAD_MULTIPLE"};
    constexpr std::array k_levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    char const* const text = std::getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL");
    for (std::size_t i = 0; text != nullptr && i < k_names.size(); ++i)
        if (strcasecmp(text, k_names[i]) == 0) return k_levels[i];
    return MPI_THREAD_SINGLE;
#endif
}

/// MPICH's own progress thread makes it give MPI_THREAD_MULTIPLE whatever is asked for: there is nothing to raise.
bool gives_all_levels() noexcept {
#ifdef OPEN_MPI
    return false;
#else
    char const* const text = std::getenv("MPIR_CVAR_ASYNC_PROGRESS");
    return text != nullptr && (std::atoi(text) != 0 || strcasecmp(text, "yes") == 0 || strcasecmp(text, "true") == 0 ||
                               strcasecmp(text, "on") == 0);
#endif
}

/// A level that is none is for the MPI to refuse.
bool is_raised(int from, int to) noexcept {
    return from >= MPI_THREAD_SINGLE && from < to && !gives_all_levels();
}

#ifdef OPEN_MPI
// The next tool's functions are meant, which straight.h would take for libmpi's.
#pragma push_macro("MPI_Waitall")
#pragma push_macro("MPI_Test")
#pragma push_macro("MPI_Testall")
#pragma push_macro("MPI_Testsome")
#pragma push_macro("MPI_Request_get_status")
#undef MPI_Waitall
#undef MPI_Test
#undef MPI_Testall
#undef MPI_Testsome
#undef MPI_Request_get_status
struct TestsBelow {
    decltype(&::MPI_Waitall) Waitall;
    decltype(&::MPI_Test) Test;
    decltype(&::MPI_Testall) Testall;
    decltype(&::MPI_Testsome) Testsome;
    decltype(&::MPI_Request_get_status) Request_get_status;
};
/// Of the functions MPI_X and PMPI_X.
constinit std::array<TestsBelow, 2> g_tests{};

template <std::size_t which>
int wait_by_tests(int count, MPI_Request* requests, MPI_Status* statuses) {
    TestsBelow const& below = g_tests[which];
    if (count <= 0 || requests == nullptr || std::find(requests, requests + count, nullptr) != requests + count)
        return below.Waitall(count, requests, statuses);  // MPI is to refuse it
    WaitAll all(count, requests, statuses);
    if (!all.has_room()) return below.Waitall(count, requests, statuses);
    for (;;) {
        int done = 0;
        int const code = all.test(below, &done);
        if (code != MPI_SUCCESS || done != 0) return code;
    }
}

/// From now on MPI_Waitall below us is made of tests, whether or not the service runs that the level was raised for.
void wait_by_tests_below() noexcept {
    Below& all = g_plugin.below;
    g_tests = {{{all.MPI_Waitall, all.MPI_Test, all.MPI_Testall, all.MPI_Testsome, all.MPI_Request_get_status},
                {all.PMPI_Waitall, all.PMPI_Test, all.PMPI_Testall, all.PMPI_Testsome, all.PMPI_Request_get_status}}};
    all.MPI_Waitall = wait_by_tests<0>;
    all.PMPI_Waitall = wait_by_tests<1>;
}
#pragma pop_macro("MPI_Waitall")
#pragma pop_macro("MPI_Test")
#pragma pop_macro("MPI_Testall")
#pragma pop_macro("MPI_Testsome")
#pragma pop_macro("MPI_Request_get_status")
#endif

void was_raised(int level) noexcept {
    g_plugin.level_of_program = level;
#ifdef OPEN_MPI
    wait_by_tests_below();
#endif
}

}  // namespace

int level_of_program(int level) noexcept {
    int const own = g_plugin.level_of_program;
    return own < 0 ? level : std::min(own, level);
}

// The next tool's function is meant, which straight.h would take for libmpi's.
#pragma push_macro("MPI_Init_thread")
#undef MPI_Init_thread
int init_at(int needed, int (*below)(int*, char***), int* argc, char*** argv) {
    int const own = level_of_plain_init();
    if (!is_raised(own, needed)) return below(argc, argv);
    Below const& all = g_plugin.below;
    auto* const with_level = below == all.PMPI_Init ? all.PMPI_Init_thread : all.MPI_Init_thread;
    int provided = own;
    int const code = with_level(argc, argv, needed, &provided);
    if (code == MPI_SUCCESS) was_raised(own);
    return code;
}
#pragma pop_macro("MPI_Init_thread")

int init_thread_at(int needed, int (*below)(int*, char***, int, int*), int* argc, char*** argv, int required,
                   int* provided) {
    if (!is_raised(required, needed)) return below(argc, argv, required, provided);
    int const code = below(argc, argv, needed, provided);
    if (code != MPI_SUCCESS) return code;
    was_raised(required);
    *provided = level_of_program(*provided);
    return code;
}

int query_level(int (*below)(int*), int* provided) {
    int const code = below(provided);
    if (code == MPI_SUCCESS) *provided = level_of_program(*provided);
    return code;
}

}  // namespace sluice::plugin
