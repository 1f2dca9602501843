// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/registration.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "kernel/launcher.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/registration/links.hpp"
#include "plugin/services/registration/registering.hpp"
#include "plugin/services/registration/ucx.hpp"
#include "plugin/services/registration/ucx_contexts.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_no_limit = std::numeric_limits<std::uint64_t>::max();

/// The most bytes that UCX's cache of registrations keeps: a second guard, for buffers that are not served.
constexpr char k_cache_limit[] = "UCX_IB_RCACHE_MAX_SIZE";

/// What UCX's cache holds beside the buffers that are served: its own rings and connections, 31 MiB with two ranks. If
/// these alone exceed the limit, each registration removes every buffer that no message uses.
constexpr std::uint64_t k_beside_buffers = std::uint64_t{256} << 20;

/// Nothing if nothing limits what is pinned.
std::optional<std::uint64_t> limit_of_cache(Bytes setting) noexcept {
    std::uint64_t const locked = memory::registration::pinned_limit(Bytes{0}).count;
    std::uint64_t const served = setting.count == 0 || setting.count > k_no_limit - k_beside_buffers
                                     ? k_no_limit
                                     : setting.count + k_beside_buffers;
    std::uint64_t const most = std::min(locked, served);
    return most == k_no_limit ? std::nullopt : std::optional(most);
}

bool has_rdma_device() noexcept {
    std::error_code unseen;
    std::filesystem::directory_iterator const devices("/sys/class/infiniband", unseen);
    return !unseen && devices != std::filesystem::directory_iterator();
}

/// The helper of each rank needs a part of a processor that no rank has. Without a launcher this is the only rank.
bool has_spare_processors() noexcept {
    return sysconf(_SC_NPROCESSORS_ONLN) > static_cast<long>(kernel::ranks_of_node().value_or(1));
}

class Registration final : public Service {
  public:
    char const* name() const noexcept override { return "registration"; }
    char const* setting() const noexcept override { return "registration"; }
    Needs needs() const noexcept override { return {}; }
    bool wanted(Job const& job) const noexcept override { return job.settings.registration != RegistrationMode::off; }

    void before_init(Job& job) noexcept override {
        share_ucx_contexts();
        std::optional<std::uint64_t> const most = limit_of_cache(job.settings.registration_memory);
        if (!most || !has_rdma_device()) return;  // UCX would complain about what no device of it reads
        limits_cache_ =
            std::getenv(k_cache_limit) == nullptr && setenv(k_cache_limit, std::to_string(*most).c_str(), 0) == 0;
    }

    std::optional<std::string> prepare(Job& job) override {
        if (limits_cache_) unsetenv(k_cache_limit);  // UCX has read it; the program's children start other jobs
        if (g_plugin.several_threads) return "off, because the program has MPI_THREAD_MULTIPLE";
        if (job.settings.registration == RegistrationMode::automatic && !has_spare_processors())
            return "off, because the ranks of this node use all its processors";
        std::string why;
        std::optional<ucx::Library> const library = ucx::Library::find(why);
        if (!library) return "off, because " + why;
        void* const context = ucx_context_of_messages();
        if (context == nullptr) return "off, because the MPI sends its messages without UCX";
        auto const counter = [&](char const* what) -> std::uint64_t& { return job.counter(name(), what); };
        registering_ = std::make_unique<Registering>(
            *library, context, job.memory.budget(),
            Registering::Terms{job.settings.registration_from.count, job.settings.registration_memory},
            Registering::Counts{{counter("buffers found registered"), counter("buffers registered in the call"),
                                 counter("buffers left alone"), counter("buffers of too many requests"),
                                 counter("receives left to overlap")},
                                counter("buffers registered ahead"),
                                counter("buffers given back"),
                                counter("buffers whose memory changed"),
                                counter("buffers beyond the limit"),
                                counter("predictions"),
                                counter("predictions within 5 % of the period"),
                                counter("predictions that came late"),
                                counter("predictions of no use"),
                                counter("in the call: not seen twice before"),
                                counter("in the call: prediction given up"),
                                counter("in the call: not announced in time"),
                                counter("in the call: used earlier than predicted"),
                                counter("in the call: helper late"),
                                counter("in the call: no room ahead")});
        why = registering_->prepare();
        if (why.empty()) return std::nullopt;
        registering_.reset();
        return "off, because " + why;
    }

    void start(Job& job) noexcept override {
        if (job.services.runs("overlap")) registering_->leave_receives_from(job.settings.overlap_from.count);
        registering_->start();
        add_registration_links(job, *registering_);
        job.before.add(*this);
    }

    void stop(Job& job, Ending ending) override {
        job.before.remove(*this);
        remove_registration_links(job, *registering_);
        registering_->stop(ending == Ending::finalize);
    }

    void before(Call& call, TouchedBy const& touched) noexcept override { registering_->before(call, touched); }
    void before_unwatched(Job&, char const*) noexcept override { registering_->before_unwatched(); }
    void before_fork() noexcept override { registering_->before_fork(); }
    void after_fork() noexcept override { registering_->after_fork(); }
    void in_child() noexcept override { registering_->abandon(); }

  private:
    bool limits_cache_ = false;
    std::unique_ptr<Registering> registering_;
};

}  // namespace

std::unique_ptr<Service> make_registration() {
    return std::make_unique<Registration>();
}

}  // namespace sluice::plugin
