// SPDX-License-Identifier: BSD-3-Clause
#include "base/text/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::base {
namespace {

TEST(Printable, letters_of_all_scripts_stay) {
    for (std::string const text : {"plain text", "\xc3\xa9", "\xe2\x86\x92", "\xf0\x9f\x98\x80", "a\xc2\xa0z"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, what_a_terminal_obeys_does_not_reach_it) {
    EXPECT_EQ(printable("\x1b[2Jx"), "?[2Jx");
    EXPECT_EQ(printable("a\nb\rc\td"), "a?b?c?d");
    EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
    EXPECT_EQ(printable("\x7f"), "?");
    EXPECT_EQ(printable("a\xc2\x9b"
                        "2J"),
              "a?2J")
        << "U+009B, which begins a command as ESC [ does";
    EXPECT_EQ(printable("a\xe2\x80\xae"
                        "b\xe2\x81\xa6"),
              "a?b?")
        << "a text that runs backwards";
    EXPECT_EQ(printable("a\xe2\x80\xa8z"), "a?z") << "a line that ends";
}

TEST(Printable, each_byte_that_is_no_utf8_becomes_one_mark) {
    EXPECT_EQ(printable("\x9b"
                        "2J"),
              "?2J");
    EXPECT_EQ(printable("\xff\xfe"), "??");
    EXPECT_EQ(printable("\xc3"), "?");
    EXPECT_EQ(printable("\xc0\x9b"), "??") << "an overlong form";
    EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half of a pair";
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last character";
}

}  // namespace
}  // namespace sluice::base
