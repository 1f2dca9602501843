// SPDX-License-Identifier: BSD-3-Clause
// Runs every strategy of the library through the public call and a Context that is kept, as a program would.
#include "methods/method.hpp"

namespace sluice::bench {

namespace {

class SluiceMethod final : public Method {
  public:
    SluiceMethod(Strategy strategy, Workload const& workload) : workload_(workload), context_(workload.comm) {
        options_.strategy = strategy;
    }

    void run() override { report_ = redistribute(context_, workload_.blocks, workload_.destinations, options_); }
    std::optional<std::uint64_t> counted_bytes() const override { return report_.extra_peak.count; }

  private:
    Workload const& workload_;
    Context context_;
    RedistributeOptions options_;
    RedistributionReport report_;
};

}  // namespace

std::unique_ptr<Method> make_sluice(MethodEntry const& entry, Workload const& workload) {
    return std::make_unique<SluiceMethod>(strategy_named(entry.name), workload);
}

}  // namespace sluice::bench
