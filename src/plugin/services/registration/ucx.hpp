// SPDX-License-Identifier: BSD-3-Clause
/// The few functions and structs of UCX that are used, as its public headers declare them (ucp.h, ucm.h, log_def.h of
/// UCX 1.13). They are found in the process when the MPI has loaded UCX: nothing of UCX is linked, and no header of it
/// is needed.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/registration/range.hpp"

namespace sluice::plugin::ucx {

using Status = std::int8_t;  // a packed enumeration
inline constexpr Status k_ok = 0;
inline constexpr Status k_unsupported = -22;

struct ContextParams {
    std::uint64_t fields = 0;  ///< which of the following are set: bit 0 is `features`
    std::uint64_t features = 0;
    std::size_t request_size = 0;
    void (*request_init)(void*) = nullptr;
    void (*request_cleanup)(void*) = nullptr;
    std::uint64_t tag_sender_mask = 0;
    int threads_share = 0;
    std::size_t estimated_endpoints = 0;
    std::size_t estimated_processes = 0;
    char const* name = nullptr;
};
inline constexpr std::uint64_t k_threads_share = 1 << 5;  ///< of ContextParams::fields
inline constexpr std::uint64_t k_known_fields = (1 << 9) - 1;
inline constexpr std::uint64_t k_messages_with_tags = 1 << 0;  ///< of ContextParams::features

struct MapParams {
    std::uint64_t fields = 0;  ///< bit 0 is `address`, bit 1 `bytes`
    void* address = nullptr;
    std::size_t bytes = 0;
    unsigned flags = 0;
    unsigned access = 0;
    int memory_type = 0;
    void const* later_fields[4] = {};  // not looked at: their bits are 0
};

/// A function of UCX in this process; null if UCX is not loaded.
void* look_up(char const* name) noexcept;

/// Any thread may call these, also at the same time as the MPI.
class Library {
  public:
    /// Nothing, and the reason, if the UCX of this process is not one that was tested.
    static std::optional<Library> find(std::string& why_not);

    /// Registers a range in the context and lets go of it at once: the context's cache keeps it. What UCX would say on
    /// standard error about a failure is left out, for the program has asked for nothing.
    bool register_in_cache(void* context, memory::registration::Range range) const noexcept;
    /// The caches of all contexts forget registrations that overlap the range: those that are not in use are given back
    /// with the next registration that the cache makes, others when they are no longer in use. Does not allocate.
    void forget(memory::registration::Range range) const noexcept;

  private:
    using Map = Status (*)(void* context, MapParams const*, void** mapped);
    using Unmap = Status (*)(void* context, void* mapped);
    using Unmapped = void (*)(void* address, std::size_t bytes);
    Map map_ = nullptr;
    Unmap unmap_ = nullptr;
    Unmapped unmapped_ = nullptr;
};

}  // namespace sluice::plugin::ucx
