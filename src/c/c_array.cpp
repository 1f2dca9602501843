// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/array.h.
#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "sluice/allocate.hpp"
#include "sluice/c/array.h"

using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::free_handle;
using sluice::c::looked_up;
using sluice::c::NewHandle;

struct sluice_array {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::array;
    sluice::NodeVector<std::byte> bytes;
    bool is_shared;
};

int sluice_array_create(sluice_context* context, uint64_t bytes, sluice_array** array) {
    return c_boundary([&] {
        existing(array, "array") = nullptr;
        sluice::Context const& of = existing(context, "context").context;
        auto memory = sluice::allocate<std::byte>(of, bytes);
        bool const is_shared = sluice::is_shared(of, memory.data());
        *array = NewHandle<sluice_array>(std::move(memory), is_shared).release();
    });
}

void* sluice_array_data(sluice_array const* array) {
    sluice_array const* const of = looked_up(array, "array");
    return of == nullptr || of->bytes.empty() ? nullptr : const_cast<std::byte*>(of->bytes.data());
}

int sluice_array_is_shared(sluice_array const* array) {
    sluice_array const* const of = looked_up(array, "array");
    return of != nullptr && of->is_shared ? 1 : 0;
}

int sluice_array_free(sluice_array** array) {
    return free_handle(array, "array");
}
