// SPDX-License-Identifier: BSD-3-Clause
// The table that the plugin finds.
#include "pages/allocator.hpp"
#include "pages/blocks.hpp"
#include "pages/hooks.hpp"
#include "pages/pages.hpp"

using namespace sluice::pages;

extern "C" constinit Interface const sluice_pages_1 = {
    1,
    sizeof(Interface),
    [](BeforeChange before_change) { set_hook(before_change); },
    [](BeforeEnd before_end) { set_end_hook(before_end); },
    [](void const* address, std::size_t bytes, Block* block) { return blocks.find(address, bytes, block); },
    [] { return hooks.generation.load(std::memory_order_acquire); },
    [] { return gives_whole_pages(); },
};
