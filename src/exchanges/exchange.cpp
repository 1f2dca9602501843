// SPDX-License-Identifier: BSD-3-Clause
/// The streamed all-to-all. Each part is a publication with one reader, under the tokens of a store of its own:
///
///     announce: part i of this rank has n bytes for you ──> a fetch for each ──> take ──> freed
///               sparse: ranks without parts cost nothing     under tokens
///
/// It ends because a store does (docs/proofs/fetch.md): a set of one part is always granted in the end, and a part that
/// cannot be produced is a refusal, which ends its fetch.
#include "sluice/exchange.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "engine/context_state.hpp"
#include "engine/sparse/sparse_exchange.hpp"
#include "groups/tags.hpp"
#include "kernel/device/device_memory.hpp"
#include "memory/leased.hpp"

namespace sluice {

namespace {

/// Tells a rank of a part for it.
struct Announcement {
    std::uint64_t part;  ///< its number on the sender
    std::uint64_t bytes;
};

struct Arrival {
    int from;
    Announcement what;
};

/// Memory for packets of announcements.
constexpr Bytes k_packets{64 << 10};

std::uint64_t size_of_part(OutgoingPart const& part) {
    return part.produce ? part.bytes.count : part.data.size();
}

std::optional<Error> fault_of_part(OutgoingPart const& part, std::size_t number, int ranks) {
    std::string const which = "part " + std::to_string(number);
    if (part.rank < 0 || part.rank >= ranks)
        return Error(ErrorCode::invalid_argument, which + " is for rank " + std::to_string(part.rank) + "; there are " +
                                                      std::to_string(ranks) + " ranks");
    if (!part.produce && part.data.empty() && part.bytes.count > 0)
        return Error(ErrorCode::invalid_argument,
                     which + " has " + std::to_string(part.bytes.count) + " bytes, and neither data nor a function");
    return size_of_part(part) > 0 && !part.produce
               ? kernel::fault_if_on_device("the memory of " + which, part.data.data())
               : std::nullopt;
}

class StreamedExchange {
  public:
    /// One of `take` and `task` is null.
    StreamedExchange(Context& context, std::span<OutgoingPart const> parts, PartTaker const* take, PartTask const* task)
        : context_(context),
          state_(engine::ContextState::of(context)),
          parts_(parts),
          take_(take),
          task_(task),
          arrivals_(memory::LeasedAllocator<Arrival>(context.budget())) {}

    ExchangeReport run() {
        check();
        announce();
        Store store(context_);
        publish(store);
        sort_arrivals();
        if (task_ != nullptr)
            fetch_in_tasks(store);
        else
            fetch(store);
        store.finish();
        StoreReport const moved = store.report();
        report_.peak = moved.peak;
        report_.most_on_their_way = moved.most_on_their_way;
        report_.beyond = moved.beyond;
        state_.agree_on_no_error(fault_);
        if (thrown_) std::rethrow_exception(thrown_);
        return report_;
    }

    // As a taker of announcements: SparseExchange.
    void accept(int source, Announcement const& what) {
        try {
            arrivals_.push_back({source, what});
        } catch (std::bad_alloc const&) {
            fault_.emplace(ErrorCode::out_of_memory, "rank " + std::to_string(state_.rank()) +
                                                         " has no memory for the announcements of " +
                                                         std::to_string(arrivals_.size()) + " parts");
        }
    }
    void expect(Announcement const&) const noexcept {}

  private:
    void check() {
        for (std::size_t i = 0; i < parts_.size() && !fault_; ++i)
            fault_ = fault_of_part(parts_[i], i, state_.size());
        if (!fault_ && !(task_ != nullptr ? static_cast<bool>(*task_) : static_cast<bool>(*take_)))
            fault_.emplace(ErrorCode::invalid_argument, "the function that takes parts is empty");
        if (fault_)
            fault_.emplace(fault_->code(),
                           "rank " + std::to_string(state_.rank()) + ": " + std::string(fault_->what()));
        state_.meet("exchange", fault_);
    }

    void announce() {
        std::optional<engine::SparseExchange<Announcement, StreamedExchange>> sparse;
        try {
            sparse.emplace(state_, nullptr, *this, k_packets, groups::tags::k_parts);
        } catch (std::bad_alloc const&) {
            fault_.emplace(ErrorCode::out_of_memory,
                           "rank " + std::to_string(state_.rank()) + " has no memory to announce its parts");
        }
        state_.agree_on_no_error(fault_);
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            Announcement const what{i, size_of_part(parts_[i])};
            if (what.bytes == 0) continue;
            if (parts_[i].rank == state_.rank())
                accept(state_.rank(), what);
            else
                sparse->send(parts_[i].rank, what);
        }
        sparse->finish();
        state_.agree_on_no_error(fault_);
    }

