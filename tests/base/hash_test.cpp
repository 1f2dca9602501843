// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

// The values of the algorithm's published test vectors.
TEST(Fnv1a, has_the_published_values) {
    EXPECT_EQ(Fnv1a().value(), 0xcbf29ce484222325ULL);
    EXPECT_EQ(Fnv1a().add("a").value(), 0xaf63dc4c8601ec8cULL);
    EXPECT_EQ(Fnv1a().add("foobar").value(), 0x85944171f73967e8ULL);
}

TEST(Fnv1a, takes_a_text_in_parts) {
    EXPECT_EQ(Fnv1a().add("foo").add("bar").value(), Fnv1a().add("foobar").value());
}

TEST(Fnv1a, takes_all_eight_bytes_of_a_number) {
    std::uint64_t const letters = 0x0000'6b6a'0069'6867ULL;  // the bytes g h i 0 j k 0 0
    EXPECT_EQ(Fnv1a().add(letters).value(), Fnv1a().add(std::string_view("ghi\0jk\0\0", 8)).value());
    EXPECT_NE(Fnv1a().add(std::uint64_t{0}).value(), Fnv1a().value());
}

TEST(Fnv1a, takes_bytes_above_127_as_unsigned) {
    EXPECT_EQ(Fnv1a().add("\xff").value(), Fnv1a().add(static_cast<unsigned char>(0xff)).value());
}

}  // namespace
}  // namespace sluice::base
