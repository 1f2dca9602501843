// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/option.hpp"

#include <sstream>
#include <string>

#include "command_line/cli11.hpp"

namespace sluice::command_line {

namespace {

/// CLI11's own checks answer a wrong number with the largest double in full, and add their names to that of the value.
CLI::Validator number_that(bool (*is_right)(double), std::string const& what) {
    auto const check = [is_right, what](std::string const& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && is_right(value)) return std::string();
        return text + " is not " + what;
    };
    return {check, ""};
}

/// CLI11 adds the description of a check to the name of the value, from where Help takes it.
template <typename Number>
void limit(CLI::Option& option, Number least, Number most) {
    std::ostringstream range;
    range << least << " to " << most;
    option.check(CLI::Range(least, most).description(range.str()));
}

}  // namespace

Option& Option::required() {
    option_->required();
    return *this;
}

Option& Option::separated_by_commas() {
    option_->delimiter(',');
    option_->type_name(option_->get_type_name() + ",…");
    return *this;
}

Option& Option::exactly(int values) {
    option_->expected(values);
    return *this;
}

Option& Option::any_number() {
    option_->expected(0, -1);
    return *this;
}

Option& Option::positive() {
    option_->check(number_that([](double value) { return value > 0; }, "a positive number"));
    return *this;
}

Option& Option::not_negative() {
    option_->check(number_that([](double value) { return value >= 0; }, "zero or a positive number"));
    return *this;
}

Option& Option::between(int least, int most) {
    limit(*option_, least, most);
    return *this;
}

Option& Option::between(double least, double most) {
    limit(*option_, least, most);
    return *this;
}

Option& Option::one_of(std::vector<std::string> const& words) {
    option_->check(CLI::IsMember(words));
    return *this;
}

Option& Option::shows_default() {
    option_->capture_default_str();
    return *this;
}

Option& Option::default_text(std::string const& text) {
    option_->default_str(text);
    return *this;
}

Option& Option::value_name(std::string const& name) {
    option_->type_name(name);
    return *this;
}

Option& Option::heading(std::string const& heading) {
    option_->group(heading);
    return *this;
}

}  // namespace sluice::command_line
