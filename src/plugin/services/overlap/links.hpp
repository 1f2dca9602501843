// SPDX-License-Identifier: BSD-3-Clause
/// The links of calls that go beside receives that are under way (receiving.hpp). While nothing is, each costs one load
/// and one branch, receives besides the bytes of their message.
#pragma once

namespace sluice::plugin {

struct Job;
class Receiving;

void add_overlap_links(Job& job, Receiving& receiving) noexcept;
void remove_overlap_links(Job& job, Receiving& receiving) noexcept;

}  // namespace sluice::plugin
