// SPDX-License-Identifier: BSD-3-Clause
/// Parts that the tests of the send-based scheme share.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fetch/fetch_bed.hpp"
#include "sluice/fetch.hpp"

namespace sluice::tests {

inline void send(Store& store, int reader, Key const& key, std::uint64_t bytes) {
    store.send(reader, key, {bytes}, [key](std::span<std::byte> out) {
        std::vector<std::byte> const data = bytes_of(key, out.size());
        std::copy(data.begin(), data.end(), out.begin());
    });
}

/// Sets `fault` to the error that a receive of these wants throws, or to "".
inline Task fault_of_receive(Store& store, std::vector<FetchRequest> wants, std::string& fault) {
    try {
        FetchResult const got = co_await store.receive_all(wants);
    } catch (Error const& error) {
        fault = error.what();
    }
}

inline Task receive_one(Store& store, FetchRequest want, int& right) {
    FetchResult const got = co_await store.receive_all(want);
    if (want.bytes == FetchRequest::k_any) want.bytes = {got[0].size()};
    right += is_right(got, 0, want.key, want.bytes.count) ? 1 : 0;
}

/// Peers may still need data of this rank, so it serves while it waits.
inline Task wait_for_all() {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    co_await completed(barrier);
}

/// Returns the error that a call of send throws, or "".
template <typename Action>
std::string error_of(Action const& action) {
    try {
        action();
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

inline bool has(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

class SendingTest : public testing::TestWithParam<Switch> {
  protected:
    explicit SendingTest(Settings settings = Settings::from_environment())
        : context(MPI_COMM_WORLD, (settings.send_control = GetParam(), settings)),
          rank(context.rank()),
          size(context.size()) {}
    int peer(int distance = 1) const { return (rank + distance) % size; }
    /// Returns the rank that sends to this one when all ranks send to peer(distance).
    int source(int distance = 1) const { return (rank + size - distance % size) % size; }
    static bool is_controlled() { return GetParam() == Switch::on; }
    std::string me() const { return "rank " + std::to_string(rank); }
    std::string it() const { return "rank " + std::to_string(source()); }

    Context context;
    int rank;
    int size;
};

inline auto const k_controls = testing::Values(Switch::on, Switch::off);
inline auto const k_names = [](auto const& drawn) { return drawn.param == Switch::on ? "controlled" : "normal"; };

}  // namespace sluice::tests
