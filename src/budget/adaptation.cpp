// SPDX-License-Identifier: BSD-3-Clause
#include "budget/adaptation.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice::budget {

namespace {

constexpr std::uint64_t k_between_looks_ns = 1'000'000;
// The interval between two looks if memory is plentiful: M_C is then so large that no process can use it up within the
// interval.
constexpr std::uint64_t k_between_looks_at_plenty_ns = 8'000'000;
constexpr Bytes k_plenty = 256_MiB;
// Between two looks the process asks this often whether the kernel has signalled something.
constexpr std::uint64_t k_asks_between_looks = 4;
constexpr std::uint64_t k_never = ~std::uint64_t{0};
// A process keeps a grant that it does not use for at least one window and at most two.
constexpr std::uint64_t k_window_ns = 250'000'000;
// A place with more than twice the room of the tightest place is looked at every 16th time only.
constexpr unsigned k_passed_over = 15;
// The number of looks between two searches for dead processes, while no process lacks memory.
constexpr std::uint64_t k_looks_between_burials = 64;
constexpr std::uint64_t k_nothing_failed = ~std::uint64_t{0};

std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

Bytes less(Bytes from, Bytes what) noexcept {
    return from - std::min(from, what);
}

Bytes band_of(Bytes computed) noexcept {
    return Bytes{std::clamp<std::uint64_t>(computed.count / 64, 16 << 10, 4 << 20)};
}

/// The part of the bound that is claimed at once, so that a process with many small leases does not ask for each of
/// them.
Bytes portion(Bytes bound, std::uint32_t processes) noexcept {
    return Bytes{std::min<std::uint64_t>(bound.count / (16 * std::uint64_t{std::max(processes, 1U)}), 1 << 20)};
}

}  // namespace

Bytes automatic_reserve(Bytes m) noexcept {
    return Bytes{std::clamp<std::uint64_t>(m.count / 64, 1 << 20, 256 << 20)};
}

Bytes steadied(Bytes current, Bytes computed) noexcept {
    Bytes const band = band_of(computed);
    if (computed >= current && computed - current <= band + band) return current;
    return less(computed, band);
}

Adaptation::Adaptation(Options const& options)
    : node_memory_(options.node_memory), asked_reserve_(options.reserve), processes_(std::max(options.processes, 1U)) {
    UsageFiles files(options.files);
    find_places(options, files);
    if (node_memory_.count != 0) private_memory_ = std::make_unique<PrivateMemory>(files, options.root);
    if (options.share)
        join_ledger();
    else
        why_ = "none: not requested";
    if (options.files == Files::kept)
        listen(options.helper_thread ? options.helper_thread : std::make_shared<kernel::HelperThread>());
    Budget nobody(Bytes{0});  // replaced by the caller's budget at its first look
    look(nobody);
}

void Adaptation::find_places(Options const& options, UsageFiles& files) {
    for (MemoryPlace& found : find_memory_places(options.memory, options.root))
        places_.push_back(Place{MemoryUsage(std::move(found), files, options.root), nullptr, false, k_passed_over, {}});
}

/// The ledger is that of the group with the smallest limit, or else of the machine, so that all processes below that
/// limit join the same one, whenever they start.
void Adaptation::join_ledger() {
    Place* shared = nullptr;
    for (Place& place : places_) {
        MemoryPlace const& found = place.usage.place();
        if (!found.is_shared() || !is_limit(found.limit)) continue;
        if (shared == nullptr || (found.is_group() && found.limit.limit < shared->usage.place().limit.limit))
            shared = &place;
    }
    if (shared == nullptr) {
        why_ = "none: no limit was found that processes share";
        return;
    }
    std::string why;
    ledger_ = NodeLedger::join(shared->usage.identity(), why);
    why_ = ledger_ ? ledger_->name() : "none: " + why;
    // Groups are listed from the process's own group upwards.
    for (Place* place = places_.data(); place != shared; ++place)
        place->is_below_ledger = place->usage.place().is_group();
}

/// Opens one listener for each group, even if the group has two limits. The processes of a node take turns, because the
/// kernel serves them one after the other.
void Adaptation::listen(std::shared_ptr<kernel::HelperThread> const& helper_thread) {
    unsigned const turn =
        ledger_ ? static_cast<unsigned>(ledger_->slot()) : static_cast<unsigned>(getpid()) % processes_;
    std::string heard;
    for (Place& place : places_) {
        MemoryPlace const& group = place.usage.place();
        if (!group.is_group() || !is_limit(group.limit) || group.folder == heard) continue;
        heard = group.folder;
        place.events = std::make_unique<UsageEvents>(group, helper_thread, turn);
    }
}

