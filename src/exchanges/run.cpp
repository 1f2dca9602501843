// SPDX-License-Identifier: BSD-3-Clause
#include "exchanges/run.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "engine/patience.hpp"
#include "groups/agree.hpp"
#include "groups/nonblocking_maxima.hpp"
#include "groups/tags.hpp"
#include "kernel/device/device_memory.hpp"

namespace sluice::exchanges {

namespace {

// As in Store: looks without result before an idle rank yields its core, and before it looks whether it waits long.
constexpr std::uint64_t k_looks_before_yield = 50;
constexpr unsigned k_polls_between_clocks = 8;

std::optional<Error> fault_of_part(OutgoingPart const& part, std::size_t number, int ranks, Needs needs) {
    std::string const which = "part " + std::to_string(number);
    if (part.rank < 0 || part.rank >= ranks)
        return Error(ErrorCode::invalid_argument, which + " is for rank " + std::to_string(part.rank) + "; there are " +
                                                      std::to_string(ranks) + " ranks");
    if (needs == Needs::sizes || part.produce) return std::nullopt;
    if (part.data.empty() && part.bytes.count > 0)
        return Error(ErrorCode::invalid_argument,
                     which + " has " + std::to_string(part.bytes.count) + " bytes, and neither data nor a function");
    if (part.data.empty() || kernel::device_of(part.data.data()) == nullptr) return std::nullopt;
    return kernel::fault_if_on_device("the memory of " + which, part.data.data());
}

Error at_rank(int rank, Error const& fault) {
    return {fault.code(), "rank " + std::to_string(rank) + ": " + std::string(fault.what())};
}

}  // namespace

std::optional<Error> fault_of_parts(engine::ContextState const& context, std::span<OutgoingPart const> parts,
                                    Needs needs) {
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (auto const fault = fault_of_part(parts[i], i, context.size(), needs))
            return at_rank(context.rank(), *fault);
    return std::nullopt;
}

Error fault_of_takers(engine::ContextState const& context) {
    return at_rank(context.rank(), Error(ErrorCode::invalid_argument, "the function that takes parts is empty"));
}

Run::Run(Context& context, fetch::StoreState& store, std::uint64_t epoch, char const* call,
         std::span<OutgoingPart const> parts, Takers const& takers)
    : owner_(&context),
      context_(&engine::ContextState::of(context)),
      store_(&store),
      epoch_(epoch),
      call_(call),
      parts_(parts),
      takers_(takers) {}

/// Without exchange() other ranks could not publish their parts.
Run::~Run() {
    if (published_ > 0) try {
            withdraw();
        } catch (std::bad_alloc const&) {
            // The names stay published; no rank asks for them.
        }
}

void Run::publish() {
    try {
        if (auto const fault = fault_of_parts(*context_, parts_, Needs::data)) {
            refuse(*fault);
        } else if (!takers_) {
            refuse(fault_of_takers(*context_));
        }
        auto const held = store_->hold();
        for (; published_ < parts_.size() && !fault_; ++published_)
            publish(parts_[published_], published_);
    } catch (std::bad_alloc const&) {
        refuse(context_->no_memory([&] { return "to publish " + std::to_string(parts_.size()) + " parts"; }));
    }
}

void Run::publish(OutgoingPart const& part, std::uint64_t number) {
    std::uint64_t const bytes = size_of_part(part);
    if (bytes == 0) return;
    fetch::Publication publication;
    publication.bytes = bytes;
    publication.readers_left = 1;
    if (part.produce)
        publication.pack = [&part](std::span<std::byte> out) { part.produce(out); };
    else
        publication.data = part.data.data();
    store_->serving().publish({number, epoch_}, std::move(publication));
    if (part.rank == context_->rank()) {
        report_.kept += Bytes{bytes};
        return;
    }
    ++report_.parts_sent;
    report_.sent += Bytes{bytes};
}

void Run::refuse(Error const& fault) {
    fault_ = fault;
    tells_ = Tells::of_a_call;
    withdraw();
}

void Run::withdraw() {
    auto const held = store_->hold();
    for (std::uint64_t i = 0; i < published_; ++i)
        if (store_->serving().find({i, epoch_}) != nullptr) store_->serving().withdraw({i, epoch_});
    published_ = 0;
    store_->serving().close(epoch_);
}

ExchangeReport Run::exchange(Shape const& shape) {
    beyond_before_ = store_->report().beyond;
    store_->forget_peaks();
    arrivals_ = shape.arrivals();
    if (takers_.task != nullptr)
        fetch_in_tasks();
    else
        fetch_with_callbacks();
    end();
    if (thrown_) std::rethrow_exception(thrown_);
    return report();
}

ExchangeReport Run::report() {
    StoreReport const moved = store_->report();
    report_.peak = moved.peak;
    report_.most_on_their_way = moved.most_on_their_way;
    report_.beyond = moved.beyond - beyond_before_;
    return report_;
}

std::shared_ptr<fetch::FetchSet> Run::set_of(Arrival const& arrival) const {
    auto set = std::make_shared<fetch::FetchSet>();
    set->store = store_->life();
    set->wants.push_back({{arrival.from, arrival.part, epoch_}, Bytes{arrival.bytes}});
    return set;
}

void Run::post(std::shared_ptr<fetch::FetchSet> const& set) {
    auto const held = store_->hold();
    store_->fetching().post(set);
}

template <typename Over>
void Run::wait_until(Over const& over) {
    engine::ProgressPatience patience(context_->progress(), k_looks_before_yield);
    while (!over())
        patience.after(poll());
}

void Run::fetch_with_callbacks() {
    open_ = arrivals_.size();
    for (Arrival const& arrival : arrivals_)
        try {
            auto const set = set_of(arrival);
            set->done = [this, at = &arrival](FetchResult part, std::exception_ptr const& error) {
                give(*at, std::move(part), error);
            };
            post(set);
        } catch (std::bad_alloc const&) {
            give(arrival, {}, std::current_exception());
        }
    wait_until([this] { return open_ == 0; });
}

/// A set of tasks that wait for each other for ever is an error of tasks.run(); the other ranks get their parts all the
/// same.
void Run::fetch_in_tasks() {
    try {
        Tasks tasks(*owner_, TaskFailure::handled);
        for (Arrival const& arrival : arrivals_)
            try {
                tasks.spawn(fetch_and_take(arrival));
            } catch (std::bad_alloc const&) {
                note(std::current_exception());
            }
        tasks.run();
    } catch (std::bad_alloc const&) {
        note(std::current_exception());
    } catch (...) {
        if (!thrown_) thrown_ = std::current_exception();
    }
}

Task Run::fetch_and_take(Arrival const& arrival) {
    FetchResult part;
    try {
        auto const set = set_of(arrival);
        post(set);
        part = co_await FetchAwaiter(set);
    } catch (...) {
        note(std::current_exception());
        co_return;
    }
    count(arrival);
    if (thrown_ || tells_ == Tells::of_a_call) co_return;
    try {
        co_await (*takers_.task)(arrival.from, std::move(part));
    } catch (...) {
        if (!thrown_) thrown_ = std::current_exception();
    }
}

void Run::count(Arrival const& arrival) {
    if (arrival.from == context_->rank()) return;
    ++report_.parts_received;
    report_.received += Bytes{arrival.bytes};
}

/// A rank whose call was wrong, or whose taker threw, drops the parts that come.
void Run::give(Arrival const& arrival, FetchResult part, std::exception_ptr const& error) {
    --open_;
    if (error) {
        note(error);
        return;
    }
    count(arrival);
    if (thrown_ || tells_ == Tells::of_a_call) return;
    try {
        (*takers_.callback)(arrival.from, std::move(part));
    } catch (...) {
        thrown_ = std::current_exception();
    }
}

Error Run::fault_of(std::exception const& other) const {
    try {
        return {ErrorCode::internal, other.what()};
    } catch (std::bad_alloc const&) {
        return context_->no_memory();
    }
}

void Run::note(std::exception_ptr const& error) {
    if (fault_) return;
    tells_ = Tells::of_a_part;
    try {
        std::rethrow_exception(error);
    } catch (Error const& known) {
        fault_ = known;
    } catch (std::bad_alloc const&) {
        fault_ = context_->no_memory([] { return "for a part that comes"; });
    } catch (std::exception const& other) {
        fault_ = fault_of(other);
    }
}

/// What another capability's callback throws waits until all ranks have their parts. MPI that fails does not.
bool Run::poll() {
    try {
        return context_->progress().poll();
    } catch (Error const& error) {
        if (error.code() == ErrorCode::mpi) throw;
        note(std::current_exception());
    } catch (std::bad_alloc const&) {
        note(std::current_exception());
    } catch (...) {
        if (!thrown_) thrown_ = std::current_exception();
    }
    return true;
}

/// Serves the other ranks until they have their parts, too. Then nothing is asked for any more: what is left has no
/// reader, and what is under way arrives.
void Run::end() {
    engine::Absences& absences = context_->absences();
    engine::Absences::Wait const wait(absences, call_);
    std::optional<Error> const told = fault_;
    auto const level = static_cast<std::uint64_t>(tells_);
    groups::NonblockingMaxima all(context_->comm(), context_->rank(), context_->size(),
                                  groups::tags::k_exchange_end.first, {level, absences.has_asked() ? 1U : 0U});
    unsigned looks = 0;
    wait_until([&] {
        if (++looks % k_polls_between_clocks == 0 && absences.is_due())
            absences.tell(" for ranks that do not have all of their parts");
        return all.is_known();
    });
    auto const [best, asked] = all.values();
    if (asked != 0) absences.settle();
    withdraw();
    wait_until([this] { return store_->is_empty(); });
    if (best != 0) groups::agree_on_no_error(context_->comm(), level == best ? told : std::nullopt);
}

}  // namespace sluice::exchanges
