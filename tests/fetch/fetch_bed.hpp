// SPDX-License-Identifier: BSD-3-Clause
/// Parts that tests of publish and fetch share: data that can be computed from their key.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sluice/fetch.hpp"

namespace sluice::tests {

inline std::vector<std::byte> bytes_of(Key const& key, std::uint64_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i)
        data[i] = static_cast<std::byte>(key.owner * 31 + static_cast<int>(key.id * 7 + key.epoch * 3 + i * 13));
    return data;
}

inline void publish(Store& store, Key const& key, std::uint64_t bytes, int readers) {
    store.publish(
        key, {bytes},
        [key, bytes](std::span<std::byte> out) {
            ASSERT_EQ(out.size(), bytes);
            std::ranges::copy(bytes_of(key, bytes), out.begin());
        },
        readers);
}

inline bool is_right(FetchResult const& fetched, std::size_t i, Key const& key, std::uint64_t bytes) {
    return std::ranges::equal(fetched[i], bytes_of(key, bytes));
}

/// Sets `fault` to the error that a fetch of these wants throws, or to "".
inline Task fault_of(Store& store, std::vector<FetchRequest> wants, std::string& fault) {
    try {
        FetchResult const fetched = co_await store.fetch_all(wants);
    } catch (Error const& error) {
        fault = error.what();
    }
}

}  // namespace sluice::tests
