// SPDX-License-Identifier: BSD-3-Clause
#include "registration/real.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "memory/registration/cache.hpp"
#include "memory/registration/helper.hpp"
#include "memory/registration/predict/context_predictor.hpp"
#include "registration/timeline.hpp"

namespace sluice::bench {

namespace registration = memory::registration;
using registration::Cache;
using registration::Event;
using registration::Registered;
using registration::Use;
using registration::What;

namespace {

constexpr Time k_reaction = std::chrono::microseconds(100);
constexpr Time k_nap = std::chrono::microseconds(50);
constexpr std::uint64_t k_measured_pages = 256;

class Clock {
  public:
    Time now() const { return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - begin_); }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Writes down when what was pinned.
class Logging : public registration::Registrar {
  public:
    Logging(registration::Registrar& real, Clock const& clock) : real_(&real), clock_(&clock) {}
    std::string_view name() const noexcept override { return real_->name(); }
    Registered add(Range range) noexcept override {
        Time const begin = clock_->now();
        Registered const made = real_->add(range);
        if (made.failure == registration::Failure::none) change(begin, static_cast<std::int64_t>(range.bytes));
        return made;
    }
    Time remove(std::uint64_t key, Range range) noexcept override {
        Time const cost = real_->remove(key, range);
        change(clock_->now(), -static_cast<std::int64_t>(range.bytes));
        return cost;
    }
    Timeline timeline;

  private:
    void change(Time at, std::int64_t bytes) {
        std::lock_guard const lock(mutex_);
        timeline.change(at, bytes);
    }
    registration::Registrar* real_;
    Clock const* clock_;
    std::mutex mutex_;
};

std::uint64_t pinned_by_kernel() {
    std::ifstream file("/proc/self/status");
    std::uint64_t kib = 0;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmPin:") || line.starts_with("VmLck:")) kib += std::stoull(line.substr(6));
    return kib * 1024;
}

/// The thread that turns the helper: it sleeps, and looks for events at each waking.
class HelperThread {
  public:
    HelperThread(registration::Helper& helper, Clock const& clock)
        : thread_([this, &helper, &clock] {
              while (!stop_.load(std::memory_order_relaxed)) {
                  Time const now = clock.now();
                  Time const until = helper.work(now).until;
                  if (until > clock.now()) std::this_thread::sleep_for(std::min(k_nap, until - now));
              }
          }) {}
    HelperThread(HelperThread const&) = delete;
    HelperThread& operator=(HelperThread const&) = delete;
    ~HelperThread() {
        stop_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/// The main thread of the stream.
class Program {
  public:
    Program(Stream const& stream, RealBuffers const& buffers, Cache& cache, Clock const& clock, double faster)
        : stream_(&stream), buffers_(&buffers), cache_(&cache), clock_(&clock), faster_(faster) {}

    void run(registration::EventQueue* events, bool gives_back) {
        for (Step const& step : stream_->steps) {
            if (step.what == Step::What::busy) {
                spin(step.time);
                continue;
            }
            Message const& message = stream_->messages[step.message];
            Range const range = buffers_->real(message.range);
            bool const begins = step.what == Step::What::post;
            Time const at = clock_->now();
            bool found = true;
            bool last = false;
            if (begins) {
                Use const use = cache_->begin_use(range);
                found = use.outcome == Use::Outcome::found;
                uses_[step.message] = use;
            } else {
                last = cache_->end_use(uses_[step.message]);
                uses_.erase(step.message);
            }
            if (events != nullptr && (begins || last)) tell(*events, message, range, at, begins, found);
            if (gives_back && last) cache_->give_back(range);
        }
    }

  private:
    void spin(Time time) const {
        Time const end = clock_->now() + Time(static_cast<Time::rep>(static_cast<double>(time.count()) / faster_));
        while (clock_->now() < end) {
        }
    }
    static void tell(registration::EventQueue& events, Message const& message, Range range, Time at, bool begins,
                     bool found) {
        Event event;
        event.at = at;
        event.range = range;
        event.frames[0] = static_cast<std::uintptr_t>(message.site) + 0x400000;
        event.kind = message.kind;
        event.what = begins ? What::begins : What::ends;
        event.was_registered = found;
        events.put(event);
    }

    Stream const* stream_;
    RealBuffers const* buffers_;
    Cache* cache_;
    Clock const* clock_;
    double faster_;
    std::map<std::uint32_t, Use> uses_;
};

void run_helped(Program& program, Cache& cache, registration::Costs const& costs, Clock const& clock) {
    Budget const tables(8_MiB);
    registration::EventQueue events;
    registration::ContextOptions options;
    options.preparation = [&costs](std::uint64_t bytes) {
        return costs.add.of(registration::pages_of({0, bytes})) + costs.steps.event + costs.steps.insert +
               costs.steps.update + k_reaction;
    };
    registration::ContextPredictor predictor(options, tables);
    registration::Helper helper(events, cache, predictor, costs, {16 * 1024, k_reaction}, tables);
    HelperThread const thread(helper, clock);
    program.run(&events, false);
}

}  // namespace

RealBuffers::RealBuffers(Stream const& stream) : first_(~std::uintptr_t{0}), bytes_(bytes_of(stream)) {
    for (Message const& message : stream.messages)
        first_ = std::min(first_, registration::whole_pages(message.range).begin);
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    std::memset(at, 1, bytes_);
    at_ = reinterpret_cast<std::uintptr_t>(at);
}

RealBuffers::~RealBuffers() {
    munmap(reinterpret_cast<void*>(at_), bytes_);
}

std::uint64_t RealBuffers::bytes_of(Stream const& stream) {
    std::uintptr_t first = ~std::uintptr_t{0};
    std::uintptr_t end = 0;
    for (Message const& message : stream.messages) {
        first = std::min(first, registration::whole_pages(message.range).begin);
        end = std::max(end, registration::whole_pages(message.range).end());
    }
    return end > first ? end - first : registration::k_pinned_page;
}

RealRun run_real(Stream const& stream, RealBuffers const& buffers, std::string_view scheme,
                 registration::Registrar& registrar, double faster) {
    std::uint64_t const before = pinned_by_kernel();
    bool const is_helped = scheme == "sluice";
    registration::Costs costs;
    if (is_helped) costs = registration::measure_costs(registrar, k_measured_pages, registration::measure_steps());
    RealRun run;
    Clock const clock;
    Logging logging(registrar, clock);
    Time end{};
    {
        Budget const tables(1_MiB);
        Budget const pinned({~std::uint64_t{0}});
        Cache cache(logging, pinned, tables, is_helped ? registration::Policy::spare : registration::Policy::keep);
        Program program(stream, buffers, cache, clock, faster);
        if (is_helped)
            run_helped(program, cache, costs, clock);
        else
            program.run(nullptr, scheme == "direct");
        end = clock.now();
        run.registered_by_main = cache.counters().registered_by_main;
        run.refused = cache.counters().refused;
        run.messages = run.registered_by_main + cache.counters().found + run.refused;
    }
    run.seconds = std::chrono::duration<double>(end).count();
    Timeline::Figures const figures = logging.timeline.figures(Time(0), end);
    run.peak = figures.peak;
    run.average = figures.average;
    if (pinned_by_kernel() != before) throw std::runtime_error("something is still pinned at the end");
    return run;
}

double seconds_of(Stream const& stream) {
    Time all{};
    for (Step const& step : stream.steps)
        all += step.time;
    return std::chrono::duration<double>(all).count();
}

}  // namespace sluice::bench
