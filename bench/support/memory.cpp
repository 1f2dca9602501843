// SPDX-License-Identifier: BSD-3-Clause
#include "support/memory.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <fstream>
#include <new>
#include <string>

namespace sluice::bench {

namespace {

/// Returns a field, in bytes, of a /proc file that counts in kB; 0 if there is no such field.
std::uint64_t field_of(char const* file, std::string const& field) {
    std::ifstream in(file);
    std::string word;
    while (in >> word)
        if (word == field) {
            std::uint64_t kib = 0;
            in >> kib;
            return kib * 1024;
        }
    return 0;
}

std::uint64_t risen(std::uint64_t from, std::uint64_t now) {
    return now > from ? now - from : 0;
}

}  // namespace

ResidentWatch::ResidentWatch() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
    resident_ = field_of("/proc/self/status", "VmRSS:");
    proportional_ = field_of("/proc/self/smaps_rollup", "Pss:");
}

std::uint64_t ResidentWatch::peak_growth() const {
    return risen(resident_, field_of("/proc/self/status", "VmHWM:"));
}

std::uint64_t ResidentWatch::standing_growth() const {
    return risen(proportional_, field_of("/proc/self/smaps_rollup", "Pss:"));
}

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(at);
}

Pages::~Pages() {
    if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace sluice::bench
