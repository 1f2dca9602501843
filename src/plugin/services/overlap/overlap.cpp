// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/overlap.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "kernel/guards/guarded_pages.hpp"
#include "kernel/launcher.hpp"
#include "pages/pages.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/overlap/links.hpp"
#include "plugin/services/overlap/node_mates.hpp"
#include "plugin/services/overlap/receiving.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

/// For hooks of the pages library and of the end of the process, which have no argument. Null while nothing is
/// deferred.
std::atomic<Receiving*> g_receiving{nullptr};

pages::Interface const* find_pages_library() noexcept {
    auto const* const found = static_cast<pages::Interface const*>(dlsym(RTLD_DEFAULT, pages::k_symbol));
    return found != nullptr && found->version == 1 && found->bytes >= sizeof(pages::Interface) ? found : nullptr;
}

/// Any thread may free or unmap memory that a receive goes to.
void before_change(void const* from, std::size_t bytes) {
    Receiving* const receiving = g_receiving.load(std::memory_order_acquire);
    if (receiving == nullptr || !receiving->any()) return;
    auto const begin = reinterpret_cast<std::uintptr_t>(from);
    receiving->receives().finish(begin, begin + std::min<std::uintptr_t>(bytes, UINTPTR_MAX - begin));
}

void name_what_is_lost(Receiving const& receiving) noexcept {
    receiving.receives().each_returned([](DeferredReceive const& receive) {
        say("a receive of %llu bytes from rank %d had returned, and its data have not come",
            static_cast<unsigned long long>(receive.bytes), receive.source);
    });
}

/// The process ends, or becomes another program. A call of MPI that ends it cannot be followed by another.
void before_end() {
    Receiving* const receiving = g_receiving.load(std::memory_order_acquire);
    if (receiving == nullptr || !receiving->any()) return;
    if (is_inside() || receiving->receives().turn().is_mine())
        name_what_is_lost(*receiving);
    else
        receiving->receives().finish_returned();
}

class Overlap final : public Service {
  public:
    char const* name() const noexcept override { return "overlap"; }
    char const* setting() const noexcept override { return "overlap"; }
    Needs needs() const noexcept override { return {}; }
    bool wanted(Job const& job) const noexcept override { return job.settings.overlap != OverlapMode::off; }
    int thread_level(Settings const& settings) const noexcept override {
        bool const gains_nothing = settings.overlap == OverlapMode::automatic && kernel::has_all_ranks_on_this_node();
        return gains_nothing ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED;
    }

    std::optional<std::string> prepare(Job& job) override {
        if (g_plugin.several_threads) return "off, because the program has MPI_THREAD_MULTIPLE";
        if (job.settings.overlap == OverlapMode::automatic &&
            (kernel::has_all_ranks_on_this_node() || NodeMates(job.watch.file()).are_all(job.size)))
            return "off, because auto serves receives from other nodes, and all ranks are on this one";
        if (job.thread_level < MPI_THREAD_SERIALIZED) return "off, because the MPI has no MPI_THREAD_SERIALIZED";
        library_ = find_pages_library();
        if (library_ == nullptr)
            return "off, because libsluice-pages.so is not loaded: start the program by sluice run";
        if (!library_->gives_whole_pages()) return "off, because the program has an allocator of its own";
        guards_ = std::make_unique<kernel::GuardedPages>(best_rung(job.settings), library_->generation);
        if (guards_->rung() == kernel::Rung::off) return "off, because " + guards_->why_not();
        auto const counter = [&](char const* what) -> std::uint64_t& { return job.counter(name(), what); };
        receiving_ = std::make_unique<Receiving>(
            job, *guards_, library_,
            Receiving::Terms{job.settings.overlap_from.count, job.settings.overlap == OverlapMode::automatic},
            Receiving::Counts{counter("receives that returned early"), counter("messages too short"),
                              counter("receives within a node"), counter("receives at places without gain"),
                              counter("receives into pages with other data"), counter("receives into other memory"),
                              counter("receives with errors that return"), counter("receives beside windows"),
                              counter("receives of types with gaps"), counter("receives beside reductions"),
                              counter("nonblocking receives that came meanwhile"),
                              counter("nonblocking receives kept in their order"),
                              counter("receives while too many were under way")});
        return std::nullopt;
    }

    void start(Job& job) noexcept override {
        g_receiving.store(receiving_.get(), std::memory_order_release);
        library_->set_hook(before_change);
        library_->set_end_hook(before_end);
        std::atexit([] { before_end(); });
        add_overlap_links(job, *receiving_);
        job.before.add(*this);
    }

    void stop(Job& job, Ending ending) override {
        if (ending == Ending::finalize) {
            receiving_->receives().finish(0, UINTPTR_MAX);
            receiving_->receives().step_aside();  // for good: what the program has not waited for
            receiving_->receives().collect();
        } else {
            before_end();
        }
        job.before.remove(*this);
        remove_overlap_links(job, *receiving_);
        g_receiving.store(nullptr, std::memory_order_release);
        library_->set_hook(nullptr);
        library_->set_end_hook(nullptr);
        // A rank that ends without MPI_Finalize may have left a receive under way, and its thread with it, which need
        // the guards.
        if (receiving_->any()) {
            static_cast<void>(receiving_.release());
            static_cast<void>(guards_.release());
        }
        receiving_.reset();
        guards_.reset();
    }

    void before(Call& call, TouchedBy const& touched) override { receiving_->before(call.function(), touched); }
    void before_unwatched(Job&, char const* function) override { receiving_->before_unwatched(function); }
    void before_fork() noexcept override { receiving_->receives().step_aside(); }
    void in_child() noexcept override {
        g_receiving.store(nullptr, std::memory_order_release);
        receiving_->receives().in_child();
        guards_->in_child();
    }

  private:
    static kernel::Rung best_rung(Settings const& settings) noexcept {
        switch (settings.overlap_pages) {
            case OverlapPages::off:
                return kernel::Rung::off;
            case OverlapPages::copy:
                return kernel::Rung::copy;
            case OverlapPages::move:
                return kernel::Rung::move;
            default:
                return kernel::Rung::remap;
        }
    }

    pages::Interface const* library_ = nullptr;
    std::unique_ptr<kernel::GuardedPages> guards_;
    std::unique_ptr<Receiving> receiving_;
};

}  // namespace

std::unique_ptr<Service> make_overlap() {
    return std::make_unique<Overlap>();
}

}  // namespace sluice::plugin
