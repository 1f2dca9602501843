// SPDX-License-Identifier: BSD-3-Clause
// make_folder FOLDER RANKS healthy|early|flooded [PROCESS]: makes the files that a job leaves behind, for the tests of
// the command and of the page. With the number of a process the last rank of the first node is that process.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "kernel/machine.hpp"
#include "kernel/process_stat.hpp"
#include "report/records.hpp"

namespace {

namespace record = sluice::record;

void give_process(std::filesystem::path const& file, std::uint32_t rank, std::uint32_t number) {
    auto const stat = sluice::kernel::process_stat(static_cast<pid_t>(number));
    if (!stat) throw std::invalid_argument("there is no process " + std::to_string(number));
    sluice::kernel::ProcessMark const mark{sluice::kernel::this_machine(), stat->started, number, 0};
    std::fstream node(file, std::ios::binary | std::ios::in | std::ios::out);
    node.seekp(static_cast<std::streamoff>(record::offset_of_record(rank) + offsetof(record::RankHead, process)));
    node.write(reinterpret_cast<char const*>(&mark), sizeof mark);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4 && argc != 5) {
        std::fputs("make_folder FOLDER RANKS healthy|early|flooded [PROCESS]\n", stderr);
        return 2;
    }
    using sluice::report::Story;
    std::filesystem::create_directories(argv[1]);
    std::string const name = argv[3];
    Story const story = name == "healthy" ? Story::healthy : name == "early" ? Story::early : Story::flooded;
    constexpr std::uint32_t ranks_per_node = 8;
    auto const ranks = static_cast<std::uint32_t>(std::stoul(argv[2]));
    sluice::report::write_node_files(argv[1], ranks, ranks_per_node, story);
    if (argc == 5)
        give_process(std::filesystem::path(argv[1]) / "node-0.sluice", std::min(ranks, ranks_per_node) - 1,
                     static_cast<std::uint32_t>(std::stoul(argv[4])));
}
