// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/guards/mappings.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "kernel/files/descriptor.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::kernel {

namespace {

/// Linux 6.11 answers for one address (PROCMAP_QUERY); it is newer than the headers of Debian 12.
struct Query {
    std::uint64_t size, flags, address;
    std::uint64_t begin, end, of, page_size, offset, inode;
    std::uint32_t major, minor, name_size, build_id_size;
    std::uint64_t name, build_id;
};
static_assert(sizeof(Query) == 104);
constexpr unsigned long k_query = _IOWR('f', 17, Query);
constexpr std::uint64_t k_readable = 1, k_writable = 2, k_shared = 8;

/// Reads a file of /proc line by line.
class Lines {
  public:
    explicit Lines(char const* path) noexcept : file_(above_standard(open(path, O_RDONLY | O_CLOEXEC))) {}

    /// Returns a line without its end; nothing after the last. A line that is longer than the buffer comes in parts.
    std::optional<std::string_view> next() noexcept {
        for (;;) {
            std::string_view const text(room_.data() + begin_, end_ - begin_);
            if (std::size_t const length = text.find('\n'); length != std::string_view::npos) {
                begin_ += length + 1;
                return text.substr(0, length);
            }
            if (begin_ == 0 && end_ == room_.size()) {
                begin_ = end_;
                return text;
            }
            if (!read_more()) return std::nullopt;
        }
    }

  private:
    bool read_more() noexcept {
        std::memmove(room_.data(), room_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        ssize_t const got = file_.is_open() ? ::read(file_.get(), room_.data() + end_, room_.size() - end_) : -1;
        if (got <= 0) return false;
        end_ += static_cast<std::size_t>(got);
        return true;
    }

    Descriptor file_;
    std::size_t begin_ = 0, end_ = 0;
    std::array<char, 4096> room_;
};

/// "55d0c000-55d0d000 rw-p 00000000 08:01 1234   /name"; nothing if it is no such line.
std::optional<MappedRange> mapping_in(std::string_view line) noexcept {
    MappedRange range;
    char const* const end = line.data() + line.size();
    auto [dash, error] = std::from_chars(line.data(), end, range.begin, 16);
    if (error != std::errc{} || dash == end || *dash != '-') return std::nullopt;
    auto const [blank, wrong] = std::from_chars(dash + 1, end, range.end, 16);
    if (wrong != std::errc{} || end - blank < 6 || *blank != ' ') return std::nullopt;
    range.readable = blank[1] == 'r';
    range.writable = blank[2] == 'w';
    range.shared = blank[4] == 's';
    range.of_file = number_of_field(line, 4).value_or(1) != 0;
    return range;
}

std::optional<MappedRange> read_maps(std::uintptr_t address) noexcept {
    Lines lines("/proc/self/maps");
    while (auto const line = lines.next()) {
        auto const range = mapping_in(*line);
        if (range && range->begin <= address && address < range->end) return range;
        if (range && range->begin > address) break;
    }
    return std::nullopt;
}

/// VmFlags of a mapping: "lo" is locked, "ht" has pages of hugetlbfs.
bool says_locked(std::string_view flags) noexcept {
    return flags.find(" lo") != std::string_view::npos || flags.find(" ht") != std::string_view::npos;
}

}  // namespace

Mappings::Mappings(std::uint64_t (*generation)()) noexcept : generation_(generation), status_("/proc/self/status") {}

void Mappings::keep() noexcept {
    status_.keep();
}

void Mappings::let_go() noexcept {
    status_.let_go();
}

std::optional<MappedRange> Mappings::at(void const* address) const noexcept {
    Descriptor const maps = above_standard(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    if (!maps.is_open()) return std::nullopt;
    Query query{};
    query.size = sizeof query;
    query.address = reinterpret_cast<std::uintptr_t>(address);
    if (ioctl(maps.get(), k_query, &query) == 0)
        return MappedRange{query.begin,
                           query.end,
                           (query.of & k_readable) != 0,
                           (query.of & k_writable) != 0,
                           (query.of & k_shared) != 0,
                           query.inode != 0 || query.major != 0 || query.minor != 0};
    if (errno == ENOENT) return std::nullopt;
    return read_maps(query.address);
}

bool Mappings::process_locks_memory() const noexcept {
    std::uint64_t const now = generation_ != nullptr ? generation_() + 1 : 0;
    if (now != 0 && unlocked_at_.load(std::memory_order_relaxed) == now) return false;
    std::array<char, 4096> room;
    // What cannot be read may be locked.
    if (bytes_after(status_.read(room), "VmLck:").value_or(1) != 0) return true;
    unlocked_at_.store(now, std::memory_order_relaxed);
    return false;
}

bool Mappings::is_locked(MappedRange const& mapping) const noexcept {
    if (!process_locks_memory()) return false;
    Lines lines("/proc/self/smaps");
    bool here = false;
    while (auto const line = lines.next()) {
        if (auto const range = mapping_in(*line)) here = range->begin <= mapping.begin && mapping.begin < range->end;
        if (here && line->starts_with("VmFlags:")) return says_locked(*line);
    }
    return true;
}

}  // namespace sluice::kernel
