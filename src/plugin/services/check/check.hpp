// SPDX-License-Identifier: BSD-3-Clause
/// --check: before a blocking collective call of the program its members compare what they call. A call that they do
/// not have in common does not begin: each member prints the calls of all ranks with their places, the communicator's
/// error handler gets MPI_ERR_OTHER, and that is what the call returns.
///
/// A rank without memory for what it compares still sends what the others wait for: unknown words, which match any
/// other, and an empty text.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>

#include "functions.hpp"
#include "groups/tags.hpp"
#include "plugin/services/check/comparison.hpp"
#include "types/signature.hpp"

namespace sluice::plugin {

/// `count` elements of a type. Without a type, or with a count below 0: nothing that could be compared.
struct Data {
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// A call that is compared.
struct CheckedCall {
    Function function;   ///< without _c: both forms are one operation
    std::uint32_t site;  ///< index into the table of call sites
    MPI_Comm comm;
    int root = -1;
};

class Watch;

class Check {
  public:
    /// Counters of the rank's record.
    struct Counts {
        std::uint64_t& compared;
        std::uint64_t& passed_on;  ///< calls on communicators whose members agreed on no id
    };
    /// `all`: every rank of the job.
    Check(Watch& watch, MPI_Comm all, Counts counts);

    using DataOf = std::function<Data(int member)>;

    /// Data that are the same on all members; `gives` and `takes` must match, too. MPI_SUCCESS, or what the call is to
    /// return after the error handler was told.
    int same(CheckedCall const& call, Data gives = {}, Data takes = {});
    /// Each member gives data of its own size, and every member knows all of the sizes.
    int listed(CheckedCall const& call, Data gives, DataOf const& takes);
    /// The root has the size of each member's part.
    int with_root(CheckedCall const& call, Data mine, DataOf const& of_member);
    /// Each pair of members has a size of its own.
    int pairs(CheckedCall const& call, DataOf const& gives, DataOf const& takes);

  private:
    template <class Run>
    int run(CheckedCall const& call, Run const& compare);
    bool is_valid(MPI_Datatype type) const noexcept;
    types::SignatureWord word(Data const& data) noexcept;
    std::string shown(Data const& data) const;
    std::string describe(CheckedCall const& call, std::string const& what) const;
    int refuse(CheckedCall const& call, Comparison& comparison, std::string const& what);

    Watch& watch_;
    MPI_Comm all_;
    groups::TagRange tags_ = groups::tags::checked(groups::tags::k_largest);
    types::Signatures signatures_;
    bool knows_all_ = true;  // of the call that is compared
    Counts counts_;
};

}  // namespace sluice::plugin
