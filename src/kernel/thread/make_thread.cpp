// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/make_thread.hpp"

#include <link.h>

#include <atomic>
#include <cstring>
#include <string>

#include "sluice/error.hpp"

namespace sluice::kernel {

namespace {

constinit std::atomic<std::uint64_t> g_threads{0};

/// At least what the loader puts on the stack of a new thread: variables of libraries that were opened later may stand
/// elsewhere.
std::size_t thread_local_bytes() {
    std::size_t bytes = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* sum) {
            for (unsigned i = 0; i < object->dlpi_phnum; ++i)
                if (auto const& part = object->dlpi_phdr[i]; part.p_type == PT_TLS)
                    *static_cast<std::size_t*>(sum) += part.p_memsz + part.p_align;
            return 0;
        },
        &bytes);
    return bytes;
}

}  // namespace

pthread_t make_thread(std::size_t stack_bytes, void* (*begin)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes + thread_local_bytes());
    pthread_t thread{};
    int error = 0;
    {
        SignalsBlocked const blocked;
        error = pthread_create(&thread, &attributes, begin, argument);
    }
    pthread_attr_destroy(&attributes);
    if (error != 0)
        throw Error(ErrorCode::unsupported, std::string("the helper thread cannot be made: ") + std::strerror(error));
    g_threads.fetch_add(1, std::memory_order_relaxed);
    return thread;
}

void join_thread(pthread_t thread) noexcept {
    pthread_join(thread, nullptr);
    g_threads.fetch_sub(1, std::memory_order_relaxed);
}

std::uint64_t threads_of_sluice() noexcept {
    return g_threads.load(std::memory_order_relaxed);
}

}  // namespace sluice::kernel
