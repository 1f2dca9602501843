// SPDX-License-Identifier: BSD-3-Clause
/// The sum of a place that calls MPI: made of one rank's record, and added up.
#pragma once

#include <cstdint>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// `other`: it is site 0, which collects the calls without an entry of their own; its address has no meaning.
SiteSum site_sum(record::Site const& site, Scope const& scope, std::uint32_t rank, bool other);

/// Two addresses of one rank may have the same name, if there are no symbols or a function was inlined twice.
void add_same_rank(SiteSum& into, SiteSum const& from);

/// Adds the same place of other ranks.
void add_site(SiteSum& into, SiteSum const& from);

}  // namespace sluice::report
