// SPDX-License-Identifier: BSD-3-Clause
/// madre.h: the interface of MADRE, over sluice::redistribute.
#include "madre.h"

#include <array>
#include <cctype>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "engine/context_state.hpp"
#include "groups/agreement.hpp"
#include "kernel/files/standard_error.hpp"
#include "mpi/mpi.hpp"
#include "sluice/redistribute.hpp"

using sluice::Error;
using sluice::ErrorCode;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::HandleMemory;
using sluice::c::invalid;

namespace {

/// The names that MADRE programs use, and Sluice's names for the same things, as `plain` writes them.
struct Alias {
    std::string_view alias;
    std::string_view name;
};
constexpr std::array k_aliases{
    Alias{"pinhend", "parking"},
    Alias{"pinarhendrickson", "parking"},
    Alias{"cyclicscheduler", "cyclic"},
};

std::string plain(std::string_view name) {
    std::string letters;
    for (char const c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return letters;
}

sluice::Strategy strategy_of(char const* asked, sluice::Settings const& settings) {
    if (asked == nullptr || *asked == '\0') return settings.strategy;
    std::string const letters = plain(asked);
    for (Alias const& known : k_aliases)
        if (known.alias == letters) return sluice::strategy_named(known.name);
    try {
        return sluice::strategy_named(letters);
    } catch (Error const&) {
        return sluice::strategy_named(asked);  // throws with the name as the caller wrote it
    }
}

/// Returns the bytes of one block of a datatype without gaps.
std::uint64_t block_bytes_of(int block_length, MPI_Datatype datatype) {
    if (block_length < 1) throw invalid("blockLength is " + std::to_string(block_length) + ", must be at least 1");
    if (datatype == MPI_DATATYPE_NULL) throw invalid("datatype is MPI_DATATYPE_NULL");
    MPI_Count size = 0;
    MPI_Count lower_bound = 0;
    MPI_Count extent = 0;
    sluice::mpi::check(MPI_Type_size_x(datatype, &size), "MPI_Type_size_x");
    sluice::mpi::check(MPI_Type_get_extent_x(datatype, &lower_bound, &extent), "MPI_Type_get_extent_x");
    if (size != extent || lower_bound != 0 || size < 1)
        throw Error(ErrorCode::unsupported, "datatype has " + std::to_string(size) + " bytes in an extent of " +
                                                std::to_string(extent) + " from " + std::to_string(lower_bound) +
                                                ": MADRE objects here need one without gaps that begins at 0");
    return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(block_length);
}

void report_error(int rank) noexcept {
    if (rank != 0) return;
    try {
        sluice::kernel::put_on_standard_error(std::string("MADRE: ") + sluice::base::last_error_text() + "\n");
    } catch (std::bad_alloc const&) {  // the line is all that is lost
    }
}

}  // namespace

/// One object of MADRE. A change of its memory is added to the sum of the rank.
struct MADRE_Object_s {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::madre;
    MADRE_Object_s(void* blocks, MPI_Comm users, sluice::Context made)
        : data(blocks), comm(users), context(std::move(made)) {
        account();
    }
    ~MADRE_Object_s() { sluice::engine::ContextState::of(context).process().madre_bytes() -= accounted; }
    MADRE_Object_s(MADRE_Object_s const&) = delete;
    MADRE_Object_s& operator=(MADRE_Object_s const&) = delete;

    void account() {
        sluice::engine::ContextState& state = sluice::engine::ContextState::of(context);
        std::uint64_t const holds = sizeof(*this) + sizeof(state) + (state.meter().held() + state.ring_memory()).count;
        state.process().madre_bytes() += holds;
        state.process().madre_bytes() -= accounted;
        accounted = holds;
    }

