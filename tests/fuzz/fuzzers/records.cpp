// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what reads a node's file. The input changes a valid file of two ranks, which is far larger than an input
// should be: each 8 bytes of it are a place and what is written there; what is left over shortens the file.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "report/read/node_files.hpp"
#include "report/records.hpp"
#include "report/show/text.hpp"
#include "report/show/trace.hpp"
#include "report/summary/summary_json.hpp"
#include "seeds.hpp"
#include "sluice/error.hpp"

namespace sluice::fuzz {

namespace {

namespace fs = std::filesystem;

struct Change {
    std::uint32_t at;
    std::uint32_t value;
};

std::string text_of(Change const& change) {
    return {reinterpret_cast<char const*>(&change), sizeof change};
}

/// The valid file, and the folder in memory in which the changed one is read.
struct Bed {
    Bed() : folder(fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) {
        folder /= "sluice-fuzz-" + std::to_string(getpid());
        fs::create_directories(folder);
        report::write_node_files(folder, 2, 2, report::Story::flooded);
        path = fs::directory_iterator(folder)->path();
        std::ifstream file(path, std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    Bed(Bed const&) = delete;
    Bed& operator=(Bed const&) = delete;
    ~Bed() { fs::remove_all(folder); }

    fs::path folder;
    fs::path path;
    std::string whole;
};

/// Half of all places are in the heads, in which a change matters most.
std::size_t place_of(std::uint32_t at, std::size_t bytes) {
    std::size_t const head = sizeof(record::NodeHeader) + sizeof(record::RankHead);
    return (at & 1U) != 0 ? at / 2 % head : at / 2 % (bytes - sizeof(std::uint32_t));
}

}  // namespace

std::vector<std::string> seeds() {
    auto const in_head = [](std::size_t at) { return static_cast<std::uint32_t>(at * 2 + 1); };
    std::size_t const head = sizeof(record::NodeHeader);
    return {text_of({0, 0}), text_of({in_head(offsetof(record::NodeHeader, claimed)), 0xffffffff}),
            text_of({in_head(head + offsetof(record::RankHead, sites)), 256}) +
                text_of({in_head(head + offsetof(record::RankHead, history)), 1024}),
            text_of({in_head(head + offsetof(record::RankHead, world_size)), 3}) + "cut",
            text_of({in_head(head + offsetof(record::RankHead, state)), 2})};
}

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace sluice;
    static fuzz::Bed const bed;
    std::string file = bed.whole;
    for (; size >= sizeof(fuzz::Change); data += sizeof(fuzz::Change), size -= sizeof(fuzz::Change)) {
        fuzz::Change change{};
        std::memcpy(&change, data, sizeof change);
        std::memcpy(file.data() + fuzz::place_of(change.at, file.size()), &change.value, sizeof change.value);
    }
    if (size >= 2) file.resize(std::min<std::size_t>(file.size(), std::size_t{data[0]} * data[1] * 16));
    std::ofstream(bed.path, std::ios::binary) << file;
    try {
        report::LeftBehind const left = report::read_node_files(bed.folder, report::k_names);
        report::to_screen(left.summary);
        std::ostringstream trace;
        report::write_trace(left.summary, trace);
        report::from_text(report::to_text(left.summary), "report.json");
        report::from_bytes(report::to_bytes(left.summary));
    } catch (Error const&) {  // no record can be used
    }
    return 0;
}
