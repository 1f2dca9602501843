// SPDX-License-Identifier: BSD-3-Clause
/// Code of the MPI that Sluice's own calls in MPI_Init bring in, and that the program may never use: 0.6 MiB of
/// MPICH's. The pages are given back to the kernel, which has them in its cache; what is used again comes again.
#pragma once

#include <bitset>
#include <cstddef>

#include "plugin/binding/module.hpp"

namespace sluice::plugin {

class MpiPages {
  public:
    /// Notes which parts of the MPI's library are there.
    MpiPages() noexcept;
    /// Gives back those that have come since.
    void give_back_new() noexcept;

  private:
    static constexpr std::uintptr_t k_piece = 65536;  // the kernel maps so much around a page that is used
    static constexpr std::size_t k_most = 1024;
    template <class Visit>
    void each_piece(Visit const& visit) const noexcept;

    ModuleParts library_;
    std::bitset<k_most> were_there_;
};

}  // namespace sluice::plugin
