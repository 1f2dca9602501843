// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "fetch/store_state.hpp"
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

std::shared_ptr<fetch::FetchSet> set_of(std::span<FetchRequest const> requests) {
    auto set = std::make_shared<fetch::FetchSet>();
    set->wants.assign(requests.begin(), requests.end());
    return set;
}

}  // namespace

std::size_t FetchResult::size() const noexcept {
    return buffers_.size();
}

std::span<std::byte const> FetchResult::operator[](std::size_t i) const noexcept {
    return {buffers_[i]->memory.get(), buffers_[i]->bytes};
}

FetchAwaiter::~FetchAwaiter() {
    set->abandoned = true;  // the task has gone on, or is destroyed while it waits
}

bool FetchAwaiter::await_ready() const noexcept {
    return set->complete;
}

void FetchAwaiter::await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
    set->suspend(waiting);
}

FetchResult FetchAwaiter::await_resume() const {
    set->rethrow();
    return set->take();
}

DeliveryAwaiter::~DeliveryAwaiter() {
    if (wait) wait->task = nullptr;  // the task has gone on, or is destroyed while it waits
}

void DeliveryAwaiter::await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
    wait->task = &waiting.promise();
}

Store::Store(Context& context) : state_(std::make_unique<fetch::StoreState>(context)) {}

Store::~Store() {
    if (std::uncaught_exceptions() > 0) return;
    try {
        finish();
    } catch (std::exception const&) {
        // An MPI call failed. Callers that need to see it call finish() themselves.
    }
}

void Store::publish(Key const& key, Bytes bytes, Packer pack, int readers) {
    auto const held = state_->hold();
    check_owner(key, state_->rank());
    fetch::Publication publication;
    publication.bytes = bytes.count;
    publication.pack = std::move(pack);
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

void Store::publish_lazily(Key const& key, Bytes bytes, DataSource source, int readers) {
    auto const held = state_->hold();
    check_owner(key, state_->rank());
    fetch::Publication publication;
    publication.bytes = bytes.count;
    publication.bring = std::move(source);
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

void Store::publish(Key const& key, std::span<std::byte const> data, int readers) {
    auto const held = state_->hold();
    check_owner(key, state_->rank());
    fetch::Publication publication;
    publication.bytes = data.size();
    static std::byte const nothing{};
    publication.data = data.empty() ? &nothing : data.data();
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

DeliveryAwaiter Store::all_have_it(Key const& key) {
    auto const held = state_->hold();
    fetch::Publication* const publication = state_->serving().find(name_of(key));
    if (key.owner != state_->rank() || publication == nullptr) return {nullptr};
    publication->waiting.push_back(std::make_shared<fetch::DeliveryWait>());
    return {publication->waiting.back()};
}

void Store::when_all_have_it(Key const& key, std::function<void()> done) {
    auto const held = state_->hold();
    check_owner(key, state_->rank(), " waits for the readers of ");
    state_->serving().when_all_have_it(name_of(key), std::move(done));
}

void Store::withdraw(Key const& key) {
    auto const held = state_->hold();
    check_owner(key, state_->rank());
    state_->serving().withdraw(name_of(key));
}

void Store::close(std::uint64_t epoch) {
    auto const held = state_->hold();
    state_->serving().close(epoch);
    state_->sending().close(epoch);
}

FetchAwaiter Store::fetch_all(std::span<FetchRequest const> requests) {
    auto const held = state_->hold();
    auto set = set_of(requests);
    state_->fetching().post(set);
    return FetchAwaiter(std::move(set));
}

void Store::fetch_all(std::span<FetchRequest const> requests,
                      std::function<void(FetchResult, std::exception_ptr)> done) {
    auto const held = state_->hold();
    auto const set = set_of(requests);
    set->done = std::move(done);
    state_->fetching().post(set);
}

void Store::send(int reader, Key const& key, Bytes bytes, Packer const& pack) {
    check_owner(key, state_->rank(), " sends ");
    auto const held = state_->hold();
    state_->sending().send(reader, name_of(key), bytes.count, pack);
}

void Store::send(int reader, Key const& key, std::span<std::byte const> data) {
    send(reader, key, {data.size()}, [data](std::span<std::byte> out) { std::ranges::copy(data, out.begin()); });
}

FetchAwaiter Store::receive_all(std::span<FetchRequest const> requests) {
    auto const held = state_->hold();
    auto set = set_of(requests);
    state_->receiving().post(set);
    return FetchAwaiter(std::move(set));
}

void Store::receive_all(std::span<FetchRequest const> requests,
                        std::function<void(FetchResult, std::exception_ptr)> done) {
    auto const held = state_->hold();
    auto const set = set_of(requests);
    set->done = std::move(done);
    state_->receiving().post(set);
}

bool Store::progress() {
    return state_->context().progress().poll();
}

void Store::wait_until(std::function<bool()> const& over) {
    state_->wait_until(over);
}

std::uint64_t Store::open_sets() const {
    auto const held = state_->hold();
    return state_->fetching().open_sets();
}

void Store::finish() {
    state_->finish();
}

StoreReport Store::report() const {
    return state_->report();
}

}  // namespace sluice
