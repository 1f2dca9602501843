// SPDX-License-Identifier: BSD-3-Clause
#include "madre/options.hpp"

#include <charconv>
#include <string_view>

#include "sluice/error.hpp"

namespace sluice::bench {

namespace {

std::uint64_t number(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument,
                    std::string(option) + " wants a whole number, not '" + std::string(text) + "'");
    return value;
}

std::vector<std::string> names(std::string_view list) {
    std::vector<std::string> result;
    while (!list.empty()) {
        std::size_t const comma = list.find(',');
        result.emplace_back(list.substr(0, comma));
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
    return result;
}

}  // namespace

Options Options::from_arguments(std::span<char* const> arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        std::string_view const name = arguments[i];
        if (i + 1 == arguments.size()) throw Error(ErrorCode::invalid_argument, std::string(name) + " wants a value");
        std::string_view const value = arguments[i + 1];
        if (name == "--experiment") {
            options.experiment = static_cast<int>(number(name, value));
        } else if (name == "--blocks") {
            options.blocks = number(name, value);
        } else if (name == "--free") {
            options.free_blocks = number(name, value);
        } else if (name == "--block-bytes") {
            options.block_bytes = number(name, value);
        } else if (name == "--staging") {
            options.staging = {number(name, value)};
        } else if (name == "--method") {
            options.methods = names(value);
        } else if (name == "--platform") {
            options.platform = value;
        } else {
            throw Error(ErrorCode::invalid_argument, "no option is called '" + std::string(name) + "'");
        }
    }
    if (options.block_bytes < 16)
        throw Error(ErrorCode::invalid_argument,
                    "blocks of " + std::to_string(options.block_bytes) + " bytes do not hold their origin (16 bytes)");
    return options;
}

}  // namespace sluice::bench
