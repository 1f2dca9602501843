// SPDX-License-Identifier: BSD-3-Clause
// Runs every strategy of the library through the public call and a Context that is kept, as a program would.
#include "methods/method.hpp"

namespace sluice::bench {

namespace {

class SluiceMethod final : public Method {
  public:
    SluiceMethod(Strategy strategy, Workload const& workload, Blocks const& array)
        : workload_(workload), array_(array), context_(workload.comm) {
        options_.strategy = strategy;
    }

    void run() override { report_ = redistribute(context_, array_, workload_.destinations, options_); }
    std::optional<std::uint64_t> counted_bytes() const override { return report_.extra_peak.count; }

  private:
    Workload const& workload_;
    Blocks array_;
    Context context_;
    RedistributeOptions options_;
    RedistributionReport report_;
};

}  // namespace

std::unique_ptr<Method> make_sluice(MethodEntry const& entry, Workload const& workload) {
    return std::make_unique<SluiceMethod>(strategy_named(entry.name), workload, workload.blocks);
}

/// Whether the arrays could be shared is in the report; private ones would be measured as what they are, twice.
std::unique_ptr<Method> make_sluice_shared(MethodEntry const&, Workload const& workload) {
    return std::make_unique<SluiceMethod>(Strategy::token, workload, workload.shared);
}

}  // namespace sluice::bench