    void publish(Store& store) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            OutgoingPart const& part = parts_[i];
            std::uint64_t const bytes = size_of_part(part);
            if (bytes == 0) continue;
            Key const key{state_.rank(), i, 0};
            if (part.produce)
                store.publish(key, Bytes{bytes}, [&part](std::span<std::byte> out) { part.produce(out); });
            else
                store.publish(key, part.data);
            if (part.rank == state_.rank()) {
                report_.kept += Bytes{bytes};
                continue;
            }
            ++report_.parts_sent;
            report_.sent += Bytes{bytes};
        }
    }

    /// Ranks begin with the parts of the ranks after them, so that not all ask the same rank first.
    void sort_arrivals() {
        auto const distance = [this](Arrival const& arrival) {
            return (arrival.from - state_.rank() + state_.size()) % state_.size();
        };
        std::ranges::sort(arrivals_, [&](Arrival const& a, Arrival const& b) {
            return std::pair(distance(a), a.what.part) < std::pair(distance(b), b.what.part);
        });
    }

    static FetchRequest request_of(Arrival const& arrival) {
        return {{arrival.from, arrival.what.part, 0}, Bytes{arrival.what.bytes}};
    }

    void fetch(Store& store) {
        open_ = arrivals_.size();
        for (Arrival const& arrival : arrivals_) {
            FetchRequest const request = request_of(arrival);
            store.fetch_all({&request, 1}, [this, arrival](FetchResult part, std::exception_ptr const& error) {
                --open_;
                if (error)
                    note(error);
                else
                    give(arrival, std::move(part));
            });
        }
        store.wait_until([this] { return open_ == 0; });
    }

    /// A set of tasks that wait for each other for ever is an error of run(); the other ranks get their parts all the
    /// same.
    void fetch_in_tasks(Store& store) {
        Tasks tasks(context_, TaskFailure::handled);
        for (Arrival const& arrival : arrivals_)
            tasks.spawn(fetch_and_take(store, arrival));
        try {
            tasks.run();
        } catch (...) {
            if (!thrown_) thrown_ = std::current_exception();
        }
    }

    Task fetch_and_take(Store& store, Arrival arrival) {
        FetchRequest const request = request_of(arrival);
        FetchResult part;
        try {
            part = co_await store.fetch_all(request);
        } catch (...) {
            note(std::current_exception());
            co_return;
        }
        count(arrival);
        if (thrown_) co_return;
        try {
            co_await (*task_)(arrival.from, std::move(part));
        } catch (...) {
            if (!thrown_) thrown_ = std::current_exception();
        }
    }

    void count(Arrival const& arrival) {
        if (arrival.from == state_.rank()) return;
        ++report_.parts_received;
        report_.received += Bytes{arrival.what.bytes};
    }

    void give(Arrival const& arrival, FetchResult part) {
        count(arrival);
        if (thrown_) return;
        try {
            (*take_)(arrival.from, std::move(part));
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }

    void note(std::exception_ptr const& error) {
        if (fault_) return;
        try {
            std::rethrow_exception(error);
        } catch (Error const& known) {
            fault_ = known;
        } catch (std::exception const& other) {
            fault_.emplace(ErrorCode::internal, other.what());
        }
    }

    Context& context_;
    engine::ContextState& state_;
    std::span<OutgoingPart const> parts_;
    PartTaker const* take_;
    PartTask const* task_;
    memory::LeasedVector<Arrival> arrivals_;
    std::uint64_t open_ = 0;
    std::optional<Error> fault_;
    std::exception_ptr thrown_;
    ExchangeReport report_;
};

}  // namespace

ExchangeReport exchange(Context& context, std::span<OutgoingPart const> parts, PartTaker const& take) {
    engine::Entry const entry(engine::ContextState::of(context), "exchange");
    return StreamedExchange(context, parts, &take, nullptr).run();
}

ExchangeReport exchange_in_tasks(Context& context, std::span<OutgoingPart const> parts, PartTask const& take) {
    engine::Entry const entry(engine::ContextState::of(context), "exchange_in_tasks");
    return StreamedExchange(context, parts, nullptr, &take).run();
}

}  // namespace sluice
