// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/touches/recording.hpp"

#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "plugin/services/job.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin::tests {

namespace {

class Recording final : public Service {
  public:
    char const* name() const noexcept override { return "recorded calls"; }
    char const* setting() const noexcept override { return "watch"; }
    Needs needs() const noexcept override { return {.all_ranks = true}; }
    bool wanted(Job const&) const noexcept override { return true; }
    int thread_level(Settings const&) const noexcept override { return MPI_THREAD_SERIALIZED; }
    std::optional<std::string> prepare(Job& job) override {
        if (job.thread_level < MPI_THREAD_SERIALIZED) return "the MPI has no MPI_THREAD_SERIALIZED";
        char const* const refuses = std::getenv("SLUICE_TEST_REFUSES");
        if (refuses != nullptr && std::atoi(refuses) == job.rank) return "this rank cannot";
        return std::nullopt;
    }
    void start(Job& job) noexcept override {
        char const* const told = std::getenv("SLUICE_TEST_TOLD");
        descriptor_ = told != nullptr ? std::atoi(told) : -1;
        job.before.add(*this);
    }
    void stop(Job& job, Ending) override {
        job.before.remove(*this);
        std::fprintf(stderr, "sluice: %lu calls were recorded at level %d of MPI\n", calls_, job.thread_level);
    }
    void before(Call& call, TouchedBy const& touched) noexcept override {
        TouchedMemory memory;
        touched.fill(memory);
        std::array<char, 64> text{};
        std::string line = k_function_names[static_cast<std::size_t>(call.function())];
        for (TouchedRange const& range : memory.ranges()) {
            std::snprintf(text.data(), text.size(), " %s 0x%" PRIxPTR " %" PRIu64, range.writes ? "writes" : "reads",
                          range.from, range.bytes);
            line += text.data();
        }
        tell(line + (memory.touches_anything() ? " anything" : ""));
    }
    void before_unwatched(Job&, char const* function) noexcept override { tell(std::string("unwatched ") + function); }
    void before_fork() noexcept override { tell("fork"); }

  private:
    void tell(std::string line) noexcept {
        ++calls_;
        line += '\n';
        if (descriptor_ >= 0 && write(descriptor_, line.data(), line.size()) < 0) descriptor_ = -1;
    }
    int descriptor_ = -1;
    unsigned long calls_ = 0;
};

}  // namespace

std::unique_ptr<Service> make_recording() {
    return std::make_unique<Recording>();
}

}  // namespace sluice::plugin::tests