NodeLedger::Sums Adaptation::sums(Bytes resident) const noexcept {
    Bytes const own = private_memory_ ? private_memory_->read() : Bytes{};
    if (ledger_) {
        // Memory beyond the claim is fragmentation and counts as the program's own use.
        ledger_->tell(std::min(resident, ledger_->claimed()), own, node_memory_);
        return ledger_->sums();
    }
    Bytes const all = resident * processes_;
    return {all, all, all, own * processes_, all, processes_};
}

Bytes Adaptation::reserve_of(MemoryPlace const& place, Bytes m) const noexcept {
    if (place.kind == MemoryPlace::Kind::setting)
        return {};  // the user's setting already excludes the program's own use
    return asked_reserve_.count != 0 ? asked_reserve_ : automatic_reserve(m);
}

Adaptation::Figures Adaptation::figures_of(Place& place, Bytes resident, NodeLedger::Sums const& sums) const noexcept {
    MemoryUsage::Reading const reading = place.usage.read();
    bool const shared = place.usage.place().is_shared();
    Bytes const leases = shared && ledger_ && !place.is_below_ledger ? sums.resident : resident;
    Figures figures{reading.limit, less(reading.used, leases), reserve_of(place.usage.place(), reading.limit), {}};
    figures.m_c = less(figures.m, figures.m_a + figures.reserve);
    // Without a ledger a process may use what it holds and an even share of what is free.
    if (shared && !ledger_) figures.m_c = resident + less(figures.m_c, resident) / processes_;
    return figures;
}

Adaptation::Figures Adaptation::figures_of_node_memory(Bytes resident, NodeLedger::Sums const& sums) const noexcept {
    Figures figures{node_memory_, less(sums.private_memory, sums.private_resident), {}, {}};
    figures.m_c = less(figures.m, figures.m_a);
    if (!ledger_) figures.m_c = resident + less(figures.m_c, sums.private_resident) / processes_;
    return figures;
}

void Adaptation::look_at_places(Bytes resident, NodeLedger::Sums const& sums) noexcept {
    Bytes const least_before = least_.m_c;
    Bytes const everything{k_no_memory_limit};
    Bytes shared = everything;
    Bytes ceiling = everything;
    least_ = {everything, {}, {}, everything};
    least_place_ = nullptr;
    auto const consider = [&](Figures const& figures, Place const* place, bool is_shared) {
        if (figures.m_c < least_.m_c) {
            least_ = figures;
            least_place_ = place;
        }
        if (is_shared) shared = std::min(shared, figures.m_c);
        ceiling = std::min(ceiling, less(figures.m, figures.reserve));
    };
    for (Place& place : places_) {
        bool const far = place.figures.m_c > least_before * 2;
        if (++place.passed_over > k_passed_over || !far) {
            place.passed_over = 0;
            place.figures = figures_of(place, resident, sums);
        }
        consider(place.figures, &place, place.usage.place().is_shared());
    }
    Bytes here = everything;
    if (node_memory_.count != 0) {
        Figures const figures = figures_of_node_memory(resident, sums);
        here = figures.m_c;
        consider(figures, nullptr, false);
    }
    node_m_c_.store(steadied(Bytes{node_m_c_.load()}, here).count, std::memory_order_relaxed);
    shared_m_c_.store(steadied(Bytes{shared_m_c_.load()}, shared).count, std::memory_order_relaxed);
    m_c_.store(steadied(m_c(), least_.m_c).count, std::memory_order_relaxed);
    ceiling_.store(ceiling.count, std::memory_order_relaxed);
}

NodeLedger::Bounds Adaptation::bounds() const noexcept {
    return {Bytes{shared_m_c_.load(std::memory_order_relaxed)}, Bytes{node_m_c_.load(std::memory_order_relaxed)}};
}

/// Returns how much of the grant may be kept.
Bytes Adaptation::kept(Budget& budget, NodeLedger::Sums const& sums) {
    std::uint64_t const now = now_ns();
    peak_now_ = std::max(peak_now_, budget.take_recent_peak());
    if (now >= window_end_) {
        window_end_ = now + k_window_ns;
        peak_before_ = std::exchange(peak_now_, Bytes{});
    }
    NodeLedger::Bounds const most = bounds();
    if (sums.claimed > most.all || sums.claimed_here > most.here) return {};
    if (ledger_->others_wait(most)) return most.even_share(sums.processes);
    return std::max(peak_before_, peak_now_) + portion(std::min(most.all, most.here), sums.processes);
}

void Adaptation::look(Budget& budget) {
    std::lock_guard const lock(mutex_);
    look_locked(budget);
}

bool Adaptation::look_if_due(Budget& budget) {
    std::uint64_t const now = now_ns();
    bool const due = now >= next_look_.load(std::memory_order_relaxed);
    if (!due && now < next_ask_.load(std::memory_order_relaxed)) return false;
    std::unique_lock const lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    bool const told = was_told();
    if (!due && !told) return false;
    look_locked(budget);
    return true;
}

