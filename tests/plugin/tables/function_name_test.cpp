// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/function_name.hpp"

#include <gtest/gtest.h>

namespace sluice::plugin {

namespace {

TEST(FunctionName, has_namespaces_and_template_arguments_but_no_parameters) {
    EXPECT_EQ(function_name("main"), "main");
    EXPECT_EQ(function_name("solver::step(double*)"), "solver::step");
    EXPECT_EQ(function_name("void solver::step<int, std::vector<int> >(double*)"),
              "solver::step<int, std::vector<int> >");
    EXPECT_EQ(function_name("std::vector<int> a::b<(c::d)3>(int) const"), "a::b<(c::d)3>");
}

TEST(FunctionName, keeps_parentheses_that_are_part_of_the_name) {
    EXPECT_EQ(function_name("(anonymous namespace)::step(int)"), "(anonymous namespace)::step");
    EXPECT_EQ(function_name("app::(anonymous namespace)::Field<2>::swap(int, long)"),
              "app::(anonymous namespace)::Field<2>::swap");
    EXPECT_EQ(function_name("halo::Exchange::operator()(int) const"), "halo::Exchange::operator()");
    EXPECT_EQ(function_name("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}::operator()");
}

TEST(FunctionName, knows_operators_of_brackets) {
    EXPECT_EQ(function_name("bool a::operator<(a::B const&, a::B const&)"), "a::operator<");
    EXPECT_EQ(function_name("operator new(unsigned long)"), "operator new");
}

}  // namespace

}  // namespace sluice::plugin
