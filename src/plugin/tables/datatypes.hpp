// SPDX-License-Identifier: BSD-3-Clause
/// The datatypes of the program that can be used in calls: MPI's own, and those whose commit succeeded. Before a call
/// MPI must not be asked about a handle, for a bad one calls an error handler of the program.
///
/// MPI may give a handle again as soon as it has freed a type, also to another thread. So each entry has a number, by
/// which a successful MPI_Type_free finds out whether the entry is still that of its type.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "memory/leased.hpp"

namespace sluice::plugin {

struct TypeSize {
    std::uint64_t size = 0;    ///< bytes of data
    std::uint64_t extent = 0;  ///< from one element to the next; 0 if that is not known or goes backwards
    std::int64_t low = 0;      ///< from an element's address to its first byte
    std::uint64_t span = 0;    ///< from its first byte to behind its last
};

class Datatypes {
  public:
    /// `budget`: the memory of a type that is known is leased.
    explicit Datatypes(Budget const& budget) : known_(memory::LeasedAllocator<Entry>(budget)) {}

    /// A valid handle: MPI is asked about it.
    void add(MPI_Datatype type) noexcept;
    /// The program got another reference to a type that may be known.
    void add_reference(MPI_Datatype type) noexcept;
    /// Nothing for a handle that is not known to be valid.
    std::optional<TypeSize> find(MPI_Datatype type) noexcept;
    /// The number of the entry of a type that is about to be freed; 0 if there is none.
    std::uint64_t number_of(MPI_Datatype type) noexcept;
    /// The type was freed: its entry, unless it has become another's.
    void remove(MPI_Datatype type, std::uint64_t number) noexcept;

  private:
    struct Known {
        TypeSize size;
        std::uint64_t number = 0;
        std::uint64_t references = 1;
    };
    using Entry = std::pair<std::uint64_t const, Known>;

    std::mutex changing_;
    std::unordered_map<std::uint64_t, Known, std::hash<std::uint64_t>, std::equal_to<>, memory::LeasedAllocator<Entry>>
        known_;
    std::uint64_t next_number_ = 1;
    std::uint64_t last_key_ = 0;  // the one that was asked for last, mostly asked for again
    TypeSize last_;
};

/// Of a valid handle.
TypeSize size_from_mpi(MPI_Datatype type) noexcept;
/// Of a handle that is not known and that MPI has accepted. MPICH accepts any number that looks like one of its own
/// types, and ends the job when it is asked about it: of such ones, all of which are known if they exist, nothing is
/// told.
std::optional<TypeSize> size_of_accepted(MPI_Datatype type) noexcept;

}  // namespace sluice::plugin
