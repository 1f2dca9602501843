// SPDX-License-Identifier: BSD-3-Clause
/// The objects of MPI that the ranks have made and not freed, by kind.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "record/record.hpp"
#include "report/summary/spread.hpp"

namespace sluice::report {

/// Objects of one kind.
struct ObjectSum {
    record::Object kind = record::Object::none;
    Spread made;
    Spread left;                   ///< made and not freed; of requests also: not complete
    std::uint64_t made_there = 0;  ///< by the rank that has left most
    Spread grown;  ///< bytes of MPI's memory that the making took, the most at a time; requests: persistent ones
    std::uint64_t estimated = 0;  ///< of these over the ranks: not measured around a call
    bool operator==(ObjectSum const&) const = default;
};

/// "communicator"; "" for none. The plural has an s.
std::string_view name_of(record::Object kind);
/// The function that frees it.
std::string_view function_that_frees(record::Object kind);

/// Those that a rank has made, by kind.
std::vector<ObjectSum> objects_of(record::RankRecord const& record);
void add_objects(ObjectSum& into, ObjectSum const& from);
/// Returns the row of `kind`; one of zeros if there is none.
ObjectSum objects_of_kind(std::vector<ObjectSum> const& objects, record::Object kind);

/// An index that is always one of the kinds, whatever a record says.
record::Object checked(record::Object kind);

}  // namespace sluice::report
