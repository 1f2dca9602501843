// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "engine/patience.hpp"
#include "paged/file_state.hpp"
#include "sluice/paged.hpp"

namespace sluice::paged {

namespace {

std::shared_ptr<detail::UseSet> set_of(std::span<Use const> uses) {
    auto set = std::make_shared<detail::UseSet>();
    set->uses.assign(uses.begin(), uses.end());
    return set;
}

}  // namespace

Blocks& Blocks::operator=(Blocks&& other) noexcept {
    if (this != &other) {
        release();
        file_ = std::move(other.file_);
        uses_ = std::move(other.uses_);
        bytes_ = std::move(other.bytes_);
    }
    return *this;
}

void Blocks::release() noexcept {
    if (auto const file = std::exchange(file_, nullptr)) file->release(uses_);
    uses_.clear();
    bytes_.clear();
}

UseAwaiter::~UseAwaiter() {
    if (!set->complete) set->abandoned = true;  // the task is destroyed while it waits
}

bool UseAwaiter::await_ready() const noexcept {
    return set->complete;
}

void UseAwaiter::await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
    set->task = &waiting.promise();
}

Blocks UseAwaiter::await_resume() const {
    if (set->error) std::rethrow_exception(set->error);
    return std::move(set->blocks);
}

File::File(Context& context, std::span<std::uint64_t const> bytes_of_blocks)
    : state_(std::make_shared<detail::FileState>(context, bytes_of_blocks)) {}

File::File(Context& context, std::size_t blocks, std::uint64_t bytes_of_each)
    : File(context, std::vector<std::uint64_t>(blocks, bytes_of_each)) {}

File::~File() = default;

void File::plan(std::vector<Use> order, Again again) {
    state_->plan(std::move(order), again == Again::yes);
}

UseAwaiter File::use(std::span<Use const> uses) {
    auto set = set_of(uses);
    state_->post(set);
    return UseAwaiter(std::move(set));
}

void File::use(std::span<Use const> uses, std::function<void(Blocks, std::exception_ptr)> done) {
    auto const set = set_of(uses);
    set->done = std::move(done);
    state_->post(set);
}

Blocks File::use_now(std::span<Use const> uses) {
    auto const set = set_of(uses);
    state_->post(set);
    engine::Progress& progress = state_->context().progress();
    engine::ProgressPatience patience(progress, 0);
    while (!set->complete)
        patience.after(progress.poll());
    if (set->error) std::rethrow_exception(set->error);
    return std::move(set->blocks);
}

fetch::Store::Bring File::part(std::size_t block, std::uint64_t offset, std::uint64_t bytes) const {
    state_->check(block, offset, bytes);
    return [file = state_, block, offset, bytes](fetch::Store::Brought brought) {
        file->bring(block, offset, bytes, std::move(brought));
    };
}

bool File::progress() {
    return state_->context().progress().poll();
}

Report File::report() const {
    return state_->report();
}

void publish(fetch::Store& store, fetch::Key const& key, File const& file, std::size_t block, std::uint64_t offset,
             std::uint64_t bytes, int readers) {
    store.publish_elsewhere(key, bytes, file.part(block, offset, bytes), readers);
}

}  // namespace sluice::paged
