// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/ucx_contexts.hpp"

#include <array>
#include <atomic>
#include <cstdint>

#include "plugin/services/registration/ucx.hpp"

namespace sluice::plugin {

namespace {

/// What the MPI has made and not ended. More than these are left as they are.
struct Contexts {
    struct Made {
        std::atomic<void*> context{nullptr};
        std::uint64_t features = 0;
    };
    std::atomic<bool> are_shared{false};
    std::array<Made, 8> made{};
};
constinit Contexts g_contexts;

void keep(void* context, std::uint64_t features) noexcept {
    for (auto& made : g_contexts.made) {
        void* none = nullptr;
        if (made.context.load(std::memory_order_relaxed) != nullptr) continue;
        made.features = features;
        if (made.context.compare_exchange_strong(none, context, std::memory_order_release)) return;
    }
}

void drop(void* context) noexcept {
    for (auto& made : g_contexts.made) {
        void* there = context;
        made.context.compare_exchange_strong(there, nullptr, std::memory_order_acq_rel);
    }
}

/// The parameters that the caller has named, and that another thread uses the context. A caller that names a field of a
/// later UCX keeps its own parameters.
bool shared(ucx::ContextParams const& asked, ucx::ContextParams& all) noexcept {
    if ((asked.fields & ~ucx::k_known_fields) != 0) return false;
    all.fields = asked.fields | ucx::k_threads_share;
    if ((asked.fields & 1 << 0) != 0) all.features = asked.features;
    if ((asked.fields & 1 << 1) != 0) all.request_size = asked.request_size;
    if ((asked.fields & 1 << 2) != 0) all.request_init = asked.request_init;
    if ((asked.fields & 1 << 3) != 0) all.request_cleanup = asked.request_cleanup;
    if ((asked.fields & 1 << 4) != 0) all.tag_sender_mask = asked.tag_sender_mask;
    all.threads_share = 1;
    if ((asked.fields & 1 << 6) != 0) all.estimated_endpoints = asked.estimated_endpoints;
    if ((asked.fields & 1 << 7) != 0) all.estimated_processes = asked.estimated_processes;
    if ((asked.fields & 1 << 8) != 0) all.name = asked.name;
    return true;
}

}  // namespace

void share_ucx_contexts() noexcept {
    g_contexts.are_shared.store(true, std::memory_order_release);
}

void* ucx_context_of_messages() noexcept {
    for (auto& made : g_contexts.made) {
        void* const context = made.context.load(std::memory_order_acquire);
        if (context != nullptr && (made.features & ucx::k_messages_with_tags) != 0) return context;
    }
    return nullptr;
}

}  // namespace sluice::plugin

// The names are UCX's, so the types are too: the libraries of the MPI find these functions before UCX's own.
extern "C" {

__attribute__((visibility("default"))) sluice::plugin::ucx::Status ucp_init_version(
    unsigned major, unsigned minor, sluice::plugin::ucx::ContextParams const* asked, void* configuration,
    void** context) {
    using namespace sluice::plugin;
    auto const below = reinterpret_cast<decltype(&ucp_init_version)>(ucx::look_up("ucp_init_version"));
    if (below == nullptr) return ucx::k_unsupported;
    ucx::ContextParams all;
    bool const is_shared = g_contexts.are_shared.load(std::memory_order_acquire) && shared(*asked, all);
    if (!is_shared) return below(major, minor, asked, configuration, context);
    ucx::Status const status = below(major, minor, &all, configuration, context);
    if (status == ucx::k_ok) keep(*context, all.features);
    return status;
}

__attribute__((visibility("default"))) void ucp_cleanup(void* context) {
    using namespace sluice::plugin;
    drop(context);
    if (auto const below = reinterpret_cast<decltype(&ucp_cleanup)>(ucx::look_up("ucp_cleanup"))) below(context);
}
}
