// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/device/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace sluice::kernel {

namespace {

using CudaAttribute = int (*)(void* value, int attribute, unsigned long long pointer);
using HipAttributes = int (*)(void* attributes, void const* pointer);

constexpr char const* k_cuda = "libcuda";
constexpr char const* k_hip = "libamdhip64";

/// The functions that are asked, and the number of libraries that the process had loaded when they were looked up. The
/// libraries belong to the process, as the answer does.
struct DeviceLibraries {
    std::atomic<std::uint64_t> looked_at = 0;
    std::atomic<CudaAttribute> cuda = nullptr;
    std::atomic<HipAttributes> hip = nullptr;
};

DeviceLibraries& libraries() noexcept {
    static DeviceLibraries known;
    return known;
}

/// The number of libraries that the loader has ever loaded; grows with each.
std::uint64_t count_of_loads() noexcept {
    std::uint64_t loads = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*bytes*/, void* to) {
            *static_cast<std::uint64_t*>(to) = object->dlpi_adds;
            return 1;
        },
        &loads);
    return loads;
}

struct Search {
    char const* library;
    std::array<char, 4096> path{};
};

int is_it(dl_phdr_info* object, std::size_t /*bytes*/, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    char const* const path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
    char const* const slash = std::strrchr(path, '/');
    char const* const name = slash == nullptr ? path : slash + 1;
    std::size_t const letters = std::strlen(search.library);
    if (std::strncmp(name, search.library, letters) != 0 || std::strncmp(name + letters, ".so", 3) != 0) return 0;
    if (std::strlen(path) >= search.path.size()) return 0;
    std::strcpy(search.path.data(), path);
    return 1;
}

/// A symbol of a library that is loaded already; dlsym alone does not see one that was loaded with RTLD_LOCAL. The
/// library then stays loaded, so that the symbol stays valid.
void* symbol_of(char const* library, char const* symbol) noexcept {
    Search search{library};
    if (dl_iterate_phdr(is_it, &search) == 0) return nullptr;
    void* const loaded = dlopen(search.path.data(), RTLD_LAZY | RTLD_NOLOAD);
    return loaded == nullptr ? nullptr : dlsym(loaded, symbol);
}

void look() noexcept {
    DeviceLibraries& known = libraries();
    std::uint64_t const loads = count_of_loads();
    if (known.looked_at.load(std::memory_order_acquire) == loads) return;
    if (known.cuda == nullptr) known.cuda = reinterpret_cast<CudaAttribute>(symbol_of(k_cuda, "cuPointerGetAttribute"));
    if (known.hip == nullptr) known.hip = reinterpret_cast<HipAttributes>(symbol_of(k_hip, "hipPointerGetAttributes"));
    known.looked_at.store(loads, std::memory_order_release);
}

bool is_of_cuda(CudaAttribute attribute_of, void const* address) noexcept {
    constexpr int k_memory_type = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE: 1 is the host's
    constexpr int k_is_managed = 8;   // CU_POINTER_ATTRIBUTE_IS_MANAGED
    auto const pointer = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address));
    unsigned int type = 0;
    if (attribute_of(&type, k_memory_type, pointer) != 0) return false;  // not known to the library: the host's
    unsigned int managed = 0;
    bool const is_managed = attribute_of(&managed, k_is_managed, pointer) == 0 && managed != 0;
    return type > 1 || is_managed;
}

/// The beginning of hipPointerAttribute_t, whose first word means different things before and after version 6.
struct HipAttributesOf {
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    int is_managed;
    std::array<char, 232> later_versions;
};

bool is_of_hip(HipAttributes attributes_of, void const* address) noexcept {
    HipAttributesOf is{};
    if (attributes_of(&is, address) != 0) return false;
    return is.is_managed != 0 || (is.device_pointer != nullptr && is.host_pointer == nullptr);
}

}  // namespace

char const* device_library() noexcept {
    look();
    return libraries().cuda != nullptr ? k_cuda : libraries().hip != nullptr ? k_hip : nullptr;
}

char const* device_of(void const* address) noexcept {
    look();
    DeviceLibraries const& known = libraries();
    if (CudaAttribute const cuda = known.cuda; cuda != nullptr && is_of_cuda(cuda, address)) return k_cuda;
    if (HipAttributes const hip = known.hip; hip != nullptr && is_of_hip(hip, address)) return k_hip;
    return nullptr;
}

std::optional<Error> fault_if_on_device(std::string_view what, void const* address) {
    char const* const library = device_of(address);
    if (library == nullptr) return std::nullopt;
    return Error(ErrorCode::invalid_argument,
                 std::string(what) + " is memory of a device (" + library +
                     " says so), and Sluice moves memory of the host only: copy it to the host first");
}

}  // namespace sluice::kernel
