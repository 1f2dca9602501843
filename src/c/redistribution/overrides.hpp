// SPDX-License-Identifier: BSD-3-Clause
/// Arguments that several functions of redistribution in C have.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_options.hpp"
#include "sluice/c/redistribute.h"
#include "sluice/redistribute.hpp"

namespace sluice::c {

/// Throws Error(invalid_argument) for options that belong to the context.
inline RedistributeOptions overrides_of(sluice_options const* options) {
    RedistributeOptions overrides;
    if (options == nullptr) return overrides;
    Settings settings;
    for (auto const& [name, value] : existing(options, "options").values) {
        settings.set(name, value);
        if (name == "strategy")
            overrides.strategy = settings.strategy;
        else if (name == "staging")
            overrides.staging = settings.staging;
        else
            throw invalid("setting '" + name + "' belongs to the context; a call overrides strategy and staging");
    }
    return overrides;
}

/// The arrays of a plan. Throws Error(invalid_argument), std::bad_alloc.
inline std::vector<Blocks> arrays_of(std::size_t arrays, sluice_blocks const* blocks) {
    std::vector<Blocks> list;
    if (arrays > 0 && blocks == nullptr) throw invalid(std::to_string(arrays) + " arrays, blocks is NULL");
    for (std::size_t i = 0; i < arrays; ++i)
        list.push_back({blocks[i].data, blocks[i].count, {blocks[i].block_bytes}});
    return list;
}

}  // namespace sluice::c
