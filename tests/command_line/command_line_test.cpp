// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/command_line.hpp"

#include <gtest/gtest.h>

#include "command_line/usage_error.hpp"

namespace sluice::command_line {
namespace {

/// A command line with an option of every type.
class CommandLines : public testing::Test {
  protected:
    CommandLines() {
        line_.option("--text", text_, "a text").value_name("WORDS");
        line_.option("--word", word_, "a word").one_of({"torus", "fattree"}).shows_default();
        line_.option("--number", number_, "a number").between(2, 64).shows_default();
        line_.option("--limit", limit_, "a limit").positive();
        line_.option("--bytes", bytes_, "a size").default_text("4 KiB").heading("Sizes");
        line_.option("--rate", rate_, "a rate").not_negative();
        line_.option("--share", share_, "a share").between(0.1, 1.0);
        line_.option("--words", words_, "a list").separated_by_commas();
        line_.option("--numbers", numbers_, "a list").separated_by_commas().exactly(3);
        line_.option("--sizes", sizes_, "a list").separated_by_commas().positive();
        line_.option("folder", folders_, "some folders").any_number();
        line_.flag("--json", json_, "a flag");
    }

    /// Returns the message for wrong arguments; empty if they are right.
    std::string mistake(std::vector<std::string> const& arguments) {
        try {
            line_.parse(arguments);
            return "";
        } catch (UsageError const& error) {
            return error.what();
        }
    }

    /// Returns what `arguments` print on standard output.
    std::string printed(std::vector<std::string> const& arguments) {
        testing::internal::CaptureStdout();
        EXPECT_FALSE(line_.parse(arguments));
        return testing::internal::GetCapturedStdout();
    }

    CommandLine line_{"sluice try", "Tries command lines"};
    std::string text_;
    std::string word_ = "torus";
    int number_ = 8;
    unsigned limit_ = 1;
    std::uint64_t bytes_ = 4096;
    double rate_ = 0;
    double share_ = 0.5;
    std::vector<std::string> words_;
    std::vector<int> numbers_;
    std::vector<std::uint64_t> sizes_{1};
    std::vector<std::string> folders_;
    bool json_ = false;
};

TEST_F(CommandLines, set_variables_of_every_type) {
    EXPECT_TRUE(line_.parse({"--text",    "some text", "--word=fattree", "--number",     "9",
                             "--limit",   "3",         "--bytes",        "5000000000",   "--rate",
                             "0",         "--share",   "0.25",           "--words",      "a,b",
                             "--numbers", "1,-2,3",    "--sizes",        "5000000000,2", "--json",
                             "here",      "there"}));
    EXPECT_EQ(text_, "some text");
    EXPECT_EQ(word_, "fattree");
    EXPECT_EQ(number_, 9);
    EXPECT_EQ(limit_, 3U);
    EXPECT_EQ(bytes_, 5000000000U);
    EXPECT_EQ(rate_, 0);
    EXPECT_EQ(share_, 0.25);
    EXPECT_EQ(words_, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(numbers_, (std::vector<int>{1, -2, 3}));
    EXPECT_EQ(sizes_, (std::vector<std::uint64_t>{5000000000, 2}));
    EXPECT_EQ(folders_, (std::vector<std::string>{"here", "there"}));
    EXPECT_TRUE(json_);
    EXPECT_TRUE(line_.has("--rate"));
}

TEST_F(CommandLines, leave_defaults_where_no_option_is_given) {
    EXPECT_TRUE(line_.parse({}));
    EXPECT_EQ(number_, 8);
    EXPECT_EQ(sizes_, std::vector<std::uint64_t>{1});
    EXPECT_FALSE(json_);
    EXPECT_FALSE(line_.has("--number"));
}

TEST_F(CommandLines, refuse_values_outside_their_limits) {
    EXPECT_EQ(mistake({"--number", "65"}), "--number: Value 65 not in range 2 to 64");
    EXPECT_NE(mistake({"--number", "many"}), "");
    EXPECT_NE(mistake({"--word", "ring"}), "");
    EXPECT_NE(mistake({"--limit", "0"}), "");
    EXPECT_NE(mistake({"--rate", "-1"}), "");
    EXPECT_NE(mistake({"--share", "0.05"}), "");
    EXPECT_NE(mistake({"--numbers", "1,2"}), "");
    EXPECT_NE(mistake({"--sizes", "1,0"}), "");
    EXPECT_NE(mistake({"--text"}), "");
}

TEST_F(CommandLines, refuse_a_missing_option_that_is_required) {
    std::string barrier;
    line_.option("--barrier", barrier, "a file").required();
    EXPECT_EQ(mistake({}), "--barrier is required");
}

TEST_F(CommandLines, answer_an_unknown_option_with_the_nearest) {
    EXPECT_EQ(mistake({"--nubmer", "3"}), "no option of sluice try is called '--nubmer'; did you mean '--number'?");
    EXPECT_EQ(mistake({"-j"}), "no option of sluice try is called '-j'; did you mean '--json'?");
    EXPECT_EQ(mistake({"-z"}), "no option of sluice try is called '-z'; --help lists them");
}

TEST_F(CommandLines, print_their_help) {
    line_.set_footer("The end.");
    line_.put_help_here("Prints this");
    std::string const help = printed({"--help"});
    EXPECT_EQ(help, R"(Usage: sluice try [OPTIONS] [folder…]

Tries command lines

Arguments:
  folder                    some folders

Options:
  --text WORDS              a text
  --word {torus,fattree}    a word (default torus)
  --number N                a number (2 to 64; default 8)
  --limit N                 a limit
  --rate N                  a rate
  --share N                 a share (0.1 to 1)
  --words WORD,…            a list
  --numbers N,…             a list
  --sizes N,…               a list
  --json                    a flag
  -h,--help                 Prints this

Sizes:
  --bytes N                 a size (default 4 KiB)

The end.
)");
    line_.set_usage("mpirun sluice try");
    EXPECT_EQ(printed({"-h"}).substr(0, 25), "Usage: mpirun sluice try\n");
}

TEST_F(CommandLines, of_a_program_end_it_with_a_code) {
    auto const code_of = [this](std::vector<std::string> words) {
        std::vector<char*> arguments;
        arguments.reserve(words.size());
        for (std::string& word : words)
            arguments.push_back(word.data());
        return line_.parse_main(static_cast<int>(arguments.size()), arguments.data());
    };
    EXPECT_EQ(code_of({"try", "--number", "9"}), std::nullopt);
    EXPECT_EQ(number_, 9);
    testing::internal::CaptureStderr();
    EXPECT_EQ(code_of({"try", "--number", "1"}), 2);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "sluice try: --number: Value 1 not in range 2 to 64\n");
    testing::internal::CaptureStdout();
    EXPECT_EQ(code_of({"try", "--help"}), 0);
    EXPECT_NE(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace sluice::command_line
