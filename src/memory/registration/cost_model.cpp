// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/cost_model.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>

#include "memory/registration/event_queue.hpp"

namespace sluice::memory::registration {

namespace {

constexpr double k_fades = 1.0 / 64;  // the weight that a new measurement has among the old ones
constexpr std::uint64_t k_first_pages[] = {1, 4, 16, 64, 256, 1024, 4096};

/// Memory that is touched, as communication buffers are, and unmapped at the end.
class TouchedPages {
  public:
    explicit TouchedPages(std::uint64_t pages) : bytes_(pages * k_pinned_page) {
        void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return;
        at_ = at;
        std::memset(at_, 1, bytes_);
    }
    TouchedPages(TouchedPages const&) = delete;
    TouchedPages& operator=(TouchedPages const&) = delete;
    ~TouchedPages() {
        if (at_ != nullptr) munmap(at_, bytes_);
    }
    bool is_there() const { return at_ != nullptr; }
    Range first(std::uint64_t pages) const { return {reinterpret_cast<std::uintptr_t>(at_), pages * k_pinned_page}; }

  private:
    std::size_t bytes_;
    void* at_ = nullptr;
};

}  // namespace

void PageCost::learn(std::uint64_t pages, Time cost) noexcept {
    double const x = static_cast<double>(pages);
    double const y = static_cast<double>(cost.count());
    double const off = weight_ > 0 ? std::abs(y - (a_ * x + b_)) : 0;
    weight_ = std::min(weight_ + 1, 1 / k_fades);
    double const part = 1 / weight_;
    double const dx = x - mean_pages_;
    double const dy = y - mean_ns_;
    mean_pages_ += part * dx;
    mean_ns_ += part * dy;
    var_pages_ = (1 - part) * (var_pages_ + part * dx * dx);
    covar_ = (1 - part) * (covar_ + part * dx * dy);
    distance_ += part * (off - distance_);
    // One size alone tells nothing of the slope: then all is taken to be per page, which is right for that size.
    bool const has_slope = var_pages_ > 1e-3 * mean_pages_ * mean_pages_ && covar_ > 0;
    a_ = has_slope ? covar_ / var_pages_ : mean_ns_ / std::max(mean_pages_, 1.0);
    b_ = std::max(mean_ns_ - a_ * mean_pages_, 0.0);
}

Time PageCost::of(std::uint64_t pages) const noexcept {
    return Time(std::llround(std::ceil(a_ * static_cast<double>(pages) + b_ + 2 * distance_)));
}

Costs measure_costs(Registrar& registrar, std::uint64_t most_pages, StepCosts steps) {
    Costs costs;
    costs.steps = steps;
    TouchedPages const memory(std::max<std::uint64_t>(most_pages, 1));
    if (!memory.is_there()) return costs;
    for (int round = 0; round < 3; ++round)
        for (std::uint64_t const pages : k_first_pages) {
            if (pages > most_pages) break;
            Registered const made = registrar.add(memory.first(pages));
            if (made.failure != Failure::none) return costs;
            Time const removed = registrar.remove(made.key, memory.first(pages));
            if (round == 0) continue;  // the first round warms up
            costs.add.learn(pages, made.cost);
            costs.remove.learn(pages, removed);
        }
    return costs;
}

}  // namespace sluice::memory::registration
