// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/words.hpp"

#include <gtest/gtest.h>

#include "report/show/page.hpp"
#include "report/summary/rank_set.hpp"
#include "report/summary/valid.hpp"

namespace sluice::report {
namespace {

TEST(Words, sizes_have_three_digits) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(1024), "1 KiB");
    EXPECT_EQ(size_text(1536), "1.50 KiB");
    EXPECT_EQ(size_text((1 << 20) - 1), "1.00 MiB") << "rounded, and shown so";
    EXPECT_EQ(size_text((89 << 20) + 1000), "89.0 MiB");
    EXPECT_EQ(size_text(89 << 20), "89 MiB");
    EXPECT_EQ(size_text(122 << 20), "122 MiB");
    EXPECT_EQ(size_text(std::uint64_t{1406} << 20), "1.37 GiB");
    EXPECT_EQ(size_text(~std::uint64_t{0}), "16 EiB");
}

TEST(Words, times) {
    EXPECT_EQ(time_text(12), "12 µs");
    EXPECT_EQ(time_text(12'340), "12.3 ms");
    EXPECT_EQ(time_text(4'000'000), "4.00 s");
    EXPECT_EQ(time_text(12'340'000), "12.3 s");
    EXPECT_EQ(time_text(192'000'000), "3 min 12 s");
    EXPECT_EQ(time_text(7'500'000'000), "2 h 05 min");
}

TEST(RankSet, names_ranges_and_counts_the_rest) {
    RankSet set(3);
    EXPECT_EQ(set.text(8), "rank 3");
    set.add(RankSet(4));
    set.add(RankSet(5));
    set.add(RankSet(0));
    EXPECT_EQ(set.text(8), "ranks 0, 3-5");
    EXPECT_EQ(set.text(4), "all 4 ranks");
    EXPECT_EQ(RankSet(2, {0, 1}).text(2), "both ranks");
    EXPECT_EQ(RankSet().text(4), "no rank");
    RankSet many;
    for (std::uint32_t rank = 2000; rank-- > 0;)
        many.add(RankSet(rank));
    EXPECT_EQ(many.lowest().size(), RankSet::k_named);
    EXPECT_EQ(many.text(4096), "ranks 0-255 and 1744 others");
}

TEST(CleanText, keeps_UTF8_and_nothing_else) {
    auto const clean = [](std::string const& text) { return clean_text(text.data(), text.size()); };
    EXPECT_EQ(clean("f+0x1 (app)"), "f+0x1 (app)");
    EXPECT_EQ(clean("größe"), "größe");
    EXPECT_EQ(clean(std::string("ab\0cd", 5)), "ab");
    EXPECT_EQ(clean("a\x1b[31mb\n"), "a?[31mb?");
    EXPECT_EQ(clean("\xff\xfe\xc3"), "???");
    EXPECT_EQ(clean("\xed\xa0\x80"), "???") << "a surrogate is no character";
    EXPECT_EQ(clean("\xe2\x82"), "??") << "cut off at the end";
}

TEST(SafeInScript, ends_no_element) {
    std::string const safe = safe_in_script("{\"a\":\"</script><!--&\xe2\x80\xa8\"}");
    EXPECT_EQ(safe, "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"}");
}

}  // namespace
}  // namespace sluice::report
