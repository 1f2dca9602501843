// SPDX-License-Identifier: BSD-3-Clause
/// docs/report-json.md has each field of report.json, and no other. A heading in code names the tables that the rows
/// below it belong to; the members of a small structure may be named in its own row.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "report/summary/summary.hpp"
#include "report/summary/summary_json.hpp"

namespace sluice::report {

namespace {

using nlohmann::json;
using Fields = std::set<std::string>;
using Page = std::map<std::string, std::string>;  // each field, and the row that has it

/// A job that has something in each list.
json job_with_all() {
    Summary s;
    s.world_size = 1;
    s.ends.resize(1);
    s.objects.resize(1);
    s.sites.resize(1);
    s.matrix.resize(1);
    s.comms.resize(1);
    s.now.resize(1);
    s.nodes.resize(1);
    s.counters.resize(1);
    s.ranks.resize(1);
    s.ranks[0].curve.resize(1);
    s.ranks[0].events.resize(1);
    json out;
    to_json(out, s);
    return out;
}

/// One of the forms that the page describes once, or a number.
bool is_one_figure(json const& value) {
    return !value.is_object() || value.contains("min_rank") || value.contains("ranges") ||
           (value.contains("used_at_once_kib") && value["site"].is_number());
}

void add_fields(Fields& into, std::string const& above, json const& of) {
    for (auto const& [name, value] : of.items()) {
        json const& first = value.is_array() && !value.empty() ? value[0] : value;
        std::string const path =
            above + name + (value.is_array() && first.is_object() && !is_one_figure(first) ? "[]" : "");
        into.insert(path);
        if (!is_one_figure(first)) add_fields(into, path + ".", first);
    }
}

/// What stands in code, in a line of the page.
std::vector<std::string> code_in(std::string const& line) {
    std::vector<std::string> out;
    for (std::size_t from = line.find('`'); from != std::string::npos;) {
        std::size_t const to = line.find('`', from + 1);
        out.push_back(line.substr(from + 1, to - from - 1));
        from = to == std::string::npos ? to : line.find('`', to + 1);
    }
    return out;
}

Page read_page() {
    std::ifstream file(SLUICE_PAGE_OF_FIELDS);
    EXPECT_TRUE(file);
    Page page;
    std::vector<std::string> tables{""};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) {
            tables = code_in(line);
            // Several structures below one heading: their rows have whole paths.
            bool const is_table =
                !tables.empty() && line.find("` and `") == std::string::npos && !line.starts_with("## How");
            if (!is_table) tables = {""};
            for (std::string& table : tables)
                if (!table.empty()) page[table] = line, table += '.';
        } else if (line.starts_with("| `")) {
            for (std::string const& name : code_in(line.substr(0, line.find('|', 1))))
                for (std::string const& table : tables)
                    page[table + name] = line;
        }
    }
    return page;
}

bool has(Page const& page, std::string const& field) {
    if (page.contains(field)) return true;
    std::size_t const dot = field.rfind('.');
    if (dot == std::string::npos) return false;
    auto const row = page.find(field.substr(0, dot));
    return row != page.end() && row->second.find(field.substr(dot + 1)) != std::string::npos;
}

TEST(PageOfFields, has_each_field) {
    Fields fields;
    add_fields(fields, "", job_with_all());
    Page const page = read_page();
    for (std::string const& field : fields) {
        bool const is_told_below =
            std::any_of(page.begin(), page.end(), [&](auto const& row) { return row.first.starts_with(field + "."); });
        EXPECT_TRUE(is_told_below || has(page, field)) << field << " is not in docs/report-json.md";
    }
    EXPECT_GT(fields.size(), 150U);
}

TEST(PageOfFields, has_no_other) {
    Fields fields;
    add_fields(fields, "", job_with_all());
    for (auto const& [field, row] : read_page())
        EXPECT_TRUE(fields.contains(field)) << field << " is not in a report: " << row;
}

}  // namespace

}  // namespace sluice::report
