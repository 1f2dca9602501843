// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "budget/memory_limit.hpp"
#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::budget {

namespace {

constexpr std::uint64_t k_no_limit = k_no_memory_limit;

/// Returns the lines of a file, none if it cannot be read.
std::vector<std::string> lines_of(std::string const& path) {
    std::istringstream file(kernel::whole_text(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::string> words_of(std::string const& line, char separator) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, separator);)
        if (!word.empty()) words.push_back(word);
    return words;
}

/// Returns the number after `key` in a file of lines such as "VmRSS:    1234 kB".
std::optional<std::uint64_t> number_after(std::string const& path, std::string_view key) {
    kernel::KernelText room;
    return kernel::number_after(kernel::read_text(path, room), key);
}

/// The memory of the process, counted in the three ways of the kernel.
struct Usage {
    Bytes resident;       // compared with control groups, the setting, RLIMIT_RSS and MemAvailable
    Bytes data;           // compared with RLIMIT_DATA
    Bytes address_space;  // compared with RLIMIT_AS
};

Usage usage(std::string const& root) {
    kernel::KernelText room;
    std::string_view const status = kernel::read_text(root + "/proc/self/status", room);
    auto const bytes = [status](std::string_view key) { return Bytes{kernel::bytes_after(status, key).value_or(0)}; };
    return {bytes("VmRSS:"), bytes("VmData:"), bytes("VmSize:")};
}

std::uint64_t room(MemoryLimit const& limit) {
    return limit.limit > limit.used ? (limit.limit - limit.used).count : 0;
}

/// All places in the order they were found; a place without a limit has k_no_limit.
class Found {
  public:
    void consider(MemoryPlace::Kind kind, std::uint64_t limit, Bytes used, std::string const& source,
                  std::string const& folder = "", std::string const& file = "") {
        places_.push_back({kind, {{std::min(limit, k_no_limit)}, used, source}, folder, file});
    }
    std::vector<MemoryPlace>& places() { return places_; }

  private:
    std::vector<MemoryPlace> places_;
};

// --- control groups -------------------------------------------------------------------------------------------------

using Kind = MemoryPlace::Kind;

struct CgroupVersion {
    Kind kind;
    char const* name;
    char const* filesystem;
    std::vector<char const*> limit_files;
};

CgroupVersion const& version_one() {
    static CgroupVersion const version{Kind::cgroup_v1, "cgroup v1", "cgroup", {"memory.limit_in_bytes"}};
    return version;
}

CgroupVersion const& version_two() {
    // Above memory.high the kernel stalls the process in reclaim, which is as bad as a limit.
    static CgroupVersion const version{Kind::cgroup_v2, "cgroup v2", "cgroup2", {"memory.max", "memory.high"}};
    return version;
}

/// Decodes blanks and similar characters, which mountinfo writes as \040.
std::string unescaped(std::string const& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && kernel::number_in(text.substr(i + 1, 3))) {
            result += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

struct Mount {
    std::string group;  // the control group that is shown at `point`
    std::string point;
};

/// Parses lines such as "36 35 98:0 /group /point rw,noatime master:1 - cgroup source rw,memory".
std::vector<Mount> mounts_of(CgroupVersion const& version, std::string const& root) {
    std::vector<Mount> mounts;
    for (std::string const& line : lines_of(root + "/proc/self/mountinfo")) {
        std::vector<std::string> const words = words_of(line, ' ');
        auto const dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 5 || words.end() - dash < 2 || dash[1] != version.filesystem) continue;
        if (&version == &version_one()) {
            std::vector<std::string> const options = words_of(words.back(), ',');
            if (std::find(options.begin(), options.end(), "memory") == options.end()) continue;
        }
        mounts.push_back({unescaped(words[3]), unescaped(words[4])});
    }
    return mounts;
}

/// Returns the path of the process's group, from lines such as "4:memory,cpu:/path" (v1) and "0::/path" (v2).
std::optional<std::string> group_of_process(CgroupVersion const& version, std::string const& root) {
    for (std::string const& line : lines_of(root + "/proc/self/cgroup")) {
        std::size_t const first = line.find(':');
        std::size_t const second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        std::vector<std::string> const controllers = words_of(line.substr(first + 1, second - first - 1), ',');
        bool const hit = &version == &version_two()
                             ? controllers.empty()
                             : std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
        if (hit) return line.substr(second + 1);
    }
    return std::nullopt;
}

/// Returns the folder of the group below the mount. In a container the mount often shows only a part of the tree, or
/// the path belongs to the host and is not visible at all: then the mount point itself is the group.
std::string group_below(Mount const& mount, std::string const& group) {
    if (mount.group == "/") return group == "/" ? "" : group;
    if (group == mount.group) return "";
    if (group.starts_with(mount.group + "/")) return group.substr(mount.group.size());
    return "";
}

void consider_group(CgroupVersion const& version, std::string const& folder, std::string const& shown, Bytes resident,
                    Found& found) {
    for (char const* const file : version.limit_files) {
        std::vector<std::string> const lines = lines_of(folder + "/" + file);
        if (lines.empty()) continue;
        auto const limit = kernel::number_in(lines.front());
        if (limit || lines.front() == "max")
            found.consider(version.kind, limit.value_or(k_no_limit), resident,
                           std::string(version.name) + " " + shown + "/" + file, folder, file);
    }
    // Version 1 also reports the smallest limit of all parent groups, including those outside the container.
    if (auto const limit = number_after(folder + "/memory.stat", "hierarchical_memory_limit"))
        found.consider(version.kind, *limit, resident, std::string(version.name) + " " + shown + "/memory.stat", folder,
                       "memory.stat");
}

void consider_groups(CgroupVersion const& version, std::string const& root, Bytes resident, Found& found) {
    std::optional<std::string> const group = group_of_process(version, root);
    if (!group) return;
    for (Mount const& mount : mounts_of(version, root)) {
        std::string below = group_below(mount, *group);
        while (true) {  // from the group of the process up to the top of the mount
            consider_group(version, root + mount.point + below, mount.point + below, resident, found);
            if (below.empty()) break;
            below.resize(below.rfind('/'));
        }
    }
}

// --- resource limits ------------------------------------------------------------------------------------------------

/// The limit is read from the file rather than by getrlimit, so that tests can supply a made-up one.
std::optional<std::uint64_t> resource_limit(std::string const& root, std::string_view name) {
    kernel::KernelText room;
    return soft_limit(kernel::read_text(root + "/proc/self/limits", room), name);
}

}  // namespace

