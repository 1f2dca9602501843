// SPDX-License-Identifier: BSD-3-Clause
/// The helper thread of a rank: looks at the memory of the process every few milliseconds. It calls no MPI function.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

class Sampler {
  public:
    explicit Sampler(Watch& watch);
    Sampler(Sampler const&) = delete;
    Sampler& operator=(Sampler const&) = delete;
    /// Ends the thread; takes a last sample.
    ~Sampler();

  private:
    void run();
    void take();
    void keep_in_history(record::Sample const& sample);
    void read_proportional();

    Watch& watch_;
    std::mutex sleeping_;
    std::condition_variable wake_;
    bool end_ = false;
    std::uint64_t interval_us_ = 0;
    std::uint64_t next_proportional_us_ = 0;
    std::thread thread_;
};

}  // namespace sluice::plugin
