// SPDX-License-Identifier: BSD-3-Clause
// What a large message that finds its buffer registered costs the main thread: two readings of the clock, a look into
// the cache, an event at its begin and one at its end. The shortest of many batches counts, for other work on the
// machine makes the others longer.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory/registration/cache.hpp"
#include "memory/registration/event_queue.hpp"
#include "memory/registration/registrars/counting.hpp"
#include "registration/rows.hpp"
#include "registration/targets.hpp"
#include "sluice/budget.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"

namespace sluice::bench {

using registration::Cache;
using registration::Event;
using registration::EventQueue;
using registration::Time;
using registration::Use;
using registration::What;

namespace {

constexpr std::uint64_t k_buffer = 1 << 20;
constexpr std::uint64_t k_batch = 64;  // messages: the queue has room for their events
constexpr int k_batches = 2000;
constexpr double k_most_ns = 300;
constexpr double k_most_ns_with_frames = 1000;

Time now() {
    return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

class MainThread {
  public:
    explicit MainThread(std::uint64_t buffers)
        : buffers_(buffers), cache_(registrar_, Budget({~std::uint64_t{0}}), tables_), events_(new EventQueue) {
        for (std::uint64_t i = 0; i < buffers_; ++i)
            cache_.warm(buffer(i), registration::k_never);
    }
    /// Nanoseconds of a message.
    double batch(bool with_frames) {
        auto const begun = std::chrono::steady_clock::now();
        for (std::uint64_t i = 0; i < k_batch; ++i)
            message(buffer(next_++ * 7 % buffers_), with_frames);
        double const spent = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
        while (events_->take()) {
        }
        return spent / static_cast<double>(k_batch);
    }
    std::uint64_t by_main() const { return cache_.counters().registered_by_main; }

  private:
    static registration::Range buffer(std::uint64_t i) { return {(i + 1) << 24, k_buffer}; }
    /// As the plugin does it: a site is a return address, and the address of the frame tells apart the paths to it.
    [[gnu::noinline]] void message(registration::Range range, bool with_frames) {
        Use const use = cache_.begin_use(range);
        Event event;
        event.at = now();
        event.range = range;
        if (with_frames) {
            event.frames[0] = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
            event.frames[1] = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        }
        events_->put(event);
        if (!cache_.end_use(use)) return;
        event.at = now();
        event.what = What::ends;
        events_->put(event);
    }

    std::uint64_t buffers_;
    std::uint64_t next_ = 0;
    registration::CountingRegistrar registrar_;
    Budget tables_{1_MiB};
    Cache cache_;
    std::unique_ptr<EventQueue> events_;
};

void measure(std::uint64_t buffers, bool with_frames) {
    MainThread thread(buffers);
    std::vector<double> samples;
    samples.reserve(k_batches);
    for (int i = 0; i < k_batches; ++i)
        samples.push_back(thread.batch(with_frames));
    Row row{
        {"bench", "registration"}, {"case", k_main_thread}, {"ranks", 1}, {"bed", "host"}, {"registrar", "counting"}};
    Row const cell = row;
    row["method"] = with_frames ? "with_frames" : "without_frames";
    row["buffers"] = buffers;
    row["nanoseconds"] = spread_row(samples);
    row["main_registrations"] = thread.by_main();
    row["outcome"] = "ok";
    print_row(row);
    Target const target{
        "nanoseconds of a message, " + std::to_string(buffers) + " buffers" + (with_frames ? ", with frames" : ""),
        row["nanoseconds"]["min"].get<double>(),
        {},
        with_frames ? k_most_ns_with_frames : k_most_ns,
        {}};
    print_row(row_of(cell, target));
}

}  // namespace

void measure_main_thread() {
    for (std::uint64_t const buffers : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1000}})
        for (bool const with_frames : {false, true})
            measure(buffers, with_frames);
}

}  // namespace sluice::bench
