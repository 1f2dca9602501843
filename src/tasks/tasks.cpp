// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/tasks.hpp"

#include "tasks/scheduler.hpp"

namespace sluice {

namespace detail {

void make_ready(TaskPromise& task) noexcept {
    task.scheduler->make_ready(task);
}

void wait_for(MPI_Request& request, MPI_Status& status, TaskPromise& task) {
    task.scheduler->wait_for(request, status, task);
}

void wait_until(double wtime, TaskPromise& task) {
    task.scheduler->wait_until(wtime, task);
}

void end(TaskPromise& task) noexcept {
    task.scheduler->end(task);
}

}  // namespace detail

Tasks::Tasks(Context& context) : scheduler_(std::make_unique<tasks::Scheduler>(context)) {}

Tasks::~Tasks() = default;

TaskHandle Tasks::spawn(Task task) {
    auto join = scheduler_->spawn(task.frame_.promise());
    task.frame_ = nullptr;
    return TaskHandle(std::move(join));
}

void Tasks::run() {
    scheduler_->run();
}

std::uint64_t Tasks::alive() const noexcept {
    return scheduler_->alive();
}

std::uint64_t Tasks::switches() const noexcept {
    return scheduler_->switches();
}

}  // namespace sluice
