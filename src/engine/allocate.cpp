// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/allocate.hpp"

#include <string>

#include "base/units.hpp"
#include "engine/context_state.hpp"
#include "engine/told_line.hpp"
#include "kernel/job/once_a_node.hpp"
#include "node/shared/array_memory.hpp"

namespace sluice {

namespace {

/// One rank of the node says it for all.
void tell_that_arrays_are_private(std::string const& why) noexcept {
    try {
        std::string const line = "arrays of sluice::allocate lie in private memory (" + why +
                                 "): redistributions work, and move their blocks as those of other arrays";
        if (kernel::is_first_to_say(line)) engine::tell_line(line);
    } catch (std::bad_alloc const&) {  // the line is all that is lost
    }
}

}  // namespace

namespace detail {

NodeMemory::NodeMemory(Context const& context) : memory_(engine::ContextState::of(context).process().arrays()) {}

void* NodeMemory::take(std::uint64_t bytes) const {
    void* const memory = memory_->allocate(bytes);
    if (std::string const why = memory_->take_reason_to_tell(); !why.empty()) tell_that_arrays_are_private(why);
    return memory;
}

void NodeMemory::give_back(void* memory) const noexcept {
    memory_->free(memory);
}

Error no_memory_for(Context const& context, std::uint64_t elements, std::uint64_t element_bytes) {
    return {ErrorCode::out_of_memory, "rank " + std::to_string(context.rank()) + " has no memory for an array of " +
                                          std::to_string(elements) + " elements of " + std::to_string(element_bytes) +
                                          " bytes (sluice::allocate)"};
}

}  // namespace detail

bool is_shared(Context const& context, void const* array) {
    return engine::ContextState::of(context).process().arrays()->find(array, 1).has_value();
}

}  // namespace sluice
