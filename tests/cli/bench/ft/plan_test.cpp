// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/ft/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/bench/ft/ratios.hpp"
#include "cli/bench/ft/table.hpp"

namespace sluice::cli {
namespace {

TEST(BenchFtPlan, has_a_table_by_limit_and_one_by_number_of_tasks) {
    auto const tables = plan_ft({}, "openmpi");
    ASSERT_EQ(tables.size(), 2u);
    std::set<std::string> forms;
    for (FtCell const& cell : tables[0].cells)
        forms.insert(name_of_ft_form(cell, false));
    EXPECT_EQ(forms, (std::set<std::string>{"plain", "plain_run", "in_place", "streamed", "tasks_normal, 8 a rank",
                                            "tasks, 8 a rank, 4 tokens", "tasks, 8 a rank, 8 tokens"}));
    std::set<int> tasks;
    for (FtCell const& cell : tables[1].cells) {
        EXPECT_TRUE(cell.form == "tasks" || cell.form == "tasks_normal");
        EXPECT_GT(cell.node_mib, 0);
        tasks.insert(cell.tasks);
    }
    EXPECT_EQ(tasks.size(), 5u);
}

TEST(BenchFtPlan, divides_the_usual_limits_by_the_number_of_nodes) {
    auto const one = plan_ft({}, "openmpi");
    FtChoice choice;
    choice.nodes = {2};
    auto const two = plan_ft(choice, "openmpi");
    ASSERT_EQ(one.front().cells.size(), two.front().cells.size());
    for (std::size_t i = 0; i < one.front().cells.size(); ++i)
        EXPECT_EQ(one.front().cells[i].node_mib / 2, two.front().cells[i].node_mib);
}

TEST(BenchFtPlan, makes_the_tasks_that_are_asked_for_and_no_other_table) {
    FtChoice choice;
    choice.forms = {"plain", "tasks_normal", "tasks"};
    choice.tasks = {4, 16};
    choice.tokens = {2};
    choice.node_mib = {0, 300};
    auto const tables = plan_ft(choice, "mpich");
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(tables.front().cells.size(), 2u * (1 + 2 + 2));
    EXPECT_FALSE(std::ranges::any_of(tables.front().cells, [](FtCell const& cell) { return cell.tasks == 8; }));
}

TEST(BenchFtTable, shows_outcomes_where_there_are_no_seconds) {
    FtTable table;
    table.cells = {{"openmpi", 4, 1, 0, "plain", 0, 0}, {"openmpi", 4, 1, 240, "plain", 0, 0}};
    std::vector<Row> const rows{
        Row{{"seconds", 1.5}, {"major_faults", 0}, {"outcome", "ok"}},
        Row{{"node_major_faults", 55580}, {"outcome", "timeout"}},
    };
    std::string const text = ft_matrices(table, rows);
    EXPECT_NE(text.find("none      240\n"), std::string::npos) << text;
    EXPECT_NE(text.find("0    55580\n"), std::string::npos) << text;
    EXPECT_NE(text.find("1.50  timeout\n"), std::string::npos) << text;
}

TEST(BenchFtPlan, lets_the_forms_of_a_limit_take_turns) {
    FtChoice choice;
    choice.forms = {"plain", "in_place"};
    choice.node_mib = {0, 300};
    auto const tables = plan_ft(choice, "openmpi");
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(ft_launches(tables.front(), 1), (std::vector<std::size_t>{0, 1, 2, 3}));
    EXPECT_EQ(ft_launches(tables.front(), 2), (std::vector<std::size_t>{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(BenchFtRatios, are_taken_turn_by_turn_where_both_have_seconds) {
    FtTable table;
    table.cells = {{"openmpi", 4, 1, 0, "plain", 0, 0},
                   {"openmpi", 4, 1, 0, "in_place", 0, 0},
                   {"openmpi", 4, 1, 240, "plain", 0, 0},
                   {"openmpi", 4, 1, 240, "in_place", 0, 0}};
    auto const took = [](double seconds) { return Row{{"bench", "ft"}, {"seconds", seconds}, {"outcome", "ok"}}; };
    Row const killed{{"bench", "ft"}, {"outcome", "killed"}};
    FtLaunches const launches{{took(2), took(4), took(10), took(8)},
                              {took(1), took(3), {}, took(7.2)},
                              {killed, killed, killed, killed},
                              {took(1), took(1), took(1), took(1)}};
    std::vector<Row> const ratios = ft_ratios(table, launches);
    ASSERT_EQ(ratios.size(), 1u);
    EXPECT_EQ(ratios[0].at("ratio"), "in_place/plain");
    EXPECT_EQ(ratios[0].at("pairs"), 3);
    EXPECT_DOUBLE_EQ(ratios[0].at("time").at("min").get<double>(), 0.5);
    EXPECT_DOUBLE_EQ(ratios[0].at("time").at("median").get<double>(), 0.75);
    EXPECT_DOUBLE_EQ(ratios[0].at("time").at("max").get<double>(), 0.9);
    std::string const text = ft_ratio_lines(ratios);
    EXPECT_NE(text.find("none in_place/plain"), std::string::npos) << text;
    EXPECT_NE(text.find("0.750 (0.500 … 0.900)"), std::string::npos) << text;
    EXPECT_EQ(ft_ratio_lines({}), "");
}

TEST(BenchFtRatios, are_beside_the_launch_of_the_median_or_one_without_seconds) {
    auto const took = [](double seconds) { return Row{{"seconds", seconds}, {"outcome", "ok"}}; };
    EXPECT_EQ(ft_typical({took(3), {}, took(1), took(2)}).at("seconds"), 2.0);
    EXPECT_EQ(ft_typical({took(3), Row{{"outcome", "timeout"}}}).at("outcome"), "timeout");
    EXPECT_TRUE(ft_typical(std::vector<Row>(2)).is_null());
}

}  // namespace
}  // namespace sluice::cli
