// SPDX-License-Identifier: BSD-3-Clause
#include "pages/blocks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace sluice::pages {

constinit Blocks blocks;

namespace {

class Locked {
  public:
    explicit Locked(Blocks& locked) noexcept : blocks_(locked) { blocks_.lock(); }
    Locked(Locked const&) = delete;
    Locked& operator=(Locked const&) = delete;
    ~Locked() { blocks_.unlock(); }

  private:
    Blocks& blocks_;
};

}  // namespace

std::size_t page_size() noexcept {
    return static_cast<std::size_t>(getpagesize());
}

std::size_t whole_pages(std::size_t bytes) noexcept {
    std::size_t const page = page_size();
    return bytes > SIZE_MAX / 4 ? 0 : (bytes + page - 1) / page * page;
}

std::size_t Blocks::count_up_to(std::uintptr_t address) const noexcept {
    std::size_t least = 0, most = used_;
    while (least < most) {
        std::size_t const middle = (least + most) / 2;
        if (entries_[middle].begin <= address)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/// The kernel is called directly: mremap of this library would call the hook under the lock.
bool Blocks::make_room() noexcept {
    if (used_ < room_) return true;
    std::size_t const old = room_ * sizeof(Entry);
    std::size_t const bytes = old == 0 ? page_size() : 2 * old;
    long const made =
        old == 0 ? syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                 : syscall(SYS_mremap, entries_, old, bytes, MREMAP_MAYMOVE);
    if (made == -1) return false;
    entries_ = reinterpret_cast<Entry*>(made);
    room_ = bytes / sizeof(Entry);
    return true;
}

void Blocks::add(void* begin, std::size_t asked) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(begin);
    Locked const locked(*this);
    if (!make_room()) return;
    std::size_t const at = count_up_to(address);
    std::memmove(entries_ + at + 1, entries_ + at, (used_ - at) * sizeof(Entry));
    entries_[at] = {address, asked};
    ++used_;
}

bool Blocks::remove(void* begin) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(begin);
    Locked const locked(*this);
    std::size_t const behind = count_up_to(address);
    if (behind == 0 || entries_[behind - 1].begin != address) return false;
    std::memmove(entries_ + behind - 1, entries_ + behind, (used_ - behind) * sizeof(Entry));
    --used_;
    return true;
}

bool Blocks::find(void const* address, std::size_t bytes, Block* block) noexcept {
    auto const from = reinterpret_cast<std::uintptr_t>(address);
    Locked const locked(*this);
    std::size_t const behind = count_up_to(from);
    if (behind == 0) return false;
    Entry const& entry = entries_[behind - 1];
    std::size_t const held = whole_pages(entry.asked);
    if (from - entry.begin > held || bytes > held - (from - entry.begin)) return false;
    if (block != nullptr) *block = {reinterpret_cast<std::byte*>(entry.begin), entry.asked};
    return true;
}

}  // namespace sluice::pages
