// SPDX-License-Identifier: BSD-3-Clause
/// The tasks of a rank: a queue of those that are ready, and what the others wait for.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "sluice/tasks.hpp"

namespace sluice::engine {
class ContextState;
}

namespace sluice::tasks {

class Scheduler {
  public:
    Scheduler(std::shared_ptr<engine::ContextState> context, TaskFailure failure);
    /// Destroys the tasks that have not ended.
    ~Scheduler();
    Scheduler(Scheduler const&) = delete;
    Scheduler& operator=(Scheduler const&) = delete;

    /// Takes over the frame of `task`, whose handles share `join`.
    void spawn(detail::TaskPromise& task, std::shared_ptr<detail::JoinState> join);
    void run();
    bool runs() const noexcept { return runs_.load(std::memory_order_acquire); }
    /// The Tasks has gone: run() ends by an error, if a task of it called this.
    void leave() noexcept { is_left_ = true; }
    engine::ContextState& context() noexcept { return *context_; }

    void make_ready(detail::TaskPromise& task) noexcept;
    void wait_for(MPI_Request& request, MPI_Status& status, detail::TaskPromise& task);
    void wait_until(double wtime, detail::TaskPromise& task);
    void end(detail::TaskPromise& task) noexcept;

    std::uint64_t alive() const noexcept { return alive_; }
    std::span<detail::TaskPromise* const> spawned() const noexcept { return spawned_; }
    std::uint64_t switches() const noexcept { return switches_; }

  private:
    struct Request {
        MPI_Request* request;
        MPI_Status* status;
        detail::TaskPromise* task;
    };
    struct Timer {
        double wtime;
        std::uint64_t order;
        detail::TaskPromise* task;
        bool operator>(Timer const& other) const noexcept {
            return wtime != other.wtime ? wtime > other.wtime : order > other.order;
        }
    };

    void keep_failed(std::shared_ptr<detail::JoinState> const& join) noexcept;
    void resume_next();
    bool look_around();
    bool test_requests();
    bool test_timers();
    void throw_unobserved();
    void throw_if_endless();
    void run_to_the_end();
    void throw_if_over() const;
    void tell_readers(std::exception_ptr const& error) noexcept;

    std::shared_ptr<engine::ContextState> context_;  // a scheduler may outlive its Context
    TaskFailure failure_is_;
    std::atomic<bool> runs_ = false;  // another thread may ask
    bool is_left_ = false;
    detail::TaskPromise* first_ready_ = nullptr;
    detail::TaskPromise* last_ready_ = nullptr;
    std::vector<detail::TaskPromise*> spawned_;  // the living tasks, each at the index in its JoinState
    std::vector<Request> requests_;
    std::vector<MPI_Request> handles_;
    std::vector<MPI_Status> statuses_;
    std::vector<int> done_;
    std::vector<Timer> timers_;  // a heap
    std::exception_ptr failure_;
    std::vector<std::shared_ptr<detail::JoinState>> failed_;
    std::uint64_t alive_ = 0;
    std::uint64_t switches_ = 0;
    std::uint64_t timers_made_ = 0;
    std::uint64_t spawned_ever_ = 0;
};

}  // namespace sluice::tasks
