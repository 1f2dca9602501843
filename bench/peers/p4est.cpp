// SPDX-License-Identifier: BSD-3-Clause
// p4est_transfer_fixed: moves data from one partition of a global order to another, so it can only do maps that keep
// the order. It receives into a second array, which is copied back, because results belong in the caller's array.
#include <p4est_communication.h>

#include <cstring>
#include <vector>

#include "methods/method.hpp"
#include "support/memory.hpp"

namespace sluice::bench {

namespace {

class P4estMethod final : public Method {
  public:
    explicit P4estMethod(Workload const& workload) : workload_(workload) {
        Case::OrderedPartition const partition = workload.map.ordered_partition().value();
        before_.assign(partition.before.begin(), partition.before.end());
        after_.assign(partition.after.begin(), partition.after.end());
        auto const rank = static_cast<std::size_t>(workload.rank);
        target_ = Pages(static_cast<std::size_t>(after_[rank + 1] - after_[rank]) * workload.blocks.block_bytes.count);
    }

    void run() override {
        p4est_transfer_fixed(after_.data(), before_.data(), workload_.comm, 0, target_.data(), workload_.blocks.data,
                             workload_.blocks.block_bytes.count);
        if (target_.size() > 0) std::memcpy(workload_.blocks.data, target_.data(), target_.size());
    }

  private:
    Workload const& workload_;
    std::vector<p4est_gloidx_t> before_, after_;
    Pages target_;
};

std::string refuses(Workload const& workload) {
    return workload.map.ordered_partition() ? "" : "this map does not keep the global order of the blocks";
}

std::unique_ptr<Method> make(MethodEntry const&, Workload const& workload) {
    return std::make_unique<P4estMethod>(workload);
}

}  // namespace

std::optional<MethodEntry> peer_method() {
    return MethodEntry{"p4est_transfer", Kind::theirs, refuses, make};
}

}  // namespace sluice::bench
