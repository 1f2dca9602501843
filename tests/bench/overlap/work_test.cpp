// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "overlap/calls.hpp"
#include "overlap/idle.hpp"
#include "overlap/pattern.hpp"

namespace sluice::bench {
namespace {

TEST(OverlapPattern, names_the_first_byte_that_is_wrong) {
    for (std::size_t const size : {1UL, 7UL, 8UL, 1003UL}) {
        std::vector<std::byte> bytes(size);
        write_pattern(bytes, 5);
        EXPECT_EQ(first_wrong_byte(bytes, 5), size);
        for (std::size_t at = 0; at < size; at += 3) {
            bytes[at] ^= std::byte{0x10};
            EXPECT_EQ(first_wrong_byte(bytes, 5), at);
            bytes[at] ^= std::byte{0x10};
        }
    }
}

TEST(OverlapPattern, a_page_of_another_round_or_of_zeros_is_noticed) {
    std::vector<std::byte> bytes(16384);
    write_pattern(bytes, 5);
    std::vector<std::byte> older(bytes.size());
    write_pattern(older, 4);
    std::copy_n(older.begin() + 4096, 4096, bytes.begin() + 4096);
    EXPECT_LT(first_wrong_byte(bytes, 5), 4096u + 8);
    EXPECT_GE(first_wrong_byte(bytes, 5), 4096u);
    std::fill_n(bytes.begin() + 4096, 4096, std::byte{0});
    EXPECT_LT(first_wrong_byte(bytes, 5), 4096u + 8);
}

TEST(OverlapWork, the_sum_of_a_pass_tells_which_bytes_it_read) {
    std::vector<std::byte> bytes(1003);
    write_pattern(bytes, 1);
    std::uint64_t const light = pass_over(bytes, 0).sum;
    EXPECT_EQ(pass_over(bytes, 9).sum, light) << "the steps are work, and not part of the sum";
    std::size_t const cut = 512;
    EXPECT_EQ(pass_over(std::span(bytes).first(cut), 0).sum + pass_over(std::span(bytes).subspan(cut), 0).sum, light);
    for (std::size_t const at : {0UL, 999UL, 1002UL}) {
        std::vector<std::byte> other = bytes;
        other[at] ^= std::byte{1};
        EXPECT_NE(pass_over(other, 0).sum, light) << at;
    }
}

std::set<void*>* seen_sites = nullptr;

[[gnu::noinline]] int note_the_site(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) {
    seen_sites->insert(__builtin_return_address(0));
    return MPI_SUCCESS;
}

TEST(OverlapCalls, each_call_site_is_a_place_of_its_own) {
    std::set<void*> sites;
    seen_sites = &sites;
    OverlapCalls calls;
    calls.recv = note_the_site;
    for (int site = 0; site < k_call_sites; ++site)
        receive_at(site, calls, nullptr, 0, 0);
    EXPECT_EQ(sites.size(), static_cast<std::size_t>(k_call_sites));
}

}  // namespace
}  // namespace sluice::bench
