// SPDX-License-Identifier: BSD-3-Clause
/// Advice on messages that wait in the MPI for their receive: which ranks send them, by which call, and what bounds
/// them.
#pragma once

#include <string>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// What to do about memory that the MPI keeps on the sender's side of point-to-point messages (MPICH within a node).
std::string about_messages_sent(Summary const& summary, SiteSum const& site);
/// The same where messages come in: a receive, a completion.
std::string about_messages_received(Summary const& summary, SiteSum const& site);

/// Whether messages from rank to rank, which the barrier has none of, explain what grew there. What collective calls
/// are defined by explains nothing: these wait for no receive.
bool is_flood_in_barrier(Summary const& summary, SiteSum const& site);
std::string about_barrier(Summary const& summary, SiteSum const& site);

/// Whether members run ahead of others in a rooted collective, whose messages then wait as others do: many calls of few
/// bytes, and no more memory than their messages take.
bool is_flood_of_rooted_calls(Summary const& summary, SiteSum const& site);
std::string about_rooted_calls(Summary const& summary, SiteSum const& site);

}  // namespace sluice::report
