// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/watching/watching.hpp"

#include <exception>
#include <memory>

#include "plugin/binding/say.hpp"
#include "plugin/services/job.hpp"
#include "plugin/watch/neighbour.hpp"
#include "plugin/watch/sampler.hpp"

namespace sluice::plugin {

namespace {

class Watching final : public Service {
  public:
    char const* name() const noexcept override { return "samples"; }
    char const* setting() const noexcept override { return "watch"; }
    Needs needs() const noexcept override { return {}; }
    bool wanted(Job const& job) const noexcept override { return job.settings.watch == Switch::on; }
    /// Samples are this rank's own affair: without them it goes on, because the other ranks rely on what was agreed.
    void start(Job& job) noexcept override {
        try {
            sampler_ = std::make_unique<Sampler>(*job.helper_thread, job.watch, job.memory);
            neighbour_ = std::make_unique<Neighbour>(*job.helper_thread, job.watch);
        } catch (std::exception const& error) {
            if (!sampler_) say_once_a_node("no samples are taken: %s", error.what());
        }
    }
    void stop(Job&, Ending) override {
        neighbour_.reset();
        sampler_.reset();
    }
    /// The records are those of its parent and of its parent's neighbour.
    void in_child() noexcept override {
        static_cast<void>(sampler_.release());
        static_cast<void>(neighbour_.release());
    }

  private:
    std::unique_ptr<Neighbour> neighbour_;
    std::unique_ptr<Sampler> sampler_;
};

}  // namespace

std::unique_ptr<Service> make_watching() {
    return std::make_unique<Watching>();
}

}  // namespace sluice::plugin
