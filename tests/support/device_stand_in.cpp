// SPDX-License-Identifier: BSD-3-Clause
/// Stands in for libcuda.so.1 or libamdhip64.so.6: it says that a range of addresses, which the test names, is a
/// device's.
#include "support/device_stand_in.hpp"

#include <cstdint>

namespace {

std::uintptr_t begin = 0;
std::uintptr_t bytes = 0;
bool managed = false;

bool is_inside(std::uintptr_t address) {
    return address - begin < bytes;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void stand_in_range(void const* from, std::size_t length, bool is_managed) {
    begin = reinterpret_cast<std::uintptr_t>(from);
    bytes = length;
    managed = is_managed;
}

[[gnu::visibility("default")]] int cuPointerGetAttribute(void* value, int attribute, unsigned long long pointer) {
    if (!is_inside(pointer)) return 1;  // CUDA_ERROR_INVALID_VALUE
    if (attribute == 2) *static_cast<unsigned*>(value) = managed ? 1 : 2;
    if (attribute == 8) *static_cast<unsigned*>(value) = managed ? 1 : 0;
    return 0;
}

struct HipPointerAttributes {
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    int is_managed;
    unsigned flags;
};

[[gnu::visibility("default")]] int hipPointerGetAttributes(HipPointerAttributes* attributes, void const* pointer) {
    bool const inside = is_inside(reinterpret_cast<std::uintptr_t>(pointer));
    void* const address = const_cast<void*>(pointer);
    *attributes = inside ? HipPointerAttributes{2, 0, address, managed ? address : nullptr, managed ? 1 : 0, 0}
                         : HipPointerAttributes{0, 0, nullptr, nullptr, 0, 0};
    return 0;
}
}
