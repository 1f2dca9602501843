// SPDX-License-Identifier: BSD-3-Clause
/// Registers memory where the MPI's messages find it: in the cache of UCX's context.
///
///     helper   add ──> ucp_mem_map, ucp_mem_unmap: in the cache, in use by no message
///     program  add ──> nothing: the MPI registers in the call that follows
///     either   remove ──> ucm_vm_munmap: out of the cache; given back by the cache's next registration
///
/// A range is registered only while changes of its mapping are watched (MappingWatch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "memory/registration/registrar.hpp"
#include "plugin/services/registration/mapping_watch.hpp"
#include "plugin/services/registration/ucx.hpp"

namespace sluice::plugin {

class UcxRegistrar final : public memory::registration::Registrar {
  public:
    using Range = memory::registration::Range;

    /// The context outlives the registrar.
    UcxRegistrar(ucx::Library library, void* context);
    ~UcxRegistrar() override;
    UcxRegistrar(UcxRegistrar const&) = delete;
    UcxRegistrar& operator=(UcxRegistrar const&) = delete;

    std::string_view name() const noexcept override { return "ucx"; }
    memory::registration::Registered add(Range range) noexcept override;
    memory::registration::Time remove(std::uint64_t key, Range range) noexcept override;

    /// While this object lives, the thread registers instead of leaving that to the MPI.
    class Helping {
      public:
        Helping() noexcept;
        ~Helping();
        Helping(Helping const&) = delete;
        Helping& operator=(Helping const&) = delete;
    };
    /// Gives back what was removed and is still registered. Called by a thread that helps.
    void settle() noexcept;
    bool has_unsettled() const noexcept { return unsettled_; }
    /// From here on only memory is registered that is watched.
    void watched_by(MappingWatch const& watch) noexcept { watch_ = &watch; }

  private:
    ucx::Library library_;
    void* context_;
    MappingWatch const* watch_ = nullptr;
    Range page_;              // registered again to make the cache give back what it has forgotten
    bool unsettled_ = false;  // of the helper
};

}  // namespace sluice::plugin
