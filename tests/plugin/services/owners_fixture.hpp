// SPDX-License-Identifier: BSD-3-Clause
/// Owned requests over the fake MPI, and the translated calls on them.
#pragma once

#include <memory>

#include "plugin/services/fake_requests.hpp"
#include "plugin/services/requests/translation.hpp"

namespace sluice::plugin::tests {

/// What became of a request.
struct Fate {
    int asked_inside = 0;
    int completed = 0;
    int destroyed = 0;
};

class Owned final : public OwnedRequest {
  public:
    Owned(Fate& fate, std::size_t parts, bool persistent) : OwnedRequest(parts, persistent), fate_(&fate) {}
    ~Owned() override { ++fate_->destroyed; }
    void asked_inside() noexcept override { ++fate_->asked_inside; }
    int complete(std::span<Part const> parts) noexcept override {
        ++fate_->completed;
        return OwnedRequest::complete(parts);
    }
    Partition find_partition(int partition) const noexcept override {
        return {static_cast<std::size_t>(partition) % parts(), partition / static_cast<int>(parts())};
    }

  private:
    Fate* fate_;
};

/// One MPI, one table, one calling thread.
class Calls {
  public:
    explicit Calls(bool nested = false) : nested_(nested) {}

    FakeRequests mpi;
    OwnedRequests table;

    /// A handle that MPI itself would never complete, for requests of MPI with the tags tag, tag + 1, …
    MPI_Request own(Fate& fate, int tag, int parts, bool persistent = false) {
        MPI_Request const ticket = handle_number(900'000 + static_cast<std::uintptr_t>(tag));
        auto const request = std::make_shared<Owned>(fate, static_cast<std::size_t>(parts), persistent);
        for (int i = 0; i < parts; ++i)
            request->set_part(static_cast<std::size_t>(i), mpi.make(tag + i, persistent));
        table.add(ticket, request);
        return ticket;
    }
    /// MPI's own request, for which memory is kept.
    MPI_Request keep_for(Fate& fate, int tag) {
        MPI_Request const made = mpi.make(tag);
        auto const request = std::make_shared<Owned>(fate, 1, false);
        request->set_part(0, made);
        table.add(made, request);
        return made;
    }
    MPI_Request part(MPI_Request ticket, std::size_t i) { return table.find(ticket)->part(i).request; }
    void let_be_ready(MPI_Request ticket, std::size_t i) { mpi[part(ticket, i)].ready = true; }

    int wait(MPI_Request* request, MPI_Status* status) {
        return translation::wait(
            owners(), [this](auto... all) { return mpi.wait(all...); }, request, status);
    }
    int test(MPI_Request* request, int* flag, MPI_Status* status) {
        return translation::test(
            owners(), [this](auto... all) { return mpi.test(all...); }, request, flag, status);
    }
    int get_status(MPI_Request request, int* flag, MPI_Status* status) {
        auto const next = [this](auto... all) { return mpi.get_status(all...); };
        return translation::get_status(owners(), next, request, flag, status);
    }
    int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
        auto const next = [this](auto... all) { return mpi.waitall(all...); };
        return translation::waitall(owners(), next, count, requests, statuses);
    }
    int testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
        auto const next = [this](auto... all) { return mpi.testall(all...); };
        return translation::testall(owners(), next, count, requests, flag, statuses);
    }
    int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
        auto const next = [this](auto... all) { return mpi.waitany(all...); };
        return translation::waitany(owners(), next, count, requests, index, status);
    }
    int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
        auto const next = [this](auto... all) { return mpi.testany(all...); };
        return translation::testany(owners(), next, count, requests, index, flag, status);
    }
    int waitsome(int count, MPI_Request* requests, int* number, int* indices, MPI_Status* statuses) {
        auto const next = [this](auto... all) { return mpi.waitsome(all...); };
        return translation::some(owners(), next, count, requests, number, indices, statuses);
    }
    int testsome(int count, MPI_Request* requests, int* number, int* indices, MPI_Status* statuses) {
        auto const next = [this](auto... all) { return mpi.testsome(all...); };
        return translation::some(owners(), next, count, requests, number, indices, statuses);
    }
    int start(MPI_Request* request) {
        return translation::start(
            owners(), [this](auto... all) { return mpi.start(all...); }, request);
    }
    int startall(int count, MPI_Request* requests) {
        auto const next = [this](auto... all) { return mpi.startall(all...); };
        return translation::startall(owners(), next, count, requests);
    }
    int cancel(MPI_Request* request) {
        return translation::cancel(
            owners(), [this](auto... all) { return mpi.cancel(all...); }, request);
    }
    int free_request(MPI_Request* request) {
        auto const next = [this](auto... all) { return mpi.free_request(all...); };
        return translation::free_request(owners(), next, request);
    }
    /// Tests and frees requests that the program has freed. MPI's functions have no place for an object.
    RequestCalls request_calls() {
        calling() = this;
        return {[](MPI_Request* r, int* flag, MPI_Status* status) { return calling()->mpi.test(r, flag, status); },
                [](MPI_Request* r) { return calling()->mpi.free_request(r); }};
    }
    Owners owners() { return {table, nested_, request_calls()}; }

  private:
    static Calls*& calling() {
        static Calls* current = nullptr;
        return current;
    }
    bool nested_;
};

}  // namespace sluice::plugin::tests
