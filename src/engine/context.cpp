// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/context.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "engine/all_ranks.hpp"
#include "engine/context_state.hpp"
#include "engine/meeting.hpp"
#include "engine/told_line.hpp"
#include "groups/agree.hpp"
#include "groups/agreement.hpp"
#include "kernel/files/standard_error.hpp"

namespace sluice {

Context::Context(MPI_Comm comm, Settings settings) {
    kernel::be_quiet(settings.quiet == Switch::on);
    state_ = std::make_shared<engine::ContextState>(comm, std::move(settings));
}

Context::~Context() {
    if (!state_ || state_.use_count() > 1 || !state_->guard().is_taken_by_another()) return;
    engine::tell_that_it_is_in_use("Context", state_->rank());
    static_cast<void>(new (std::nothrow) std::shared_ptr<engine::ContextState>(std::move(state_)));
}

Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

int Context::rank() const {
    return engine::ContextState::of(*this).rank();
}
int Context::size() const {
    return engine::ContextState::of(*this).size();
}
Settings const& Context::settings() const {
    return engine::ContextState::of(*this).settings();
}
Budget& Context::budget() const {
    return engine::ContextState::of(*this).budget();
}

namespace engine {

namespace {

bool is_own_business(std::string_view name) {
    return name == "memory" || name == "quiet" || name == "paged_memory" || name == "paged_folder" ||
           name == "waiting_told_after" || name == "alltoall_window";
}

/// Collective. Throws the same Error on every rank if a setting of one rank is out of range, or if a setting differs
/// that decides what goes over the wire: all but the memory of the process, the folders of its files and what it says.
void agree_on(MPI_Comm comm, Settings const& settings, std::span<SettingRow const> rows) {
    groups::Agreement agreement;
    std::vector<std::string> names;
    std::vector<std::string> texts;
    names.reserve(rows.size());  // the agreement refers to both
    texts.reserve(rows.size());
    for (SettingRow const& row : rows) {
        try {
            Settings().set(row.name, settings.get(row.name));
        } catch (Error const& error) {
            agreement.fault(error);
        }
        if (is_own_business(row.name)) continue;
        names.push_back("setting " + std::string(row.name) + " (" + std::string(row.variable) + ")");
        texts.push_back(settings.get(row.name));
        agreement.alike(names.back(), std::string_view(texts.back()));
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

std::shared_ptr<ContextState> const& ContextState::shared_by(Context const& context) {
    if (!context.state_)
        throw Error(ErrorCode::invalid_argument,
                    "the Context was moved from: use the object that it was moved to, or make a new one");
    return context.state_;
}

ContextState::ContextState(MPI_Comm comm, Settings settings)
    : comm_(mpi::Communicator::twin_of(entered_by_all(mpi::usable(comm, "a Context"), settings))),
      rank_(mpi::rank_in(comm_.get())),
      size_(mpi::size_of(comm_.get())),
      no_memory_(ErrorCode::out_of_memory, "rank " + std::to_string(rank_) + " has no memory left"),
      settings_(std::move(settings)),
      process_(Process::of_this_rank(settings_)),
      absences_(comm_.get(), rank_, size_, static_cast<double>(settings_.waiting_told_after), guard_),
      remote_memory_(settings_.transport == Transport::automatic),
      staging_pool_(&process_->memory().budget()),
      copies_(&process_->memory().budget(), memory::StagingPool::Keeps::until_asked),
      budget_look_(*process_) {
    agree_on(comm_.get(), settings_);
    // One rank tells of a limit that leaves nothing, for all.
    bool const has_none = budget().limit() < Budget::guaranteed_minimum;
    auto const me = static_cast<std::uint64_t>(rank_);
    groups::Agreement agreement;
    std::uint64_t const& first_without = agreement.least(has_none ? me : ~std::uint64_t{0});
    std::uint64_t const& first_node = agreement.least(remote_memory_.card().node);
    std::uint64_t const& last_node = agreement.most(remote_memory_.card().node);
    std::uint64_t const& least_limit = agreement.least(budget().limit().count);
    agreement.run(comm_.get());
    least_limit_ = Bytes{least_limit};
    is_one_node_ = first_node == last_node && first_node != 0;
    if (first_without == me) process_->tell_want_of_memory(rank_);
    progress_.add(budget_look_);
    progress_.add(absences_);
    // Without a ledger the process keeps to an even share; Adaptation::account() explains why.
    if (process_->memory().adaptation() != nullptr && !process_->memory().adaptation()->has_ledger())
        counters_.named("budget.without_ledger").add();
}

ContextState::~ContextState() {
    tell_if_late("a Context");
}

std::shared_ptr<node::Node> ContextState::node(Bytes rings) {
    if (!node_ || node_->ring_setting() != rings) {
        node_.reset();
        node_ = std::make_shared<node::Node>(comm_.get(), settings_.transport, rings);
    }
    return node_;
}

bool ContextState::can_share(std::size_t values) const noexcept {
    return node_ && node_->has_rings() && node_->size() == size_ && values <= node::NodeRings::k_most_values;
}

void ContextState::meet(char const* call, groups::Agreement& agreement) {
    Absences::Wait const wait(absences_, call);
    std::uint64_t const name = base::Fnv1a().add(call).value();
    // The names of calls have the same place in all meetings, so calls that differ are found whatever else they
    // compare.
    auto const maxima = [&](std::span<std::uint64_t> values) {
        constexpr std::size_t k_own = 3;
        Meeting::Values all{name, ~name, absences_.entered()};
        if (values.size() > all.size() - k_own)
            throw Error(ErrorCode::internal,
                        "a meeting takes at most " + std::to_string(all.size() - k_own) + " values");
        std::ranges::copy(values, all.begin() + k_own);
        auto const look = [this] { absences_.look(); };
        if (can_share(all.size()))
            node_->rings().most_of_all(all, look);
        else
            Meeting(comm_.get(), rank_, size_).most_of_all(all, look);
        absences_.set_entered(all[2]);
        if (all[0] != ~all[1]) {
            groups::Agreement calls;
            calls.alike("the collective call on a context", std::string_view(call));
            calls.run(comm_.get());
        }
        std::copy_n(all.begin() + k_own, values.size(), values.begin());
    };
    try {
        agreement.run(comm_.get(), std::cref(maxima));  // a std::function has room for a reference
    } catch (Error const& error) {
        if (error.code() != ErrorCode::mpi) end_questions();  // all ranks have this error
        throw;
    }
}

void ContextState::meet(char const* call, std::optional<Error> const& mine) {
    groups::Agreement agreement;
    std::uint64_t const& any_fault = agreement.most(mine ? 1 : 0);
    meet(call, agreement);
    if (any_fault == 0) return;
    end_questions();
    groups::agree_on_no_error(comm_.get(), mine);
}

void ContextState::most_of_all(std::span<std::uint64_t> values) {
    std::array<std::uint64_t, groups::Agreement::k_most_values + 1> room;
    std::span<std::uint64_t> const all = std::span(room).first(values.size() + 1);
    std::ranges::copy(values, all.begin());
    all.back() = absences_.has_asked() ? 1 : 0;
    if (can_share(all.size()))
        node_->rings().most_of_all(all);
    else
        groups::most_of_all(comm_.get(), all);
    std::copy_n(all.begin(), values.size(), values.begin());
    if (all.back() != 0) absences_.settle();
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
