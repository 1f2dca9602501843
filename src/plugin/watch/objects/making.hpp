// SPDX-License-Identifier: BSD-3-Clause
/// Calls that make an object of MPI and are short: of them are known the place, the time, and the memory that they
/// took.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "functions.hpp"
#include "plugin/binding/gate.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Watch;

/// Null, or one that MPI has from the start: the program need not free it. `handle`: its key.
bool is_predefined(record::Object kind, std::uint64_t handle) noexcept;

class Making {
  public:
    Making(Watch& watch, Function function, void const* caller) noexcept;
    Making(Making const&) = delete;
    Making& operator=(Making const&) = delete;

    /// MPI has made it.
    void made(record::Object kind, std::uint64_t handle) noexcept;
    /// The types that another was made of, of which the program has got handles: those that are not MPI's own are to be
    /// freed. `type` is valid.
    void made_contents(MPI_Datatype type, MPI_Datatype const* types) noexcept;
    /// Writes down what the call took; gives `code` back.
    int end(int code) noexcept;

  private:
    Inside inside_;
    Watch& watch_;
    std::uint32_t site_;
    std::uint64_t start_;
    bool reading_;
    record::Object kind_ = record::Object::none;
};

/// The same within another call.
void made_contents_inside(Watch& watch, MPI_Datatype type, MPI_Datatype const* types) noexcept;

}  // namespace sluice::plugin
