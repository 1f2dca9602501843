// SPDX-License-Identifier: BSD-3-Clause
/// The store's part of sluice.h. No exception passes in either direction.
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "engine/context_state.hpp"
#include "groups/agree.hpp"
#include "sluice/fetch.hpp"
#include "sluice/sluice.h"

using sluice::Error;
using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::free_handle;
using sluice::c::invalid;

using sluice::FetchRequest;
using sluice::FetchResult;
using sluice::Key;
using sluice::Store;
using sluice::StoreReport;

struct sluice_store {
    explicit sluice_store(sluice::Context& context) : store(context) {}
    Store store;
};
struct sluice_fetched {
    FetchResult data;
};

static_assert(SLUICE_ANY_BYTES == FetchRequest::k_any);

namespace {

Key key_of(sluice_key const& key) {
    return {key.owner, key.id, key.epoch};
}

Store& store_of(sluice_store* store) {
    return existing(store, "store").store;
}

std::span<std::byte const> bytes_at(void const* data, std::uint64_t bytes) {
    if (data == nullptr && bytes > 0) throw invalid("data is NULL, bytes is " + std::to_string(bytes));
    return {static_cast<std::byte const*>(data), bytes};
}

Store::Packer packing(sluice_pack_function pack, void* user) {
    if (pack == nullptr) throw invalid("the pack function is NULL");
    return [pack, user](std::span<std::byte> out) {
        int const code = pack(user, out.data(), out.size());
        if (code != 0) throw invalid("its pack function returned " + std::to_string(code));
    };
}

std::vector<FetchRequest> wants_from(sluice_want const* wants, std::size_t count) {
    if (wants == nullptr && count > 0) throw invalid("wants is NULL, count is " + std::to_string(count));
    std::vector<FetchRequest> list;
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        list.push_back({key_of(wants[i].key), wants[i].bytes});
    return list;
}

using Done = std::function<void(FetchResult, std::exception_ptr)>;

/// Allocates the arguments of the callback now, so that the call itself cannot fail for lack of memory.
Done calling(sluice_done_function done, void* user) {
    if (done == nullptr) throw invalid("the done function is NULL");
    auto fetched = std::make_shared<std::unique_ptr<sluice_fetched>>(std::make_unique<sluice_fetched>());
    return [done, user, fetched](FetchResult data, std::exception_ptr const& error) {
        int const code = c_boundary([&] {
            if (error) std::rethrow_exception(error);
        });
        if (code == SLUICE_SUCCESS) (*fetched)->data = std::move(data);
        done(user, code, code == SLUICE_SUCCESS ? fetched->release() : nullptr);
    };
}

}  // namespace

size_t sluice_fetched_count(sluice_fetched const* fetched) {
    return fetched == nullptr ? 0 : fetched->data.size();
}

void const* sluice_fetched_data(sluice_fetched const* fetched, size_t which) {
    return which < sluice_fetched_count(fetched) ? fetched->data[which].data() : nullptr;
}

uint64_t sluice_fetched_bytes(sluice_fetched const* fetched, size_t which) {
    return which < sluice_fetched_count(fetched) ? fetched->data[which].size() : 0;
}

int sluice_fetched_free(sluice_fetched** fetched) {
    return free_handle(fetched);
}

int sluice_store_create(sluice_context* context, sluice_store** store) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        std::optional<Error> const fault = fault_in([&] { existing(store, "store") = nullptr; });
        sluice::groups::agree_on_no_error(sluice::engine::ContextState::of(over).comm(), fault);
        *store = new sluice_store(over);
    });
}

int sluice_store_publish(sluice_store* store, sluice_key key, uint64_t bytes, sluice_pack_function pack, void* user,
                         int readers) {
    return c_boundary([&] { store_of(store).publish(key_of(key), bytes, packing(pack, user), readers); });
}

int sluice_store_publish_bytes(sluice_store* store, sluice_key key, void const* data, uint64_t bytes, int readers) {
    return c_boundary([&] { store_of(store).publish(key_of(key), bytes_at(data, bytes), readers); });
}

int sluice_store_when_read(sluice_store* store, sluice_key key, sluice_read_function read, void* user) {
    return c_boundary([&] {
        if (read == nullptr) throw invalid("the read function is NULL");
        store_of(store).when_all_have_it(key_of(key), [read, user] { read(user); });
    });
}

int sluice_store_withdraw(sluice_store* store, sluice_key key) {
    return c_boundary([&] { store_of(store).withdraw(key_of(key)); });
}

int sluice_store_close(sluice_store* store, uint64_t epoch) {
    return c_boundary([&] { store_of(store).close(epoch); });
}

int sluice_store_fetch_all(sluice_store* store, sluice_want const* wants, size_t count, sluice_done_function done,
                           void* user) {
    return c_boundary([&] { store_of(store).fetch_all(wants_from(wants, count), calling(done, user)); });
}

int sluice_store_send(sluice_store* store, int reader, sluice_key key, uint64_t bytes, sluice_pack_function pack,
                      void* user) {
    return c_boundary([&] { store_of(store).send(reader, key_of(key), bytes, packing(pack, user)); });
}

int sluice_store_send_bytes(sluice_store* store, int reader, sluice_key key, void const* data, uint64_t bytes) {
    return c_boundary([&] { store_of(store).send(reader, key_of(key), bytes_at(data, bytes)); });
}

int sluice_store_receive_all(sluice_store* store, sluice_want const* wants, size_t count, sluice_done_function done,
                             void* user) {
    return c_boundary([&] { store_of(store).receive_all(wants_from(wants, count), calling(done, user)); });
}

int sluice_store_progress(sluice_store* store, int* moved) {
    return c_boundary([&] {
        bool const some = store_of(store).progress();
        if (moved != nullptr) *moved = some ? 1 : 0;
    });
}

int sluice_store_wait(sluice_store* store) {
    return c_boundary([&] {
        Store& waited = store_of(store);
        waited.wait_until([&] { return waited.open_sets() == 0; });
    });
}

int sluice_store_wait_for(sluice_store* store, uint64_t const* counter, uint64_t least) {
    return c_boundary([&] {
        uint64_t const volatile& count = existing(counter, "counter");
        store_of(store).wait_until([&] { return count >= least; });
    });
}

int sluice_store_finish(sluice_store* store) {
    return c_boundary([&] { store_of(store).finish(); });
}

int sluice_store_free(sluice_store** store) {
    return c_boundary([&] {
        sluice_store*& place = existing(store, "the address of the handle");
        if (place == nullptr) return;
        place->store.finish();  // an exception here, inside a callback, keeps the store
        delete std::exchange(place, nullptr);
    });
}

int sluice_store_get_report(sluice_store* store, sluice_store_report* report) {
    return c_boundary([&] {
        sluice_store_report& into = existing(report, "report");
        StoreReport const of = store_of(store).report();
        into = {of.sets,
                of.fetched,
                of.fetched_here,
                of.reused,
                of.served,
                of.fetched_bytes.count,
                of.held.count,
                of.peak.count,
                of.beyond,
                of.early,
                of.retried,
                of.sent,
                of.received,
                of.sent_bytes.count,
                of.received_bytes.count,
                of.packed_peak.count,
                of.uncontrolled_peak.count,
                of.unexpected.count};
    });
}
