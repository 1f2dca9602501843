// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/mpi_pages.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "kernel/page_map.hpp"
#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

/// Whole pieces of the parts that are only read.
template <class Visit>
void MpiPages::each_piece(Visit const& visit) const noexcept {
    std::size_t number = 0;
    for (std::size_t i = 0; i < library_.count; ++i) {
        ModulePart const& part = library_.parts[i];
        if (part.writable) continue;
        std::uintptr_t const begin = (part.begin + k_piece - 1) / k_piece * k_piece;
        for (std::uintptr_t at = begin; at + k_piece <= part.end && number < k_most; at += k_piece, ++number)
            visit(number, at);
    }
}

MpiPages::MpiPages() noexcept : library_(parts_of_module(reinterpret_cast<void const*>(g_plugin.libmpi.PMPI_Init))) {
    kernel::PageMap const pages;
    each_piece([&](std::size_t number, std::uintptr_t at) {
        auto const found = pages.resident(at, k_piece);
        were_there_[number] = !found || found->anonymous + found->of_files > 0;
    });
}

void MpiPages::give_back_new() noexcept {
    each_piece([this](std::size_t number, std::uintptr_t at) {
        if (!were_there_[number]) madvise(reinterpret_cast<void*>(at), k_piece, MADV_DONTNEED);
    });
}

}  // namespace sluice::plugin
