// SPDX-License-Identifier: BSD-3-Clause
#include "record/node_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

namespace sluice::record {

namespace {

constexpr std::string_view k_prefix = "node-";
constexpr std::string_view k_suffix = ".sluice";

/// Returns why the file is not a valid node file, or an empty text.
std::string fault_of(NodeHeader const& header) {
    if (header.magic == 0) return "it was never begun (its head is empty)";
    if (header.magic != k_magic) return "it is not a file of Sluice";
    if (header.format != k_format || header.record_bytes != sizeof(RankRecord))
        return "it is of another version: format " + std::to_string(header.format) + " with records of " +
               std::to_string(header.record_bytes) + " bytes, this version reads format " + std::to_string(k_format) +
               " with " + std::to_string(sizeof(RankRecord));
    return {};
}

}  // namespace

std::vector<std::string> node_files_in(kernel::Folder const& folder) {
    std::vector<std::string> names = folder.names(k_prefix);
    std::erase_if(names, [](std::string const& name) { return !name.ends_with(k_suffix); });
    std::sort(names.begin(), names.end(), [](std::string const& left, std::string const& right) {
        return left.size() != right.size() ? left.size() < right.size() : left < right;
    });
    return names;
}

NodeFile::NodeFile(kernel::Folder const& folder, std::string const& name) : opened_(folder.open_to_read(name)) {
    auto const size = static_cast<std::uint64_t>(opened_.status.st_size);
    NodeHeader header;
    if (!opened_)
        fault_ = "it cannot be read: " + opened_.why;
    else if (!read_at(0, &header, sizeof header))
        fault_ =
            "it ends after " + std::to_string(size) + " bytes, its head alone has " + std::to_string(sizeof header);
    else
        fault_ = fault_of(header);
    if (!fault_.empty()) return;
    claimed_ = header.claimed;
    arrived_ = header.arrived;
    whole_ = std::min({claimed_, (size - sizeof header) / sizeof(RankRecord), k_most_records});
}

bool NodeFile::read_at(std::uint64_t offset, void* object, std::size_t bytes) const {
    auto* const to = static_cast<std::byte*>(object);
    for (std::size_t done = 0; done < bytes;) {
        ssize_t const got = pread(opened_.file.get(), to + done, bytes - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return true;
}

bool NodeFile::read(std::uint64_t number, RankRecord& record) const {
    return number < whole_ && read_at(offset_of_record(number), &record, sizeof record);
}

bool NodeFile::read_head(std::uint64_t number, RankHead& head) const {
    return number < whole_ && read_at(offset_of_record(number), &head, sizeof head);
}

RankHead const* NodeFile::map_head(std::uint64_t number) const noexcept {
    if (number >= whole_) return nullptr;
    void* const page = mmap(nullptr, k_head_page, PROT_READ, MAP_SHARED, opened_.file.get(),
                            static_cast<off_t>(offset_of_record(number)));
    return page == MAP_FAILED ? nullptr : static_cast<RankHead const*>(page);
}

}  // namespace sluice::record
