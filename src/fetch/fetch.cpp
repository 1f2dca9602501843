// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/given_function.hpp"
#include "engine/told_line.hpp"
#include "fetch/store_state.hpp"
#include "kernel/device/device_memory.hpp"
#include "sluice/fetch.hpp"

namespace sluice {

namespace {

fetch::Name name_of(Key const& key) {
    return {key.id, key.epoch};
}

void check_owner(Key const& key, int rank, char const* verb = " publishes ") {
    if (key.owner != rank)
        throw Error(ErrorCode::invalid_argument,
                    "rank " + std::to_string(rank) + verb + fetch::text_of(key) + ": the key belongs to another rank");
}

void check_readers(Key const& key, int readers) {
    if (readers < 1)
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(key.owner) + " publishes " +
                                                     fetch::text_of(key) + " for " + std::to_string(readers) +
                                                     " readers: there is at least one");
}

void check_memory(Key const& key, std::span<std::byte const> data) {
    if (data.empty() || kernel::device_of(data.data()) == nullptr) return;
    if (auto const fault = kernel::fault_if_on_device("the memory of " + fetch::text_of(key), data.data()))
        throw *fault;
}

std::shared_ptr<fetch::FetchSet> set_of(fetch::StoreState const& state, std::span<FetchRequest const> requests) {
    auto set = std::make_shared<fetch::FetchSet>();
    set->store = state.life();
    set->wants.assign(requests.begin(), requests.end());
    return set;
}

}  // namespace

std::size_t FetchResult::size() const noexcept {
    return buffers_.size();
}

std::span<std::byte const> FetchResult::operator[](std::size_t i) const {
    if (i >= buffers_.size())
        throw Error(ErrorCode::invalid_argument,
                    "a FetchResult has the data of " + std::to_string(buffers_.size()) + " requests, number " +
                        std::to_string(i) + " was asked for" +
                        (buffers_.empty() ? "; it is empty, was moved from, or its fetch failed" : ""));
    return {buffers_[i]->memory.get(), buffers_[i]->bytes};
}

FetchAwaiter::~FetchAwaiter() {
    set->abandoned = true;  // the task has gone on, or is destroyed while it waits
}

bool FetchAwaiter::await_ready() const noexcept {
    return set->complete || set->is_left_behind();
}

void FetchAwaiter::await_suspend(detail::SuspendedTask waiting) const noexcept {
    set->suspend(waiting);
}

FetchResult FetchAwaiter::await_resume() const {
    set->rethrow();
    return set->take();
}

DeliveryAwaiter::~DeliveryAwaiter() {
    if (wait) wait->task = nullptr;  // the task has gone on, or is destroyed while it waits
}

bool DeliveryAwaiter::await_ready() const noexcept {
    return !wait || wait->is_left_behind;
}

void DeliveryAwaiter::await_resume() const {
    if (wait && wait->is_left_behind)
        throw Error(ErrorCode::invalid_argument,
                    "a task waits for the readers of data whose Store was destroyed before they had them: keep the "
                    "Store until its tasks have ended");
}

void DeliveryAwaiter::await_suspend(detail::SuspendedTask waiting) const noexcept {
    wait->task = &waiting.promise();
}

Store::Store(Context& context) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, "Store");
    std::optional<Error> fault;
    try {
        state_ = std::make_unique<fetch::StoreState>(context);
    } catch (std::bad_alloc const&) {
        fault = state.no_memory([] { return "for a Store"; });
    }
    state.meet("Store", fault);
    state_->connect();
}

Store::~Store() {
    if (std::uncaught_exceptions() == 0) try {
            finish();
        } catch (std::exception const&) {
            // An MPI call failed. Callers that need to see it call finish() themselves.
        }
    if (!state_->context().guard().is_taken_by_another()) return;
    engine::tell_that_it_is_in_use("Store", state_->rank());
    static_cast<void>(state_.release());
}

