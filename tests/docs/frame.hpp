// SPDX-License-Identifier: BSD-3-Clause
/// What the frames of the pages' examples share (tests/docs/examples.py). The public headers are included here, outside
/// the namespace of a frame, so that the includes of an example add nothing.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sluice/allocate.hpp"
#include "sluice/alltoall.hpp"
#include "sluice/budget.hpp"
#include "sluice/collectives.hpp"
#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/exchange.hpp"
#include "sluice/fetch.hpp"
#include "sluice/packed_plan.hpp"
#include "sluice/paged.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/redistribute.hpp"
#include "sluice/sluice.h"
#include "sluice/tasks.hpp"
#include "sluice/transpose.hpp"
#include "support/device_stand_in.hpp"
#include "support/lines_of_ranks.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {

inline int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// Returns true if a text is the one that a page shows: "…" of the page stands for any words, and lines of the page may
/// be broken anywhere.
inline bool is_as_shown(std::string_view text, std::string_view shown) {
    auto const in_one_line = [](std::string_view lines) {
        std::string line;
        for (char const c : lines) {
            bool const space = c == ' ' || c == '\n';
            if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
        }
        while (!line.empty() && line.back() == ' ')
            line.pop_back();
        return line;
    };
    constexpr std::string_view any = "…";
    std::string const line = in_one_line(text);
    std::string const wanted = in_one_line(shown);
    std::size_t at = 0;
    for (std::size_t begin = 0;;) {
        std::size_t const end = std::min(wanted.find(any, begin), wanted.size());
        std::string_view const part = std::string_view(wanted).substr(begin, end - begin);
        std::size_t const found =
            end == wanted.size() && line.size() >= part.size() ? line.size() - part.size() : line.find(part, at);
        if (found < at || found == std::string::npos || (begin == 0 && found != 0)) return false;
        if (line.compare(found, part.size(), part) != 0) return false;
        if (end == wanted.size()) return true;
        at = found + part.size();
        begin = end + any.size();
    }
}

/// Runs the code of a mistake. Returns "" if it throws the error that the page shows, otherwise what it did.
inline std::string shown_error(std::string_view message, std::function<void()> const& mistake) {
    try {
        mistake();
    } catch (Error const& error) {
        return is_as_shown(error.what(), message) ? "" : error.what();
    }
    return "no error";
}

}  // namespace sluice::tests
