// SPDX-License-Identifier: BSD-3-Clause
/// The links that see when a call has ended, and which requests it has started or completed.
#pragma once

namespace sluice::plugin {

struct Job;
class Registering;

void add_registration_links(Job& job, Registering& registering) noexcept;
void remove_registration_links(Job& job, Registering& registering) noexcept;

}  // namespace sluice::plugin