    void* data;
    std::uint64_t count = 0;
    std::uint64_t block_bytes = 0;
    sluice::Strategy strategy = sluice::Strategy::token;
    MPI_Comm comm;  // the user's, for its error handler
    sluice::Context context;
    std::uint64_t accounted = 0;
};

MADRE_Object MADRE_create(void* data, char* strategy, int numBlocks, int blockLength, MPI_Datatype datatype,
                          MPI_Comm comm) {
    MADRE_Object made_object = MADRE_OBJECT_NULL;
    int rank = 0;
    int const code = sluice::base::c_boundary([&] {
        rank = sluice::mpi::rank_in(sluice::mpi::usable(comm, "a MADRE object"));
        sluice::Settings settings;
        HandleMemory<MADRE_Object_s> memory;
        std::uint64_t block_bytes = 0;
        sluice::Strategy chosen = sluice::Strategy::token;
        std::optional<Error> fault = fault_in([&] {
            memory.take();
            settings = sluice::Settings::from_environment();
        });
        // The context is made even after an error: the ranks agree on the error over it.
        sluice::Context context(comm, fault ? sluice::Settings() : settings);
        if (!fault)
            fault = fault_in([&] {
                if (numBlocks < 0) throw invalid("numBlocks is " + std::to_string(numBlocks));
                if (data == nullptr && numBlocks > 0)
                    throw invalid("data is NULL, numBlocks is " + std::to_string(numBlocks));
                block_bytes = block_bytes_of(blockLength, datatype);
                chosen = strategy_of(strategy, settings);
            });
        sluice::groups::Agreement agreement;
        agreement.fault(fault);
        agreement.alike("block size in bytes", block_bytes);
        agreement.alike("strategy", sluice::name_of(chosen));
        sluice::engine::ContextState::of(context).agree(agreement);
        made_object = memory.make(data, comm, std::move(context));
        MADRE_Object_s& object = existing(made_object, "the object");
        object.count = static_cast<std::uint64_t>(numBlocks);
        object.block_bytes = block_bytes;
        object.strategy = chosen;
    });
    if (code == 0) return made_object;
    report_error(rank);
    return MADRE_OBJECT_NULL;
}

void MADRE_redistribute(MADRE_Object handle, int length, int* destRanks, int* destIndices) {
    MADRE_Object_s* madre = nullptr;
    int const code = sluice::base::c_boundary([&] {
        madre = &existing(handle, "MADRE_redistribute: the object");
        std::optional<Error> fault;
        if (length < 0 || static_cast<std::uint64_t>(length) > madre->count)
            fault = invalid("length is " + std::to_string(length) + ", the object has " + std::to_string(madre->count) +
                            " blocks");
        else if (length > 0 && (destRanks == nullptr || destIndices == nullptr))
            fault = invalid("destRanks or destIndices is NULL, length is " + std::to_string(length));
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(madre->context), fault, "MADRE_redistribute");

        std::uint64_t const live = static_cast<std::uint64_t>(length);
        auto const destination = [&](std::uint64_t block, std::span<std::byte const>) {
            if (block >= live || destRanks[block] < 0) return sluice::free_block;
            return sluice::Destination{destRanks[block], destIndices[block]};
        };
        sluice::redistribute(madre->context, {madre->data, madre->count, {madre->block_bytes}},
                             std::cref(destination),  // for a copy of it a std::function would allocate
                             {madre->strategy, std::nullopt});
    });
    if (madre != nullptr) madre->account();
    if (code == 0) return;
    report_error(madre == nullptr ? 0 : madre->context.rank());
    if (!sluice::mpi::is_running()) return;
    MPI_Comm_call_errhandler(madre == nullptr ? MPI_COMM_WORLD : madre->comm,
                             code == static_cast<int>(ErrorCode::invalid_argument) ? MPI_ERR_ARG : MPI_ERR_OTHER);
}

void MADRE_destroy(MADRE_Object handle) {
    if (sluice::c::free_handle(&handle, "MADRE_destroy: the object") != 0) report_error(0);
}

void MADRE_setDataPointer(MADRE_Object handle, void* data) {
    if (MADRE_Object_s* const madre = sluice::c::looked_up(handle, "MADRE_setDataPointer: the object"))
        madre->data = data;
}

long MADRE_getMem() {
    long bytes = 0;
    sluice::base::c_boundary([&] {
        int initialized = 0;
        int finalized = 0;
        sluice::mpi::check(MPI_Initialized(&initialized), "MPI_Initialized");
        sluice::mpi::check(MPI_Finalized(&finalized), "MPI_Finalized");
        if (initialized == 0 || finalized != 0) return;
        auto const process = sluice::engine::Process::existing();
        if (process) bytes = static_cast<long>(process->madre_bytes().load());
    });
    return bytes;
}
