// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/page_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace sluice::kernel {

namespace {

// A 64-bit word for each page: Documentation/admin-guide/mm/pagemap.rst.
constexpr std::uint64_t k_present = std::uint64_t{1} << 63;
constexpr std::uint64_t k_swapped_out = std::uint64_t{1} << 62;
constexpr std::uint64_t k_of_file_or_shared = std::uint64_t{1} << 61;

}  // namespace

PageMap::PageMap() : file_(above_standard(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC))) {}

std::optional<PageMap::Resident> PageMap::resident(std::uintptr_t from, std::uint64_t bytes) const noexcept {
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::uint64_t const end = (from + bytes + page - 1) / page;
    Resident sum;
    std::array<std::uint64_t, 256> words;
    for (std::uint64_t at = from / page; at < end; at += words.size()) {
        std::size_t const wanted = std::min<std::uint64_t>(end - at, words.size()) * sizeof words[0];
        ssize_t const got = pread(file_.get(), words.data(), wanted, static_cast<off_t>(at * sizeof words[0]));
        if (got != static_cast<ssize_t>(wanted)) return std::nullopt;
        for (std::size_t i = 0; i < wanted / sizeof words[0]; ++i)
            if ((words[i] & k_present) != 0)
                ((words[i] & k_of_file_or_shared) != 0 ? sum.of_files : sum.anonymous) += page;
            else if ((words[i] & k_swapped_out) != 0)
                sum.swapped += page;
    }
    return sum;
}

PageMap::Run PageMap::first_run(std::uintptr_t from, std::uint64_t most) const noexcept {
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::array<std::uint64_t, 256> words;
    std::uint64_t const pages = std::min<std::uint64_t>(most / page, words.size());
    std::size_t const wanted = pages * sizeof words[0];
    ssize_t const got = pread(file_.get(), words.data(), wanted, static_cast<off_t>(from / page * sizeof words[0]));
    if (got != static_cast<ssize_t>(wanted)) return {pages * page, true};
    auto const has_content = [](std::uint64_t word) { return (word & (k_present | k_swapped_out)) != 0; };
    std::uint64_t alike = 1;
    while (alike < pages && has_content(words[alike]) == has_content(words[0]))
        ++alike;
    return {alike * page, has_content(words[0])};
}

}  // namespace sluice::kernel
