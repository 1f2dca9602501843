// SPDX-License-Identifier: BSD-3-Clause
/// Pins nothing: counts, and tells costs by a model. For simulations and tests. Does not allocate.
#pragma once

#include <atomic>
#include <cstdint>

#include "memory/registration/registrar.hpp"

namespace sluice::memory::registration {

/// Costs are a·pages + b.
struct CostLaw {
    Time add_page{210};  ///< those of `ibv_reg_mr` and `ibv_dereg_mr` on Soft-RoCE, unless something else is said
    Time add_call{38'000};
    Time remove_page{63};
    Time remove_call{11'000};
};

class CountingRegistrar : public Registrar {
  public:
    explicit CountingRegistrar(CostLaw law = {}, std::uint64_t most_bytes = ~std::uint64_t{0}) noexcept
        : law_(law), most_bytes_(most_bytes) {}

    std::string_view name() const noexcept override { return "counting"; }
    Registered add(Range range) noexcept override;
    Time remove(std::uint64_t key, Range range) noexcept override;

    Time cost_of_add(Range range) const noexcept;
    Time cost_of_remove(Range range) const noexcept;
    std::uint64_t pinned() const noexcept { return pinned_.load(std::memory_order_relaxed); }
    std::uint64_t added() const noexcept { return added_.load(std::memory_order_relaxed); }
    std::uint64_t removed() const noexcept { return removed_.load(std::memory_order_relaxed); }
    /// From now on every registration fails so.
    void fail(Failure failure) noexcept { failure_.store(failure, std::memory_order_relaxed); }

  private:
    CostLaw law_;
    std::uint64_t most_bytes_;
    std::atomic<std::uint64_t> pinned_{0};
    std::atomic<std::uint64_t> added_{0};
    std::atomic<std::uint64_t> removed_{0};
    std::atomic<Failure> failure_{Failure::none};
};

}  // namespace sluice::memory::registration