std::optional<std::uint64_t> soft_limit(std::string_view text, std::string_view name) noexcept {
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with(name)) continue;
        std::size_t const value = line.find_first_not_of(' ', name.size());
        if (value == std::string_view::npos) continue;
        if (line.substr(value).starts_with("unlimited")) return k_no_limit;
        return kernel::number_in(line.substr(value));
    }
    return std::nullopt;
}

std::vector<MemoryPlace> find_memory_places(Bytes setting, std::string const& root) {
    Usage const used = usage(root);
    Found found;
    if (setting.count != 0) found.consider(Kind::setting, setting.count, used.resident, "setting");
    consider_groups(version_two(), root, used.resident, found);
    consider_groups(version_one(), root, used.resident, found);
    if (auto const limit = resource_limit(root, "Max data size"))
        found.consider(Kind::data, *limit, used.data, "RLIMIT_DATA");
    if (auto const limit = resource_limit(root, "Max address space"))
        found.consider(Kind::address_space, *limit, used.address_space, "RLIMIT_AS");
    // The kernel ignores this limit, but Slurm uses it to publish what a job has on this node.
    if (auto const limit = resource_limit(root, "Max resident set"); limit && *limit < k_no_limit)
        found.consider(Kind::resident_set, *limit, used.resident, "RLIMIT_RSS");
    if (auto const available = number_after(root + "/proc/meminfo", "MemAvailable:"))
        found.consider(Kind::available, *available * 1024 + used.resident.count, used.resident, "MemAvailable");
    return std::move(found.places());
}

std::vector<MemoryLimit> find_memory_limits(Bytes setting, std::string const& root) {
    std::vector<MemoryLimit> limits;
    for (MemoryPlace& place : find_memory_places(setting, root))
        limits.push_back(std::move(place.limit));
    return limits;
}

bool is_limit(MemoryLimit const& limit) {
    return limit.limit.count < k_no_limit;
}

MemoryLimit const* least_room(std::vector<MemoryLimit> const& limits) {
    MemoryLimit const* least = nullptr;
    for (MemoryLimit const& limit : limits)
        if (is_limit(limit) && (least == nullptr || room(limit) < room(*least))) least = &limit;
    return least;
}

namespace {

MemoryLimit limit_in_force(Bytes setting, std::string const& root) {
    std::vector<MemoryLimit> const limits = find_memory_limits(setting, root);
    if (MemoryLimit const* const least = least_room(limits)) return *least;
    return {{k_no_limit}, usage(root).resident, "no limit found"};
}

}  // namespace

}  // namespace sluice::budget

namespace sluice {

MemoryLimit detect_memory_limit(Bytes setting, std::string const& root) {
    return budget::limit_in_force(setting, root);
}

}  // namespace sluice
