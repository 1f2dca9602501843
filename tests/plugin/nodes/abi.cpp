// SPDX-License-Identifier: BSD-3-Clause
// Our declarations of PMIx's types and constants agree with its header.
#include <pmix.h>

#include <cstddef>
#include <string_view>

#include "plugin/binding/pmix.hpp"

namespace ours = sluice::plugin::pmix;

static_assert(sizeof(ours::Proc) == sizeof(pmix_proc_t));
static_assert(offsetof(ours::Proc, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(ours::Value) == sizeof(pmix_value_t));
static_assert(offsetof(ours::Value, data) == offsetof(pmix_value_t, data));
static_assert(sizeof(ours::Info) == sizeof(pmix_info_t));
static_assert(offsetof(ours::Info, flags) == offsetof(pmix_info_t, flags));
static_assert(offsetof(ours::Info, value) == offsetof(pmix_info_t, value));
static_assert(sizeof(pmix_rank_t) == sizeof(ours::Proc::rank));
static_assert(sizeof(pmix_scope_t) == sizeof ours::k_global);
static_assert(sizeof(pmix_status_t) == sizeof(int));
static_assert(ours::k_success == PMIX_SUCCESS && ours::k_not_supported == PMIX_ERR_NOT_SUPPORTED);
static_assert(ours::k_global == PMIX_GLOBAL && ours::k_bool == PMIX_BOOL && ours::k_uint32 == PMIX_UINT32);
static_assert(std::string_view(ours::k_immediate) == PMIX_IMMEDIATE);
