// SPDX-License-Identifier: BSD-3-Clause
#include "budget/memory_usage.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"
#include "kernel/process/shared_pages.hpp"

namespace sluice::budget {

namespace {

using Kind = MemoryPlace::Kind;

constexpr unsigned k_looks_between_stats = 16;
constexpr unsigned k_looks_between_limits = 16;
// For a smaller change of usage it is not worth while to read again which part of it is cache.
constexpr std::uint64_t k_noticed_part = 512;  // 1/512 of the limit

std::uint64_t page_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::optional<kernel::Statm> read_statm(kernel::KeptFile const& file) noexcept {
    std::array<char, 256> room;
    return kernel::statm_in(file.read(room));
}

/// Bytes in memory, without arrays of peers, which are counted where they belong.
std::uint64_t own_resident(kernel::Statm const& statm, std::uint64_t page) noexcept {
    std::uint64_t const of_peers = kernel::shared_pages().of_peers.load(std::memory_order_relaxed);
    return statm.resident * page - std::min({of_peers, statm.shared * page, statm.resident * page});
}

/// Figures from memory.stat, in bytes.
struct FilePages {
    std::uint64_t kept = 0;
    std::uint64_t mapped = 0;
    std::uint64_t unwritten = 0;
};

/// Reads the figures in one pass, because the text has 40 to 60 lines. Version 1 marks the sums that include child
/// groups with `prefix`.
FilePages file_pages_in(std::string_view text, std::string_view prefix) noexcept {
    FilePages pages;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with(prefix)) continue;
        line.remove_prefix(prefix.size());
        std::string_view const name = line.substr(0, line.find(' '));
        std::uint64_t* const to =
            name == "inactive_file" || name == "active_file" ? &pages.kept
            : name == "mapped_file" || name == "file_mapped" ? &pages.mapped
            : name == "dirty" || name == "file_dirty" || name == "writeback" || name == "file_writeback"
                ? &pages.unwritten
                : nullptr;
        if (to != nullptr && line.size() > name.size())
            *to += kernel::number_in(line.substr(name.size() + 1)).value_or(0);
    }
    return pages;
}

}  // namespace

std::shared_ptr<kernel::KeptFile const> UsageFiles::at(std::string const& path) {
    auto const [entry, is_new] = at_.try_emplace(path);
    if (is_new) {
        auto const file = std::make_shared<kernel::KeptFile>(path);
        if (files_ == Files::kept) file->keep();
        entry->second = file;
    }
    return entry->second;
}

