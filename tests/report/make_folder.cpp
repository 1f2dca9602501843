// SPDX-License-Identifier: BSD-3-Clause
// make_folder FOLDER RANKS healthy|early|flooded: makes the files that a job leaves behind, for the tests of the page.
#include <cstdio>
#include <string>

#include "report/records.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("make_folder FOLDER RANKS healthy|early|flooded\n", stderr);
        return 2;
    }
    using sluice::report::Story;
    std::filesystem::create_directories(argv[1]);
    std::string const name = argv[3];
    Story const story = name == "healthy" ? Story::healthy : name == "early" ? Story::early : Story::flooded;
    sluice::report::write_node_files(argv[1], static_cast<std::uint32_t>(std::stoul(argv[2])), 8, story);
}
