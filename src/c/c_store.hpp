// SPDX-License-Identifier: BSD-3-Clause
/// The store of the C interface.
#pragma once

#include "c/c_handles.hpp"
#include "sluice/c/fetch.h"
#include "sluice/fetch.hpp"

struct sluice_store {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::store;
    explicit sluice_store(sluice::Context& context) : store(context) {}
    sluice::Store store;
};

namespace sluice::c {

inline Key key_of(sluice_key const& key) {
    return {key.owner, key.id, key.epoch};
}

inline Store& store_of(sluice_store* store) {
    return existing(store, "store").store;
}

}  // namespace sluice::c