void Store::publish(Key const& key, Bytes bytes, Packer pack, int readers) {
    auto const call = state_->enter("Store::publish");
    check_owner(key, state_->rank());
    check_readers(key, readers);
    base::require(pack, "Store::publish");
    fetch::Publication publication;
    publication.bytes = bytes.count;
    publication.pack = std::move(pack);
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

void Store::publish_lazily(Key const& key, Bytes bytes, DataSource source, int readers) {
    auto const call = state_->enter("Store::publish_lazily");
    check_owner(key, state_->rank());
    check_readers(key, readers);
    base::require(source, "Store::publish_lazily");
    fetch::Publication publication;
    publication.bytes = bytes.count;
    publication.bring = std::move(source);
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

void Store::publish(Key const& key, std::span<std::byte const> data, int readers) {
    auto const call = state_->enter("Store::publish");
    check_owner(key, state_->rank());
    check_readers(key, readers);
    fetch::Publication publication;
    publication.bytes = data.size();
    check_memory(key, data);
    static std::byte const nothing{};
    publication.data = data.empty() ? &nothing : data.data();
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

DeliveryAwaiter Store::all_have_it(Key const& key) {
    return all_have_them(std::span(&key, 1));
}

DeliveryAwaiter Store::all_have_them(std::span<Key const> keys) {
    auto const call = state_->enter("Store::all_have_it");
    auto wait = std::make_shared<fetch::DeliveryWait>();
    for (Key const& key : keys)
        if (key.owner == state_->rank()) state_->serving().add_wait(name_of(key), wait);
    return {wait->missing == 0 ? nullptr : std::move(wait)};
}

void Store::when_all_have_it(Key const& key, std::function<void()> done) {
    when_all_have_them(std::span(&key, 1), std::move(done));
}

void Store::when_all_have_them(std::span<Key const> keys, std::function<void()> done) {
    auto const call = state_->enter("Store::when_all_have_it");
    base::require(done, "Store::when_all_have_it");
    for (Key const& key : keys)
        check_owner(key, state_->rank(), " waits for the readers of ");
    auto const wait = std::make_shared<fetch::DeliveryWait>();
    wait->done = std::move(done);
    for (Key const& key : keys)
        state_->serving().add_wait(name_of(key), wait);
    if (wait->missing == 0) state_->serving().call_soon(wait);
}

void Store::withdraw(Key const& key) {
    auto const call = state_->enter("Store::withdraw");
    check_owner(key, state_->rank());
    state_->serving().withdraw(name_of(key));
}

void Store::close(std::uint64_t epoch) {
    auto const call = state_->enter("Store::close");
    state_->serving().close(epoch);
    state_->sending().close(epoch);
}

FetchAwaiter Store::fetch_all(std::span<FetchRequest const> requests) {
    auto const call = state_->enter("Store::fetch_all");
    auto set = set_of(*state_, requests);
    state_->fetching().post(set);
    return FetchAwaiter(std::move(set));
}

void Store::fetch_all(std::span<FetchRequest const> requests,
                      std::function<void(FetchResult, std::exception_ptr)> done) {
    auto const call = state_->enter("Store::fetch_all");
    base::require(done, "Store::fetch_all");
    auto const set = set_of(*state_, requests);
    set->done = std::move(done);
    state_->fetching().post(set);
}

void Store::send(int reader, Key const& key, Bytes bytes, Packer const& pack) {
    auto const call = state_->enter("Store::send");
    check_owner(key, state_->rank(), " sends ");
    base::require(pack, "Store::send");
    state_->sending().send(reader, name_of(key), bytes.count, pack);
}

void Store::send(int reader, Key const& key, std::span<std::byte const> data) {
    check_memory(key, data);
    send(reader, key, {data.size()}, [data](std::span<std::byte> out) { std::ranges::copy(data, out.begin()); });
}

FetchAwaiter Store::receive_all(std::span<FetchRequest const> requests) {
    auto const call = state_->enter("Store::receive_all");
    auto set = set_of(*state_, requests);
    state_->receiving().post(set);
    return FetchAwaiter(std::move(set));
}

void Store::receive_all(std::span<FetchRequest const> requests,
                        std::function<void(FetchResult, std::exception_ptr)> done) {
    auto const call = state_->enter("Store::receive_all");
    base::require(done, "Store::receive_all");
    auto const set = set_of(*state_, requests);
    set->done = std::move(done);
    state_->receiving().post(set);
}

bool Store::progress() {
    engine::Entry const entry(state_->context(), "Store::progress");
    return state_->context().progress().poll();
}

void Store::wait_until(std::function<bool()> const& over) {
    base::require(over, "Store::wait_until");
    state_->wait_until(over);
}

std::uint64_t Store::open_sets() const {
    auto const call = state_->enter("Store::open_sets");
    return state_->fetching().open_sets();
}

void Store::finish() {
    state_->finish();
}

StoreReport Store::report() const {
    engine::Entry const entry(state_->context(), "Store::report");
    return state_->report();
}

}  // namespace sluice
