// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/fetch.h.
#include "sluice/c/fetch.h"

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
#include "c/c_report.hpp"
#include "c/c_store.hpp"
#include "engine/context_state.hpp"
#include "mpi/mpi.hpp"
#include "sluice/fetch.hpp"

using sluice::Error;
using sluice::FetchRequest;
using sluice::FetchResult;
using sluice::Store;
using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::free_handle;
using sluice::c::HandleMemory;
using sluice::c::invalid;
using sluice::c::key_of;
using sluice::c::looked_up;
using sluice::c::NewHandle;
using sluice::c::store_of;
using sluice::c::taken;

struct sluice_fetch_result {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::fetch_result;
    FetchResult data;
};
struct sluice_data_sink {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::data_sink;
    Store::DataSink sink;
};

static_assert(SLUICE_ANY_BYTES == FetchRequest::k_any.count);

namespace {

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

std::vector<FetchRequest> requests_from(sluice_fetch_request const* requests, std::size_t count) {
    if (requests == nullptr && count > 0) throw invalid("requests is NULL, count is " + std::to_string(count));
    std::vector<FetchRequest> list;
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        list.push_back({key_of(requests[i].key), {requests[i].bytes}});
    return list;
}

using Done = std::function<void(FetchResult, std::exception_ptr)>;

/// Allocates the arguments of the callback now, so that the call itself cannot fail for lack of memory.
Done calling(sluice_done_function done, void* user) {
    if (done == nullptr) throw invalid("the done function is NULL");
    auto const handle = std::make_shared<NewHandle<sluice_fetch_result>>();
    return [done, user, handle](FetchResult data, std::exception_ptr const& error) {
        int const code = c_boundary([&] {
            if (error) std::rethrow_exception(error);
        });
        if (code == SLUICE_SUCCESS) (*handle)->data = std::move(data);
        done(user, code, code == SLUICE_SUCCESS ? handle->release() : nullptr);
    };
}

}  // namespace

size_t sluice_fetch_result_count(sluice_fetch_result const* result) {
    sluice_fetch_result const* const of = looked_up(result, "result");
    return of == nullptr ? 0 : of->data.size();
}

void const* sluice_fetch_result_data(sluice_fetch_result const* result, size_t which) {
    sluice_fetch_result const* const of = looked_up(result, "result");
    return of != nullptr && which < of->data.size() ? of->data[which].data() : nullptr;
}

uint64_t sluice_fetch_result_bytes(sluice_fetch_result const* result, size_t which) {
    sluice_fetch_result const* const of = looked_up(result, "result");
    return of != nullptr && which < of->data.size() ? of->data[which].size() : 0;
}

int sluice_fetch_result_free(sluice_fetch_result** result) {
    return free_handle(result, "result");
}

int sluice_store_create(sluice_context* context, sluice_store** store) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        HandleMemory<sluice_store> memory;
        std::optional<Error> const fault = fault_in([&] {
            existing(store, "store") = nullptr;
            memory.take();
        });
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_store_create");
        *store = memory.make(over);
    });
}

int sluice_store_publish(sluice_store* store, sluice_key key, uint64_t bytes, sluice_pack_function pack, void* user,
                         int readers) {
    return c_boundary([&] { store_of(store).publish(key_of(key), {bytes}, packing(pack, user), readers); });
}

int sluice_store_publish_bytes(sluice_store* store, sluice_key key, void const* data, uint64_t bytes, int readers) {
    return c_boundary([&] { store_of(store).publish(key_of(key), bytes_at(data, bytes), readers); });
}

int sluice_store_publish_lazily(sluice_store* store, sluice_key key, uint64_t bytes, sluice_source_function source,
                                void* user, int readers) {
    return c_boundary([&] {
        Store& publishing = store_of(store);
        if (source == nullptr) throw invalid("the source function is NULL");
        publishing.publish_lazily(
            key_of(key), {bytes},
            [source, user](Store::DataSink sink) {
                // The function that it calls owns the handle.
                source(user, NewHandle<sluice_data_sink>(std::move(sink)).release());
            },
            readers);
    });
}

