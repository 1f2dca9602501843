// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/guards/userfaultfd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sluice::kernel {

namespace {

constexpr int k_user_mode_only = 1;
constexpr unsigned long k_new_from_device = _IO(UFFDIO, 0x00);  // USERFAULTFD_IOC_NEW, Linux 6.1

/// A way for users that may open the device and have no other privilege.
Descriptor open_by_device(int flags) noexcept {
    int const before = errno;
    Descriptor const device = above_standard(open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
    Descriptor opened;
    if (device.is_open()) opened = above_standard(ioctl(device.get(), k_new_from_device, flags));
    if (!opened.is_open()) errno = before;
    return opened;
}

}  // namespace

Descriptor open_userfaultfd(FaultsOf whose) noexcept {
    constexpr int flags = O_CLOEXEC | O_NONBLOCK;
    if (whose == FaultsOf::user_mode)
        return above_standard(static_cast<int>(syscall(SYS_userfaultfd, flags | k_user_mode_only)));
    Descriptor opened = above_standard(static_cast<int>(syscall(SYS_userfaultfd, flags)));
    return opened.is_open() ? std::move(opened) : open_by_device(flags);
}

std::uint64_t shake_hands(Descriptor const& descriptor, std::uint64_t features) noexcept {
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = features;
    return ioctl(descriptor.get(), UFFDIO_API, &api) == 0 ? api.features : 0;
}

bool can_have_feature(FaultsOf whose, std::uint64_t feature) noexcept {
    Descriptor const descriptor = open_userfaultfd(whose);
    return descriptor.is_open() && (shake_hands(descriptor, feature) & feature) != 0;
}

std::uint64_t operations_of_a_range(FaultsOf whose, std::uint64_t mode) noexcept {
    Descriptor const descriptor = open_userfaultfd(whose);
    if (!descriptor.is_open() || shake_hands(descriptor, 0) == 0) return 0;
    constexpr std::size_t bytes = 65536;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 0;
    uffdio_register range{};
    range.range = {reinterpret_cast<std::uint64_t>(at), bytes};
    range.mode = mode;
    bool const registered = ioctl(descriptor.get(), UFFDIO_REGISTER, &range) == 0;
    munmap(at, bytes);
    return registered ? range.ioctls : 0;
}

bool can_move_pages(FaultsOf whose) noexcept {
    return can_have_feature(whose, k_feature_move) &&
           (operations_of_a_range(whose, UFFDIO_REGISTER_MODE_MISSING) >> k_move_number & 1) != 0;
}

}  // namespace sluice::kernel