MemoryUsage::MemoryUsage(MemoryPlace place, UsageFiles& files, std::string const& root)
    : place_(std::move(place)), root_(root), page_(page_bytes()), last_{place_.limit.limit, place_.limit.used} {
    switch (place_.kind) {
        case Kind::cgroup_v1:
        case Kind::cgroup_v2:
            limit_file_ = files.at(place_.folder + "/" + place_.file);
            usage_file_ = files.at(place_.folder +
                                   (place_.kind == Kind::cgroup_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
            stat_file_ = files.at(place_.folder + "/memory.stat");
            break;
        case Kind::available:
            usage_file_ = files.at(root + "/proc/meminfo");
            break;
        case Kind::data:
        case Kind::address_space:
        case Kind::resident_set:
            limit_file_ = files.at(root + "/proc/self/limits");
            [[fallthrough]];
        case Kind::setting:
            usage_file_ = files.at(root + "/proc/self/statm");
    }
    since_stat_ = k_looks_between_stats;
    since_limits_ = k_looks_between_limits;
    read();
}

MemoryUsage::Reading MemoryUsage::read() noexcept {
    if (place_.is_group())
        read_group();
    else if (place_.kind == Kind::available)
        read_machine();
    else
        read_process();
    return last_;
}

void MemoryUsage::read_group() noexcept {
    std::string_view const text = limit_file_->read(*room_);
    std::optional<std::uint64_t> const limit = place_.file == "memory.stat"
                                                   ? kernel::number_after(text, "hierarchical_memory_limit")
                                                   : kernel::number_in(text);
    if (limit)
        last_.limit = Bytes{std::min(*limit, k_no_memory_limit)};
    else if (text.starts_with("max"))
        last_.limit = Bytes{k_no_memory_limit};
    if (auto const usage = usage_file_->number()) {
        Bytes const cache = droppable_cache(Bytes{*usage});
        last_.used = Bytes{*usage} - std::min(cache, Bytes{*usage});
    }
}

/// Returns the file pages that the kernel drops before it swaps or kills. It leaves out mapped pages, because programs
/// stutter when these are dropped, and dirty pages, which must be written first. The figure is read again only if usage
/// has moved since.
Bytes MemoryUsage::droppable_cache(Bytes usage) noexcept {
    Bytes const moved = usage > usage_then_ ? usage - usage_then_ : usage_then_ - usage;
    // A group that is full of cache stays full while programs take the cache's place, so its figure is read each time.
    bool const full = usage.count > last_.limit.count / 8 * 7;
    if (!full && ++since_stat_ < k_looks_between_stats && moved.count <= last_.limit.count / k_noticed_part)
        return cache_;
    since_stat_ = 0;
    usage_then_ = usage;
    FilePages const pages = file_pages_in(stat_file_->read(*room_), place_.kind == Kind::cgroup_v1 ? "total_" : "");
    std::uint64_t const file = pages.kept;
    std::uint64_t const needed = pages.mapped + pages.unwritten;
    cache_ = Bytes{file - std::min(file, needed)};
    return cache_;
}

void MemoryUsage::read_process() noexcept {
    if (limit_file_ && ++since_limits_ >= k_looks_between_limits) {
        since_limits_ = 0;
        std::string_view const text = limit_file_->read(*room_);
        std::string_view const name = place_.kind == Kind::data            ? "Max data size"
                                      : place_.kind == Kind::address_space ? "Max address space"
                                                                           : "Max resident set";
        if (auto const limit = soft_limit(text, name)) last_.limit = Bytes{std::min(*limit, k_no_memory_limit)};
    }
    if (auto const statm = read_statm(*usage_file_)) {
        last_.used = Bytes{place_.kind == Kind::data            ? statm->data * page_
                           : place_.kind == Kind::address_space ? statm->size * page_
                                                                : own_resident(*statm, page_)};
    }
}

void MemoryUsage::read_machine() noexcept {
    std::array<char, 512> room;
    std::string_view const text = usage_file_->read(room);
    auto const total = kernel::number_after(text, "MemTotal:");
    auto const available = kernel::number_after(text, "MemAvailable:");
    if (!total || !available) return;
    last_.limit = Bytes{*total * 1024};
    last_.used = Bytes{(*total - std::min(*total, *available)) * 1024};
}

std::string MemoryUsage::identity() const {
    if (!place_.is_shared()) return {};
    struct stat status {};
    std::string const path = place_.is_group() ? place_.folder : root_ + "/";
    if (stat(path.c_str(), &status) != 0) return {};
    // A made-up root stands for another machine; the real machine has one root only.
    if (!place_.is_group() && root_.empty()) return "machine";
    return (place_.is_group() ? "group-" : "machine-") + std::to_string(status.st_dev) + "-" +
           std::to_string(status.st_ino);
}

PrivateMemory::PrivateMemory()
    : statm_(std::make_shared<kernel::KeptFile const>("/proc/self/statm")), page_(page_bytes()) {}

PrivateMemory::PrivateMemory(UsageFiles& files, std::string const& root)
    : statm_(files.at(root + "/proc/self/statm")), page_(page_bytes()) {}

Bytes PrivateMemory::read() const noexcept {
    std::optional<kernel::Statm> const statm = read_statm(*statm_);
    if (!statm) return {};
    std::uint64_t const own_arrays = kernel::shared_pages().own.load(std::memory_order_relaxed);
    return Bytes{(statm->resident - std::min(statm->resident, statm->shared)) * page_ + own_arrays};
}

}  // namespace sluice::budget