int sluice_data_sink_complete(sluice_data_sink** sink, void const* data, uint64_t bytes) {
    return c_boundary([&] {
        sluice_data_sink*& place = existing(sink, "the address of the sink");
        existing(place, "the sink");
        std::span<std::byte const> const from = bytes_at(data, bytes);
        taken(place, "the sink")->sink(from, nullptr);
    });
}

int sluice_data_sink_fail(sluice_data_sink** sink, char const* why) {
    return c_boundary([&] {
        sluice_data_sink*& place = existing(sink, "the address of the sink");
        existing(place, "the sink");
        std::exception_ptr const error = std::make_exception_ptr(invalid(&existing(why, "why")));
        taken(place, "the sink")->sink({}, error);
    });
}

int sluice_store_when_all_have_it(sluice_store* store, sluice_key key, sluice_delivered_function done, void* user) {
    return c_boundary([&] {
        if (done == nullptr) throw invalid("the done function is NULL");
        store_of(store).when_all_have_it(key_of(key), [done, user] { done(user); });
    });
}

int sluice_store_when_all_have_them(sluice_store* store, sluice_key const* keys, size_t count,
                                    sluice_delivered_function done, void* user) {
    return c_boundary([&] {
        if (done == nullptr) throw invalid("the done function is NULL");
        if (keys == nullptr && count > 0) throw invalid("keys is NULL, count is " + std::to_string(count));
        std::vector<sluice::Key> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back(key_of(keys[i]));
        store_of(store).when_all_have_them(all, [done, user] { done(user); });
    });
}

int sluice_store_withdraw(sluice_store* store, sluice_key key) {
    return c_boundary([&] { store_of(store).withdraw(key_of(key)); });
}

int sluice_store_close(sluice_store* store, uint64_t epoch) {
    return c_boundary([&] { store_of(store).close(epoch); });
}

int sluice_store_fetch_all(sluice_store* store, sluice_fetch_request const* requests, size_t count,
                           sluice_done_function done, void* user) {
    return c_boundary([&] { store_of(store).fetch_all(requests_from(requests, count), calling(done, user)); });
}

int sluice_store_send(sluice_store* store, int reader, sluice_key key, uint64_t bytes, sluice_pack_function pack,
                      void* user) {
    return c_boundary([&] { store_of(store).send(reader, key_of(key), {bytes}, packing(pack, user)); });
}

int sluice_store_send_bytes(sluice_store* store, int reader, sluice_key key, void const* data, uint64_t bytes) {
    return c_boundary([&] { store_of(store).send(reader, key_of(key), bytes_at(data, bytes)); });
}

int sluice_store_receive_all(sluice_store* store, sluice_fetch_request const* requests, size_t count,
                             sluice_done_function done, void* user) {
    return c_boundary([&] { store_of(store).receive_all(requests_from(requests, count), calling(done, user)); });
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

int sluice_store_wait_until(sluice_store* store, sluice_condition_function over, void* user) {
    return c_boundary([&] {
        Store& waited = store_of(store);
        if (over == nullptr) throw invalid("the condition is NULL");
        waited.wait_until([&] { return over(user) != 0; });
    });
}

uint64_t sluice_store_open_sets(sluice_store const* store) {
    uint64_t open = 0;
    if (store != nullptr) c_boundary([&] { open = existing(store, "store").store.open_sets(); });
    return open;
}

int sluice_store_finish(sluice_store* store) {
    return c_boundary([&] { store_of(store).finish(); });
}

int sluice_store_free(sluice_store** store) {
    return c_boundary([&] {
        sluice_store*& place = existing(store, "the address of the handle");
        if (place == nullptr) return;
        Store& ending = existing(place, "store").store;
        if (sluice::mpi::is_running()) ending.finish();  // an exception here, inside a callback, keeps the store
        taken(place, "store");
    });
}

int sluice_store_report(sluice_store const* store, sluice_report* report) {
    return c_boundary(
        [&] { existing(report, "report") = sluice::c::report_of(existing(store, "store").store.report()); });
}