/// A signal also makes the next look read the places that are usually passed over.
bool Adaptation::was_told() noexcept {
    bool told = false;
    for (Place const& place : places_)
        if (place.events && place.events->told()) told = true;
    if (told) {
        for (Place& place : places_)
            place.passed_over = k_passed_over;
        tellings_.fetch_add(1, std::memory_order_relaxed);
    }
    next_ask_.store(now_ns() + between_asks_, std::memory_order_relaxed);
    return told;
}

/// Sets marks for the current limits, and asks for signals only if a listener can deliver them.
void Adaptation::follow_limits(std::uint64_t between_looks) noexcept {
    bool is_listening = false;
    for (Place const& place : places_) {
        if (!place.events) continue;
        place.events->follow(place.figures.m);
        is_listening |= place.events->is_listening();
    }
    between_asks_ = between_looks / k_asks_between_looks;
    next_ask_.store(is_listening ? now_ns() + between_asks_ : k_never, std::memory_order_relaxed);
}

void Adaptation::look_locked(Budget& budget) {
    bool const plenty = m_c() >= k_plenty && last_sums_.claimed <= m_c() / 4 && budget.held() <= m_c() / 4;
    std::uint64_t const between_looks = plenty ? k_between_looks_at_plenty_ns : k_between_looks_ns;
    next_look_.store(now_ns() + between_looks, std::memory_order_relaxed);
    std::uint64_t const number = looks_.fetch_add(1, std::memory_order_relaxed);
    Bytes const resident = budget.resident();
    // Looking for dead processes tries a lock for each slot, so it is done rarely, or as soon as a process lacks
    // memory.
    bool const lacking = failed_wanted_.load(std::memory_order_relaxed) != k_nothing_failed;
    if (ledger_ && (lacking || number % k_looks_between_burials == 0)) ledger_->reclaim_dead();
    last_sums_ = sums(resident);
    if (Bytes const now = budget.resident(); now < resident) give_back(now);  // another thread released bytes meanwhile
    look_at_places(resident, last_sums_);
    follow_limits(between_looks);
    claimants_.store(std::max(last_sums_.processes, 1U), std::memory_order_relaxed);
    Bytes const keep = ledger_ ? kept(budget, last_sums_) : Bytes{k_no_memory_limit};
    if (ledger_ && failed_wanted_.exchange(k_nothing_failed, std::memory_order_relaxed) == k_nothing_failed)
        ledger_->want({});  // no request has been refused since the last look
    budget.adapt(m_c(), ceiling(), keep);
}

void Adaptation::leave_ledger() {
    std::lock_guard const lock(mutex_);
    ledger_.reset();
    for (Place& place : places_)
        place.events.reset();
    why_ = "none: this process has left it";
}

Bytes Adaptation::extend(Bytes wanted) noexcept {
    if (!ledger_) return wanted;
    // A claim that was refused is not repeated before the next look unless a process has given something back.
    if (wanted.count >= failed_wanted_.load(std::memory_order_relaxed) &&
        ledger_->changes() == failed_changes_.load(std::memory_order_relaxed))
        return {};
    std::uint64_t const changes = ledger_->changes();
    NodeLedger::Bounds const most = bounds();
    Bytes const more = wanted + portion(std::min(most.all, most.here), claimants_.load(std::memory_order_relaxed));
    for (Bytes const claim : {more, wanted})
        if (ledger_->try_claim(claim, most)) {
            ledger_->want({});
            return claim;
        }
    ledger_->want(wanted);
    failed_changes_.store(changes, std::memory_order_relaxed);
    failed_wanted_.store(wanted.count, std::memory_order_relaxed);
    return {};
}

void Adaptation::exceed(Bytes held) noexcept {
    if (ledger_) ledger_->claim(held);
}

void Adaptation::shrink(Bytes to) noexcept {
    if (ledger_) ledger_->claim(to);
}

void Adaptation::give_back(Bytes resident) noexcept {
    if (ledger_) ledger_->tell_at_most(resident);
}

Bytes Adaptation::claimed() const {
    std::lock_guard const lock(mutex_);
    return ledger_ ? last_sums_.claimed : Bytes{};
}

Adaptation::Account Adaptation::account() const {
    std::lock_guard const lock(mutex_);
    Account account{least_.m, least_.m_a, least_.reserve, least_.m_c, "no limit found", last_sums_.claimed, 0, why_};
    if (least_place_ != nullptr)
        account.source = least_place_->usage.place().limit.source;
    else if (least_.m.count < k_no_memory_limit)
        account.source = "setting node_memory";
    account.processes = ledger_ ? last_sums_.processes : processes_;
    return account;
}

}  // namespace sluice::budget
