// SPDX-License-Identifier: BSD-3-Clause
#include "probes/memory_phases.hpp"

#include <malloc.h>

#include <cstring>
#include <stdexcept>

namespace sluice::probes {

namespace {

constexpr std::size_t k_short = 1024;

int world_size() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

enum class WindowKind { create, allocate, shared };

/// Returns MPI_SUCCESS and a window whose local part is written in full, or MPI's error.
int make_window(WindowKind kind, std::size_t bytes, std::vector<char>& own, MPI_Win& window) {
    auto const size = static_cast<MPI_Aint>(bytes);
    void* base = nullptr;
    int code = MPI_SUCCESS;
    if (kind == WindowKind::create) {
        code = MPI_Win_create(own.data(), size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        base = own.data();
    } else if (kind == WindowKind::allocate) {
        code = MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window);
    } else {
        code = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window);
    }
    if (code == MPI_SUCCESS) std::memset(base, 1, bytes);
    return code;
}

struct WindowPhases {
    WindowKind kind;
    char const* warm;
    char const* all;
    char const* trimmed;
};
constexpr std::array k_window_phases{
    WindowPhases{WindowKind::create, "window_create_warm", "window_create_all", "window_create_trimmed"},
    WindowPhases{WindowKind::allocate, "window_allocate_warm", "window_allocate_all", "window_allocate_trimmed"},
    WindowPhases{WindowKind::shared, "window_shared_warm", "window_shared_all", "window_shared_trimmed"},
};

std::string text_of(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void Snapshots::take(char const* phase) {
    if (used_ == entries_.size()) throw std::runtime_error("more phases than there is room for");
    barrier_.wait();
    entries_[used_++] = {phase, read_process_memory()};
    barrier_.wait();
}

void reduce_over_all() {
    for (int i = 0; i < 10; ++i) {
        double const mine = i;
        double sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (sum != mine * world_size()) throw std::runtime_error("MPI_Allreduce gave a wrong sum");
    }
}

void talk_with_everybody(MessageBuffers& mine) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const ranks = world_size();
    for (std::size_t const bytes : {k_short, k_short, k_short, k_short, mine.out.size()})
        for (int apart = 1; apart < ranks; ++apart)
            MPI_Sendrecv(mine.out.data(), static_cast<int>(bytes), MPI_CHAR, (rank + apart) % ranks, 0, mine.in.data(),
                         static_cast<int>(bytes), MPI_CHAR, (rank + ranks - apart) % ranks, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
}

void try_communicators(int communicators, Snapshots& snapshots) {
    auto const count = static_cast<std::size_t>(communicators);
    std::vector<MPI_Comm> held(count, MPI_COMM_NULL);
    MPI_Comm first = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_free(&first);
    malloc_trim(0);
    snapshots.take("communicator_warm");
    for (std::size_t i = 0; i < count / 2; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &held[i]);
    snapshots.take("communicator_half");
    for (std::size_t i = count / 2; i < count; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &held[i]);
    snapshots.take("communicator_all");
    for (MPI_Comm const comm : held) {
        int const mine = 1;
        int sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    snapshots.take("communicator_used");
    for (MPI_Comm& comm : held)
        MPI_Comm_free(&comm);
    snapshots.take("communicator_freed");
    malloc_trim(0);
    snapshots.take("communicator_trimmed");
}

std::vector<Refusal> try_windows(int windows, std::size_t bytes, Snapshots& snapshots) {
    std::vector<Refusal> refusals;
    std::vector<char> own(bytes, 1);
    std::vector<MPI_Win> held(static_cast<std::size_t>(windows), MPI_WIN_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (WindowPhases const& phases : k_window_phases) {
        MPI_Win first = MPI_WIN_NULL;
        if (int const code = make_window(phases.kind, bytes, own, first); code != MPI_SUCCESS) {
            refusals.push_back({phases.all, text_of(code)});
            continue;
        }
        MPI_Win_free(&first);
        malloc_trim(0);
        snapshots.take(phases.warm);
        int code = MPI_SUCCESS;
        for (MPI_Win& window : held)
            if (code == MPI_SUCCESS) code = make_window(phases.kind, bytes, own, window);
        if (code == MPI_SUCCESS) snapshots.take(phases.all);
        for (MPI_Win& window : held)
            if (window != MPI_WIN_NULL) MPI_Win_free(&window);
        malloc_trim(0);
        if (code == MPI_SUCCESS) snapshots.take(phases.trimmed);
        if (code != MPI_SUCCESS) refusals.push_back({phases.all, text_of(code)});
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return refusals;
}

}  // namespace sluice::probes
