// SPDX-License-Identifier: BSD-3-Clause
/// Fetches with all the memory that M_C allows while another process of the node takes memory and frees it: the limit
/// shrinks and grows with it, no page of a rank is swapped out, and the kernel signals it. It runs in the limited bed,
/// see adapting_limited.py.
///
///     adapting MIB_THAT_ARE_TAKEN
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "engine/context_state.hpp"
#include "sluice/fetch.hpp"
#include "support/neighbour.hpp"

namespace sluice::tests {
namespace {

constexpr std::uint64_t k_bytes = 256 << 10;
constexpr int k_tasks = 600;    // each fetches one datum; together they need far more than M_C
constexpr long k_of_files = 4;  // major faults by code that runs for the first time; a rank that swaps has thousands of
                                // faults

long major_faults() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_majflt;
}

/// The steps in which rank 0 uses the neighbour; between two steps there are some looks at the free memory.
class Story {
  public:
    Story(Neighbour const& neighbour, int steps) : neighbour_(&neighbour), steps_(steps) {}

    void go_on(budget::ProcessBudget& process) {
        if (waits_for_neighbour_ && !neighbour_->has_done_it()) return;
        if (waits_for_neighbour_) until_ = process.looks() + (at_ % steps_ == 0 ? k_pause : 3);
        waits_for_neighbour_ = false;
        if (until_ == 0) until_ = process.looks() + k_pause;
        // For a moment the limit may be less, while data arrive that the kernel has counted and the budget has not; it
        // may not be more.
        if (process.looks() + k_pause / 2 >= until_) most_ = std::max(most_, process.budget().limit());
        if (process.looks() < until_ || is_over()) return;
        Bytes const limit = std::exchange(most_, {});
        if (at_ == 0) before_ = limit;
        if (at_ == steps_) least_ = limit;
        if (at_ == 2 * steps_) {
            after_ = limit;
        } else {
            at_ < steps_ ? neighbour_->begin_to_take() : neighbour_->begin_to_free();
            waits_for_neighbour_ = true;
        }
        ++at_;
    }
    bool is_over() const { return at_ > 2 * steps_; }

    /// Returns whether the limit changed as it must.
    bool is_right() const {
        Bytes const taken{static_cast<std::uint64_t>(steps_) << 20};
        std::printf("limit %s, with %s taken %s, then %s\n", base::format_bytes(before_).c_str(),
                    base::format_bytes(taken).c_str(), base::format_bytes(least_).c_str(),
                    base::format_bytes(after_).c_str());
        // The ranks' own use changes meanwhile by up to 9 MiB, which MPI and the heap keep.
        Bytes const about = taken / 4;
        return least_ + taken <= before_ + about && least_ + taken + about >= before_ && after_ + about >= before_;
    }

  private:
    static constexpr std::uint64_t k_pause = 50;  // looks
    Neighbour const* neighbour_;
    int steps_;
    int at_ = 0;
    bool waits_for_neighbour_ = false;
    std::uint64_t until_ = 0;
    Bytes most_;
    Bytes before_;
    Bytes least_;
    Bytes after_;
};

/// Fetches, and keeps the data for a few turns.
Task fetch_one(Store& store, Key key, int& left, int& wrong) {
    FetchResult const fetched = co_await store.fetch_all(FetchRequest{key, k_bytes});
    std::byte const mark = static_cast<std::byte>(key.id);
    if (fetched[0][0] != mark || fetched[0][k_bytes - 1] != mark) ++wrong;
    for (int i = 0; i < 4; ++i)
        co_await yielded();
    --left;
}

Task tell(Story& story, budget::ProcessBudget& process, int const& left) {
    while (left > 0) {
        story.go_on(process);
        co_await yielded();
    }
}

/// Each rank fetches everything from the next one. Returns how many fetches were wrong.
int go_round(Context& context, Story* story, Bytes& peak) {
    Store store(context);
    for (std::uint64_t i = 0; i < k_tasks; ++i)
        store.publish({context.rank(), i, 0}, {k_bytes}, [i](std::span<std::byte> out) {
            std::memset(out.data(), static_cast<int>(i & 0xff), out.size());
        });
    Tasks tasks(context);
    int left = k_tasks;
    int wrong = 0;
    for (std::uint64_t i = 0; i < k_tasks; ++i)
        tasks.spawn(fetch_one(store, {(context.rank() + 1) % context.size(), i, 0}, left, wrong));
    if (story != nullptr) tasks.spawn(tell(*story, engine::ContextState::of(context).process().memory(), left));
    tasks.run();
    store.finish();
    peak = std::max(peak, store.report().peak);
    return wrong;
}

bool run_all(Neighbour const& neighbour, int steps) {
    Settings settings = Settings::from_environment();
    settings.fetch_memory = 1024_GiB;
    Context context(MPI_COMM_WORLD, settings);
    Story story(neighbour, steps);
    bool const tells = context.rank() == 0;
    Bytes peak;
    int wrong = go_round(context, nullptr, peak);  // brings libraries and code into memory
    long const faults = major_faults();
    int rounds = 0;
    for (int over = 0; over == 0; ++rounds) {
        wrong += go_round(context, tells ? &story : nullptr, peak);
        over = tells && story.is_over() ? 1 : 0;
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    long const more = major_faults() - faults;
    budget::Adaptation const& adaptation = *engine::ContextState::of(context).process().memory().adaptation();
    std::printf("rank %d: %d rounds, held at most %s, %ld major faults, %d wrong, the kernel told %llu times\n",
                context.rank(), rounds, base::format_bytes(peak).c_str(), more, wrong,
                static_cast<unsigned long long>(adaptation.tellings()));
    // Version 2 only signals that the limit was reached, which must not happen.
    bool const must_tell = adaptation.account().source.find("cgroup v1") != std::string::npos;
    return more <= k_of_files && wrong == 0 && (adaptation.tellings() > 0 || !must_tell) &&
           (!tells || story.is_right());
}

}  // namespace
}  // namespace sluice::tests

int main(int argc, char** argv) {
    sluice::tests::Neighbour const neighbour;
    MPI_Init(&argc, &argv);
    bool const right = sluice::tests::run_all(neighbour, argc > 1 ? std::atoi(argv[1]) : 64);
    MPI_Finalize();
    return right ? 0 : 1;
}
