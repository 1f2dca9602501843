// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/flood.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "groups/tags.hpp"
#include "kernel/device/device_memory.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/services/flood/links.hpp"
#include "plugin/services/job.hpp"

namespace sluice::plugin {

namespace {

int largest_tag_of(MPI_Comm comm) noexcept {
    int* upper = nullptr;
    int found = 0;
    bool const told = MPI_Comm_get_attr(comm, MPI_TAG_UB, &upper, &found) == MPI_SUCCESS && found != 0;
    return told ? *upper : groups::tags::k_largest;
}

/// Some ranks cannot look at the records of others.
bool spans_nodes(Job& job) {
    record::RecordFile& file = job.watch.file();
    return !file.shares_node() || look_at(file.node().arrived) != static_cast<std::uint32_t>(job.size);
}

class FloodService final : public Service {
  public:
    char const* name() const noexcept override { return "flood control"; }
    char const* setting() const noexcept override { return "flood"; }
    Needs needs() const noexcept override { return {.all_ranks = true}; }
    bool wanted(Job const& job) const noexcept override { return job.settings.flood == Switch::on; }

    std::optional<std::string> prepare(Job& job) override {
        // Also of a rank that cannot: the report's advice sees by them that it was asked for.
        auto const counter = [&](char const* what) -> std::uint64_t& { return job.counter(name(), what); };
        auto flood = std::make_unique<Flood>(
            job,
            FloodControl::Terms{job.settings.flood_share.count, std::chrono::milliseconds(job.settings.flood_hold),
                                largest_tag_of(MPI_COMM_WORLD)},
            FloodControl::Counts{counter("synchronous sends"), counter("sends held"),
                                 counter("microseconds with sends held"), counter("sends let go to silent receivers"),
                                 counter("sends let go after flood-hold"), counter("sends without memory for a copy"),
                                 counter("answers to senders of other nodes")},
            RootedCalls::Counts{counter("barriers of rooted collectives"), counter("barriers let go")});
        if (char const* const library = kernel::device_library())
            return std::string(library) +
                   " is loaded, so messages may be in memory that the processor cannot copy: no rank is held";
        flood_ = std::move(flood);
        return std::nullopt;
    }
    void start(Job& job) noexcept override {
        add_flood_links(job, *flood_);
        if (spans_nodes(job)) job.progress.add(*this);
    }
    void stop(Job& job, Ending ending) override {
        remove_flood_links(job, *flood_);
        job.progress.remove(*this);
        // A process that ends without MPI_Finalize leaves all to MPI, which may be in another thread's call.
        if (ending != Ending::finalize) return static_cast<void>(flood_.release());
        flood_->held.release_all();
        flood_->control.finish(job.all.get(), flood_->rooted);
    }
    bool poll() override {
        if (flood_ != nullptr) flood_->control.reply();
        return false;
    }
    void in_child() noexcept override { static_cast<void>(flood_.release()); }

  private:
    std::unique_ptr<Flood> flood_;
};

}  // namespace

std::unique_ptr<Service> make_flood() {
    return std::make_unique<FloodService>();
}

}  // namespace sluice::plugin
