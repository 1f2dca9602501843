// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/context.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "groups/agree.hpp"
#include "groups/agreement.hpp"

namespace sluice {

Context::Context(MPI_Comm comm, Settings settings)
    : state_(std::make_unique<engine::ContextState>(comm, std::move(settings))) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

int Context::rank() const noexcept {
    return state_->rank();
}
int Context::size() const noexcept {
    return state_->size();
}
Settings const& Context::settings() const noexcept {
    return state_->settings();
}
Budget& Context::budget() const noexcept {
    return state_->budget();
}

namespace engine {

namespace {

bool is_own_business(std::string_view name) {
    return name == "memory" || name == "paged_memory" || name == "paged_folder";
}

/// Collective. Throws the same Error on every rank if a setting of one rank is out of range, or if a setting differs
/// that decides what goes over the wire: all but the memory of the process and the folders of its files.
void agree_on(MPI_Comm comm, Settings const& settings, std::span<SettingRow const> rows) {
    groups::Agreement agreement;
    std::vector<std::string> names;
    names.reserve(rows.size());  // the agreement refers to them
    for (SettingRow const& row : rows) {
        try {
            Settings().set(row.name, settings.get(row.name));
        } catch (Error const& error) {
            agreement.fault(error);
        }
        if (is_own_business(row.name)) continue;
        names.push_back("setting " + std::string(row.name) + " (" + std::string(row.variable) + ")");
        agreement.alike(names.back(), settings.get(row.name));
    }
    agreement.run(comm);
}

/// The same for all settings. An agreement is of constant size, and settings may become more.
void agree_on(MPI_Comm comm, Settings const& settings) {
    constexpr std::size_t k_settings_at_once = 20;
    std::span<SettingRow const> const rows = setting_rows();
    for (std::size_t first = 0; first < rows.size(); first += k_settings_at_once)
        agree_on(comm, settings, rows.subspan(first, std::min(k_settings_at_once, rows.size() - first)));
}

}  // namespace

ContextState::ContextState(MPI_Comm comm, Settings settings)
    : comm_(mpi::Communicator::twin_of(comm)),
      rank_(mpi::rank_in(comm_.get())),
      size_(mpi::size_of(comm_.get())),
      settings_(std::move(settings)),
      process_(Process::of_this_rank(settings_)),
      remote_memory_(settings_.transport == Transport::automatic),
      staging_pool_(&process_->memory().budget()),
      budget_look_(*process_) {
    agree_on(comm_.get(), settings_);
    progress_.add(budget_look_);
    // Without a ledger the process keeps to an even share; Adaptation::account() explains why.
    if (process_->memory().adaptation() != nullptr && !process_->memory().adaptation()->has_ledger())
        counters_.named("budget.without_ledger").add();
}

std::shared_ptr<node::Node> ContextState::node(Bytes rings) {
    if (!node_ || node_->ring_setting() != rings) {
        node_.reset();
        node_ = std::make_shared<node::Node>(comm_.get(), settings_.transport, rings);
    }
    return node_;
}

void ContextState::most_of_all(std::span<std::uint64_t> values) {
    if (node_ && node_->has_rings() && node_->size() == size_ && values.size() <= node::NodeRings::k_most_values)
        node_->rings().most_of_all(values);
    else
        groups::most_of_all(comm_.get(), values);
}

void ContextState::agree(groups::Agreement& agreement) {
    agreement.run(comm_.get(), [this](std::span<std::uint64_t> values) { most_of_all(values); });
}

bool ContextState::all_true(bool mine) {
    std::uint64_t any_false = mine ? 0 : 1;
    most_of_all({&any_false, 1});
    return any_false == 0;
}

void ContextState::agree_on_no_error(std::optional<Error> const& mine) {
    if (!all_true(!mine)) groups::agree_on_no_error(comm_.get(), mine);
}

Bytes ContextState::ring_memory() const noexcept {
    return node_ && node_->has_rings() ? node_->rings().memory() : Bytes{0};
}

}  // namespace engine
}  // namespace sluice
