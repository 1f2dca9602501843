// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/mpi_pages.hpp"

#include "plugin/binding/module.hpp"
#include "plugin/binding/plugin.hpp"
#include "plugin/job/startup_pages.hpp"

namespace sluice::plugin {

void give_back_mpi_pages() noexcept {
    give_back_pages(parts_of_module(reinterpret_cast<void const*>(g_plugin.libmpi.PMPI_Init)));
}

}  // namespace sluice::plugin
