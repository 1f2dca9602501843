// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/registering.hpp"

#include <chrono>

#include "kernel/guards/raw_calls.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

using memory::registration::Costs;
using memory::registration::Estimate;
using memory::registration::Range;
using memory::registration::Time;

namespace {

/// Enough pages to tell the cost of a page from that of a call.
constexpr std::uint64_t k_measured_pages = 256;

/// Memory that is mapped while this object lives.
class Mapped {
  public:
    explicit Mapped(std::size_t bytes) noexcept
        : at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes_(bytes) {}
    ~Mapped() {
        if (at_ != MAP_FAILED) kernel::unmap(static_cast<std::byte*>(at_), bytes_);
    }
    Mapped(Mapped const&) = delete;
    Mapped& operator=(Mapped const&) = delete;
    Range range() const noexcept { return {reinterpret_cast<std::uintptr_t>(at_), at_ != MAP_FAILED ? bytes_ : 0}; }

  private:
    void* at_;
    std::size_t bytes_;
};

}  // namespace

Registering::Registering(ucx::Library library, void* context, Budget const& tables, Terms terms, Counts counts)
    : library_(library),
      terms_(terms),
      tables_(tables),
      counts_(counts),
      registrar_(library, context),
      room_(terms.limit),
      cache_(std::in_place, registrar_, room_.budget(), tables),
      uses_(*cache_, room_, watch_, terms.least, counts.uses) {}

Registering::~Registering() = default;

/// UCX may have found no device that pins memory, or have other ways than its cache.
std::string Registering::try_registering() {
    Mapped const memory(k_measured_pages * memory::registration::k_pinned_page);
    std::uint64_t const before = pinned_bytes();
    bool const done = registrar_.add(memory.range()).failure == memory::registration::Failure::none;
    std::uint64_t const meanwhile = pinned_bytes();
    registrar_.remove(1, memory.range());
    registrar_.settle();
    std::uint64_t const after = pinned_bytes();
    if (!done) return "UCX registers no memory";
    if (meanwhile < before + memory.range().bytes) return "the transports of UCX keep no memory pinned here";
    if (after >= meanwhile) return "UCX gives back nothing before the end of the job";
    return {};
}

std::string Registering::prepare() {
    UcxRegistrar::Helping const helping;
    if (std::string why = try_registering(); !why.empty()) return why;
    Costs const costs = measure_costs(registrar_, k_measured_pages, memory::registration::measure_steps());
    registrar_.settle();
    if (std::string why = watch_.open(*this); !why.empty()) return "changes of mappings cannot be watched: " + why;
    registrar_.watched_by(watch_);
    Time const reaction = Mapper::k_pause;
    auto const preparation = [this, reaction](std::uint64_t bytes) {
        return reaction + helper_->costs().add.of(bytes / memory::registration::k_pinned_page + 1);
    };
    predictor_.emplace(memory::registration::ContextOptions{2, Estimate::best, preparation}, tables_);
    helper_.emplace(uses_.events(), *cache_, *predictor_, costs,
                    memory::registration::HelperOptions{terms_.least, reaction}, tables_);
    mapper_.emplace(*helper_, uses_.events(), registrar_, static_cast<Mapper::Listener&>(*this));
    return {};
}

void Registering::stop(bool ucx_is_there) noexcept {
    mapper_->stop();
    published();
    watch_.close();
    if (!ucx_is_there) return;
    mapper_->pause();  // another thread of the program may fork just now
    UcxRegistrar::Helping const helping;
    cache_.reset();  // gives back all regions
    registrar_.settle();
    mapper_->go_on();
}

void Registering::before_fork() noexcept {
    mapper_->pause();
    if (!cache_) return;  // another thread ends the job meanwhile
    UcxRegistrar::Helping const helping;
    cache_->give_back_unused();
    registrar_.settle();
}

void Registering::after_fork() noexcept {
    mapper_->go_on();
}

void Registering::abandon() noexcept {
    watch_.abandon();
}

void Registering::changed(Range range) noexcept {
    cache_->forget(range);
    library_.forget(range);
}

void Registering::published() noexcept {
    memory::registration::CacheCounters const& cache = cache_->counters();
    put(counts_.ahead, cache.registered_ahead.load(std::memory_order_relaxed));
    put(counts_.given_back, cache.given_back.load(std::memory_order_relaxed));
    put(counts_.forgotten, cache.forgotten.load(std::memory_order_relaxed));
    put(counts_.beyond_limit, cache.beyond_limit.load(std::memory_order_relaxed));
    memory::registration::Accuracy const& accuracy = helper_->accuracy();
    put(counts_.predictions, accuracy.predictions);
    put(counts_.within_five_percent, accuracy.within_five_percent);
    put(counts_.late, accuracy.late);
    put(counts_.missed, accuracy.missed);
    memory::registration::Unprepared const& why = helper_->counters().unprepared;
    put(counts_.unknown, why.unknown);
    put(counts_.given_up, why.given_up);
    put(counts_.unannounced, why.unannounced);
    put(counts_.early, why.early);
    put(counts_.helper_late, why.late);
    put(counts_.refused, why.refused);
}

}  // namespace sluice::plugin
