// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sluice/error.hpp"

namespace sluice::base {
namespace {

TEST(Units, reads_plain_numbers_as_bytes) {
    EXPECT_EQ(parse_bytes("0"), 0_B);
    EXPECT_EQ(parse_bytes("4096"), 4_KiB);
    EXPECT_EQ(parse_bytes("7B"), 7_B);
    EXPECT_EQ(parse_bytes("18446744073709551615").count, 18446744073709551615ull);
}

TEST(Units, tells_powers_of_1024_from_powers_of_1000) {
    EXPECT_EQ(parse_bytes("64MiB"), 64_MiB);
    EXPECT_EQ(parse_bytes("64M"), 64_MiB);
    EXPECT_EQ(parse_bytes("2GiB"), 2_GiB);
    EXPECT_EQ(parse_bytes("3 kB").count, 3000u);
    EXPECT_EQ(parse_bytes("3KB").count, 3000u);
    EXPECT_EQ(parse_bytes("64MB").count, 64'000'000u);
    EXPECT_EQ(parse_bytes(" 1 TiB ").count, std::uint64_t{1} << 40);
    EXPECT_EQ(parse_bytes("1PiB").count, std::uint64_t{1} << 50);
}

TEST(Units, reads_fractions_without_rounding_through_doubles) {
    EXPECT_EQ(parse_bytes("1.5GB").count, 1'500'000'000u);
    EXPECT_EQ(parse_bytes("0.5KiB"), 512_B);
    EXPECT_EQ(parse_bytes("1.999999999999999999PB").count, 1'999'999'999'999'999u);
    EXPECT_EQ(parse_bytes("0.0001KiB"), 0_B);  // a tenth of a byte is cut off
}

TEST(Units, refuses_what_is_no_size) {
    for (char const* const text : {"", " ", "MiB", "-1", "+1", "1.", "1.MiB", ".5MiB", "1.5", "1.5B", "1 2", "0x10",
                                   "1e6", "64mib", "64 MiBs", "18446744073709551616", "20000PiB"}) {
        try {
            Bytes const value = parse_bytes(text);
            ADD_FAILURE() << "'" << text << "' was read as " << value.count;
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("'" + std::string(text) + "'"), std::string::npos) << error.what();
        }
    }
}

TEST(Units, refuses_a_sum_that_wraps_around_only_by_its_fraction) {
    // 16383.9999… PiB is 2^64 − something; 16383 whole PiB fit, 16384 do not.
    EXPECT_NO_THROW(parse_bytes("16383.99PiB"));
    EXPECT_THROW(parse_bytes("16384PiB"), Error);
}

TEST(Units, writes_exact_text_that_reads_back) {
    EXPECT_EQ(exact_bytes(0_B), "0");
    EXPECT_EQ(exact_bytes(1_B), "1");
    EXPECT_EQ(exact_bytes(1500_B), "1500");
    EXPECT_EQ(exact_bytes(2_MiB), "2MiB");
    EXPECT_EQ(exact_bytes(1536_KiB), "1536KiB");
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i) {
        Bytes const value{random() >> (random() % 64)};
        EXPECT_EQ(parse_bytes(exact_bytes(value)), value) << exact_bytes(value);
    }
}

TEST(Units, writes_rounded_text_for_people) {
    EXPECT_EQ(format_bytes(0_B), "0 B");
    EXPECT_EQ(format_bytes(1023_B), "1023 B");
    EXPECT_EQ(format_bytes(2_MiB), "2 MiB");
    EXPECT_EQ(format_bytes({1'500'000'000}), "1.40 GiB");
    EXPECT_EQ(format_bytes({1537}), "1.50 KiB");
}

}  // namespace
}  // namespace sluice::base
