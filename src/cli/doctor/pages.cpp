// SPDX-License-Identifier: BSD-3-Clause
// Huge pages, which make first touch, copies and registration cheaper.
#include "cli/doctor/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>

namespace sluice::cli {

namespace {

/// Returns the word in brackets of a line such as "always [madvise] never".
std::string chosen(std::string const& line) {
    std::size_t const from = line.find('[');
    std::size_t const to = line.find(']');
    if (from == std::string::npos || to == std::string::npos || to < from) return line;
    return line.substr(from + 1, to - from - 1);
}

/// Reads a page size: "2048kB" gives 512.
std::uint64_t pages_in_a_gibibyte(std::string const& page) {
    std::uint64_t kib = 0;
    std::from_chars(page.data(), page.data() + page.size(), kib);
    return kib == 0 ? 1 : std::max<std::uint64_t>(1, (1 << 20) / kib);
}

Finding transparent(std::string const& root) {
    std::string const mode = chosen(first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
    Finding finding{Health::ok, "transparent huge pages", mode, "large arrays get pages of 2 MiB by themselves", ""};
    if (mode == "madvise") {
        finding.health = Health::limited;
        finding.means = "large arrays get pages of 2 MiB if a program asks (madvise); others touch 512 times the pages";
        finding.change =
            "echo always >/sys/kernel/mm/transparent_hugepage/enabled; or GLIBC_TUNABLES=glibc.malloc.hugetlb=1";
    } else if (mode != "always") {
        finding.health = Health::missing;
        finding.value = mode.empty() ? "not in this kernel" : mode;
        finding.means = "all memory comes in small pages: first touch costs more, and so does every registration";
        finding.change = mode.empty() ? "a kernel with CONFIG_TRANSPARENT_HUGEPAGE"
                                      : "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled";
    }
    return finding;
}

Finding transparent_shared(std::string const& root) {
    std::string const mode = chosen(first_line(root + "/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
    bool const used = mode == "always" || mode == "within_size" || mode == "force" || mode == "advise";
    return {used ? Health::ok : Health::fact, "huge pages of shared memory", mode.empty() ? "not in this kernel" : mode,
            used ? "segments shared by ranks may get pages of 2 MiB" : "segments shared by ranks come in small pages",
            used || mode.empty() ? "" : "echo advise >/sys/kernel/mm/transparent_hugepage/shmem_enabled"};
}

}  // namespace

Findings look_at_pages_below(std::string const& root) {
    Findings findings{transparent(root), transparent_shared(root)};
    std::error_code none;
    std::vector<std::string> sizes;
    for (auto const& entry : std::filesystem::directory_iterator(root + "/sys/kernel/mm/hugepages", none))
        sizes.push_back(entry.path().filename().string());
    std::sort(sizes.begin(), sizes.end());
    for (std::string const& size : sizes) {
        std::string const folder = root + "/sys/kernel/mm/hugepages/" + size;
        std::string const all = first_line(folder + "/nr_hugepages");
        std::string const free = first_line(folder + "/free_hugepages");
        std::string const page = size.starts_with("hugepages-") ? size.substr(10) : size;
        bool const any = !all.empty() && all != "0";
        findings.push_back(
            {any ? Health::ok : Health::fact, "reserved pages of " + page,
             fmt::format("{}, {} free", all.empty() ? "0" : all, free.empty() ? "0" : free),
             any ? "MAP_HUGETLB and adapters that want such pages find them"
                 : "none is reserved; nothing of Sluice needs them",
             any ? ""
                 : fmt::format("echo {} >/sys/kernel/mm/hugepages/{}/nr_hugepages", pages_in_a_gibibyte(page), size)});
    }
    return findings;
}

Findings look_at_pages() {
    return look_at_pages_below("");
}

}  // namespace sluice::cli
