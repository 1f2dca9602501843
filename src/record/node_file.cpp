// SPDX-License-Identifier: BSD-3-Clause
#include "record/node_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "sluice/error.hpp"

namespace sluice::record {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_prefix = "node-";
constexpr std::string_view k_suffix = ".sluice";

/// Reads one object of the file at `offset`; returns false if the file ends before the object does.
template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& object) {
    static_assert(std::is_trivially_copyable_v<T>);
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&object), sizeof(T));
    return file.gcount() == static_cast<std::streamsize>(sizeof(T));
}

std::uint64_t offset_of(std::uint64_t number) {
    return sizeof(NodeHeader) + number * sizeof(RankRecord);
}

/// Returns why the file is not a valid node file, or an empty text.
std::string fault_of(NodeHeader const& header) {
    if (header.magic == 0) return "it was never begun (its head is empty)";
    if (header.magic != k_magic) return "it is not a file of Sluice";
    if (header.format != k_format || header.record_bytes != sizeof(RankRecord))
        return fmt::format(
            "it is of another version: format {} with records of {} bytes, this version reads format {} with {}",
            header.format, header.record_bytes, k_format, sizeof(RankRecord));
    return {};
}

}  // namespace

std::vector<fs::path> node_files_of(fs::path const& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::string const name = entry->path().filename().string();
        if (name.starts_with(k_prefix) && name.ends_with(k_suffix)) files.push_back(entry->path());
    }
    if (error) throw Error(ErrorCode::invalid_argument, folder.string() + ": " + error.message());
    std::sort(files.begin(), files.end(), [](fs::path const& a, fs::path const& b) {
        std::string const left = a.filename().string();
        std::string const right = b.filename().string();
        return left.size() != right.size() ? left.size() < right.size() : left < right;
    });
    return files;
}

NodeFile::NodeFile(fs::path const& path) : file_(path, std::ios::binary) {
    std::error_code error;
    std::uint64_t const size = fs::file_size(path, error);
    NodeHeader header;
    if (error || !file_)
        fault_ = "it cannot be read";
    else if (!read_at(file_, 0, header))
        fault_ = fmt::format("it ends after {} bytes, its head alone has {}", size, sizeof header);
    else
        fault_ = fault_of(header);
    if (!fault_.empty()) return;
    claimed_ = header.claimed;
    whole_ = std::min<std::uint64_t>(claimed_, (size - sizeof header) / sizeof(RankRecord));
}

bool NodeFile::read(std::uint64_t number, RankRecord& record) {
    return read_at(file_, offset_of(number), record);
}

bool NodeFile::read_head(std::uint64_t number, RankHead& head) {
    return read_at(file_, offset_of(number), head);
}

}  // namespace sluice::record
