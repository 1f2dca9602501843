// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "sluice/error.hpp"

namespace sluice {
namespace {

// Sets a variable of the environment as long as the object lives.
class Variable {
  public:
    Variable(char const* name, char const* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(Variable const&) = delete;
    Variable& operator=(Variable const&) = delete;

  private:
    char const* name_;
};

std::string error_of(auto const& action) {
    try {
        action();
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return "no error";
}

bool contains(std::string const& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Settings, have_the_defaults_of_the_table) {
    Settings const settings;
    EXPECT_EQ(settings.memory, 0_B);
    EXPECT_EQ(settings.staging, 2_MiB);
    EXPECT_EQ(settings.strategy, Strategy::token);
    EXPECT_EQ(settings.outstanding_requests, 128u);
}

TEST(Settings, report_is_switched_off_as_others_are) {
    Settings settings;
    settings.set("report", "folder");
    settings.set("report", "off");
    EXPECT_EQ(settings.report, "");
    settings.set("report", "./off");
    EXPECT_EQ(settings.report, "./off");
}

TEST(Settings, table_describes_every_row) {
    std::set<std::string_view> names;
    for (SettingRow const& row : setting_rows()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands in the table twice";
        EXPECT_TRUE(row.variable.starts_with("SLUICE_"));
        EXPECT_EQ(row.variable.size(), row.name.size() + 7);
        EXPECT_FALSE(row.help.empty());
        EXPECT_EQ(Settings{}.get(row.name), row.default_text);
        if (row.kind != "word" && row.kind != "path") {
            EXPECT_LT(row.least, row.most) << row.name;
        }
    }
    EXPECT_TRUE(names.contains("staging"));
}

TEST(Settings, every_default_is_accepted_as_text) {
    for (SettingRow const& row : setting_rows()) {
        Settings settings;
        settings.set(row.name, row.default_text);
        EXPECT_EQ(settings, Settings{}) << row.name;
    }
}

TEST(Settings, what_was_set_is_read_back) {
    Settings settings;
    settings.set("staging", "1.5GB");
    settings.set("strategy", "cyclic");
    settings.set("outstanding_requests", "17");
    EXPECT_EQ(settings.staging.count, 1'500'000'000u);
    EXPECT_EQ(settings.get("strategy"), "cyclic");
    EXPECT_EQ(settings.get("outstanding_requests"), "17");
    Settings copy;
    for (SettingRow const& row : setting_rows())
        copy.set(row.name, settings.get(row.name));
    EXPECT_EQ(copy, settings);
}

TEST(Settings, bounds_belong_to_the_range) {
    for (SettingRow const& row : setting_rows()) {
        if (row.kind == "word" || row.kind == "path") continue;
        Settings settings;
        settings.set(row.name, std::to_string(row.least));
        settings.set(row.name, std::to_string(row.most));
        EXPECT_THROW(settings.set(row.name, std::to_string(row.most + 1)), Error) << row.name;
        if (row.least > 0) {
            EXPECT_THROW(settings.set(row.name, std::to_string(row.least - 1)), Error) << row.name;
        }
    }
}

TEST(Settings, a_refused_value_changes_nothing_and_the_error_says_what_is_allowed) {
    Settings settings;
    std::string const range = error_of([&] { settings.set("staging", "12"); });
    EXPECT_TRUE(contains(range, "SLUICE_STAGING") && contains(range, "'12'") && contains(range, "4KiB") &&
                contains(range, "1TiB"))
        << range;
    std::string const word = error_of([&] { settings.set("transport", "pigeon"); });
    EXPECT_TRUE(contains(word, "'pigeon'") && contains(word, "auto, message, ring")) << word;
    std::string const count = error_of([&] { settings.set("cyclic_edges", "8MiB"); });
    EXPECT_TRUE(contains(count, "whole number")) << count;
    EXPECT_EQ(settings, Settings{});
}

TEST(Settings, a_word_must_be_one_of_those_in_the_table) {
    Settings settings;
    for (char const* const word : {"token", "parking", "cyclic", "alltoallv", "auto"})
        settings.set("strategy", word);
    for (char const* const word : {"", "or", "Token", "token, parking", "MPI", "only"})
        EXPECT_THROW(settings.set("strategy", word), Error) << word;
    EXPECT_THROW(settings.set("transport", "read"), Error);      // "read" is a word of the help text
    EXPECT_THROW(settings.set("strategy", "automatic"), Error);  // the enumerator of auto
}

TEST(Settings, each_word_is_accepted_and_read_back) {
    std::size_t rows_of_words = 0;
    for (SettingRow const& row : setting_rows()) {
        EXPECT_EQ(row.words.empty(), row.kind != "word") << row.name;
        std::string_view rest = row.words;
        rows_of_words += rest.empty() ? 0 : 1;
        while (!rest.empty()) {
            std::string_view const word = rest.substr(0, rest.find(", "));
            Settings settings;
            settings.set(row.name, word);
            EXPECT_EQ(settings.get(row.name), word) << row.name;
            EXPECT_TRUE(contains(std::string(row.help), word)) << row.name << ": its help does not tell " << word;
            rest.remove_prefix(std::min(rest.size(), word.size() + 2));
        }
    }
    EXPECT_GE(rows_of_words, 9U);
}

TEST(Settings, an_unknown_name_is_answered_with_the_nearest_known_one) {
    Settings settings;
    std::string const text = error_of([&] { settings.set("strategie", "token"); });
    EXPECT_TRUE(contains(text, "'strategie'") && contains(text, "'strategy'")) << text;
    EXPECT_THROW(settings.get("strategie"), Error);
}

TEST(Settings, the_environment_overrides_the_defaults) {
    Variable const staging("SLUICE_STAGING", "64KiB");
    Variable const strategy("SLUICE_STRATEGY", "parking");
    Settings const settings = Settings::from_environment();
    EXPECT_EQ(settings.staging, 64_KiB);
    EXPECT_EQ(settings.strategy, Strategy::parking);
    EXPECT_EQ(settings.outstanding_requests, Settings{}.outstanding_requests);
}

TEST(Settings, a_misspelt_variable_is_an_error_that_names_the_right_one) {
    Variable const wrong("SLUICE_STAGGING", "64KiB");
    std::string const text = error_of([] { Settings::from_environment(); });
    EXPECT_TRUE(contains(text, "SLUICE_STAGGING") && contains(text, "SLUICE_STAGING")) << text;
}

TEST(Settings, a_wrong_value_in_the_environment_is_an_error) {
    Variable const wrong("SLUICE_STAGING", "much");
    EXPECT_TRUE(contains(error_of([] { Settings::from_environment(); }), "'much'"));
}

TEST(Settings, variables_of_tests_benchmarks_and_module_files_are_left_alone) {
    Variable const test("SLUICE_TEST_ANYTHING", "1");
    Variable const bench("SLUICE_BENCH_ANYTHING", "1");
    Variable const root("SLUICE_ROOT", "/somewhere");
    EXPECT_EQ(Settings::from_environment(), Settings{});
}

}  // namespace
}  // namespace sluice
