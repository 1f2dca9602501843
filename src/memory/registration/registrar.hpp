// SPDX-License-Identifier: BSD-3-Clause
/// Whatever pins memory: an adapter, the kernel, or a model of one for simulations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "memory/registration/range.hpp"

namespace sluice::memory::registration {

enum class Failure : std::uint8_t {
    none,
    limit,       ///< no more memory may be locked, or no more regions registered
    not_mapped,  ///< a page of the range is not there, or may not be pinned
    device       ///< the registrar is not available, or is gone
};
constexpr std::string_view name_of(Failure failure) noexcept {
    constexpr std::string_view k_names[] = {"none", "limit", "not mapped", "device"};
    return k_names[static_cast<std::size_t>(failure)];
}

struct Registered {
    std::uint64_t key = 0;  ///< names the registration to the registrar
    Failure failure = Failure::none;
    Time cost{};  ///< what it took, also if it failed
};

/// The main thread and the helper call a registrar at the same time. Neither function throws. A range may be registered
/// several times; each registration has a key of its own.
class Registrar {
  public:
    virtual ~Registrar() = default;
    virtual std::string_view name() const noexcept = 0;
    /// Empty, or why nothing can be registered, in one line.
    virtual std::string why_not() const { return {}; }
    virtual Registered add(Range range) noexcept = 0;
    /// Takes back what add() returned for that range; returns the cost. Memory that is no longer mapped is no failure.
    virtual Time remove(std::uint64_t key, Range range) noexcept = 0;
};

}  // namespace sluice::memory::registration
