// SPDX-License-Identifier: BSD-3-Clause
// age_records FILE SECONDS: moves the start of each record in the file of a node back by so many seconds. The records
// must have started within the last ten minutes.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "record/record.hpp"

namespace {

using namespace sluice::record;

/// Reads or writes one object in the middle of a file.
template <typename T>
T read_at(std::fstream& file, std::size_t offset) {
    T object{};
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&object), sizeof object);
    return object;
}
template <typename T>
void write_at(std::fstream& file, std::size_t offset, T const& object) {
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<char const*>(&object), sizeof object);
}

bool age(std::fstream& file, std::uint64_t by_us) {
    auto const node = read_at<NodeHeader>(file, 0);
    if (!file || node.magic != k_magic || node.record_bytes != sizeof(RankRecord) || node.claimed == 0) return false;
    auto const now_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
    for (std::uint32_t i = 0; i < node.claimed; ++i) {
        std::size_t const offset = sizeof(NodeHeader) + i * sizeof(RankRecord) + offsetof(RankRecord, head);
        auto head = read_at<RankHead>(file, offset);
        if (!file || head.start_unix_us > now_us || now_us - head.start_unix_us > 600'000'000) return false;
        head.start_unix_us -= by_us;
        write_at(file, offset, head);
    }
    return file.flush().good();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("age_records FILE SECONDS\n", stderr);
        return 2;
    }
    std::fstream file(argv[1], std::ios::in | std::ios::out | std::ios::binary);
    if (age(file, std::stoull(argv[2]) * 1'000'000)) return 0;
    std::fprintf(stderr, "%s holds no records that started in the last ten minutes\n", argv[1]);
    return 1;
}
