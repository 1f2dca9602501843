// SPDX-License-Identifier: BSD-3-Clause
/// Memory of devices is told by the library of the device, once it is loaded. Each case is a process of its own,
/// because a loaded library stays.
#include "kernel/device/device_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "support/device_stand_in.hpp"

namespace sluice::tests {
namespace {

bool is(char const* told, std::string_view wanted) {
    return told != nullptr && told == wanted;
}

/// Exits with the number of the first expectation that fails, or 0.
void exit_with_what_is_told(char const* path, std::string_view library) {
    static std::array<char, 8192> memory;
    if (kernel::device_library() != nullptr || kernel::device_of(memory.data()) != nullptr) std::_Exit(1);
    StandInRange const range = load_device(path);
    if (range == nullptr) std::_Exit(2);
    if (!is(kernel::device_library(), library)) std::_Exit(3);
    if (kernel::device_of(memory.data()) != nullptr) std::_Exit(4);
    for (bool const managed : {false, true}) {
        range(memory.data() + 4096, 4096, managed);
        if (!is(kernel::device_of(memory.data() + 4096), library)) std::_Exit(5);
        if (!is(kernel::device_of(memory.data() + 8191), library)) std::_Exit(6);
        if (kernel::device_of(memory.data() + 4095) != nullptr) std::_Exit(7);
        if (kernel::device_of(nullptr) != nullptr) std::_Exit(8);
    }
    std::_Exit(0);
}

TEST(DeviceMemory, is_told_by_cuda) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(exit_with_what_is_told(SLUICE_STAND_IN_CUDA, "libcuda"), testing::ExitedWithCode(0), "");
}

TEST(DeviceMemory, is_told_by_hip) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(exit_with_what_is_told(SLUICE_STAND_IN_HIP, "libamdhip64"), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice::tests
