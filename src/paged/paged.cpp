// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include "base/given_function.hpp"
#include "engine/patience.hpp"
#include "engine/told_line.hpp"
#include "paged/file_state.hpp"
#include "sluice/paged.hpp"

namespace sluice {

namespace {

std::shared_ptr<paged::UseSet> set_of(std::span<BlockUse const> uses) {
    auto set = std::make_shared<paged::UseSet>();
    set->uses.assign(uses.begin(), uses.end());
    return set;
}

}  // namespace

PagedBlocks& PagedBlocks::operator=(PagedBlocks&& other) noexcept {
    if (this != &other) {
        release();
        file_ = std::move(other.file_);
        uses_ = std::move(other.uses_);
        bytes_ = std::move(other.bytes_);
    }
    return *this;
}

std::span<std::byte> PagedBlocks::operator[](std::size_t i) const {
    if (i >= bytes_.size())
        throw Error(ErrorCode::invalid_argument,
                    "PagedBlocks hold " + std::to_string(bytes_.size()) + " blocks, number " + std::to_string(i) +
                        " was asked for" +
                        (bytes_.empty() ? "; they are released, moved from, or their use failed" : ""));
    return bytes_[i];
}

void PagedBlocks::release() noexcept {
    if (auto const file = std::exchange(file_, nullptr)) {
        if (file->context().guard().is_taken_by_another())
            engine::tell_that_it_is_in_use("PagedBlocks", file->context().rank());  // they stay in use
        else
            file->release(uses_);
    }
    uses_.clear();
    bytes_.clear();
}

BlocksAwaiter::~BlocksAwaiter() {
    set->abandoned = true;  // the task has gone on, or is destroyed while it waits
}

bool BlocksAwaiter::await_ready() const noexcept {
    return set->complete;
}

void BlocksAwaiter::await_suspend(detail::SuspendedTask waiting) const noexcept {
    set->suspend(waiting);
}

PagedBlocks BlocksAwaiter::await_resume() const {
    set->rethrow();
    return std::move(set->blocks);
}

PagedFile::PagedFile(Context& context, std::span<Bytes const> block_sizes) {
    engine::Entry const entry(engine::ContextState::of(context), "PagedFile");
    state_ = std::make_shared<paged::FileState>(context, block_sizes);
}

PagedFile::PagedFile(Context& context, std::size_t blocks, Bytes each)
    : PagedFile(context, std::vector<Bytes>(blocks, each)) {}

PagedFile::~PagedFile() = default;

void PagedFile::plan(std::vector<BlockUse> order, Repeat repeat) {
    engine::Entry const entry(state_->context(), "PagedFile::plan");
    state_->plan(std::move(order), repeat == Repeat::yes);
}

BlocksAwaiter PagedFile::use(std::span<BlockUse const> uses) {
    engine::Entry const entry(state_->context(), "PagedFile::use");
    auto set = set_of(uses);
    state_->post(set);
    return BlocksAwaiter(std::move(set));
}

void PagedFile::use(std::span<BlockUse const> uses, std::function<void(PagedBlocks, std::exception_ptr)> done) {
    engine::Entry const entry(state_->context(), "PagedFile::use");
    base::require(done, "PagedFile::use");
    auto const set = set_of(uses);
    set->done = std::move(done);
    state_->post(set);
}

PagedBlocks PagedFile::use_now(std::span<BlockUse const> uses) {
    engine::Entry const entry(state_->context(), "PagedFile::use_now");
    state_->check_no_callback("use_now");
    auto const set = set_of(uses);
    state_->post(set);
    kernel::Progress& progress = state_->context().progress();
    engine::ProgressPatience patience(progress, 0);
    while (!set->complete)
        patience.after(progress.poll());
    set->rethrow();
    return std::move(set->blocks);
}

Store::DataSource PagedFile::part(std::size_t block, Bytes offset, Bytes bytes) const {
    engine::Entry const entry(state_->context(), "PagedFile::part");
    state_->check(block, offset.count, bytes.count);
    return [file = state_, block, offset, bytes](Store::DataSink brought) {
        file->bring(block, offset.count, bytes.count, std::move(brought));
    };
}

bool PagedFile::progress() {
    engine::Entry const entry(state_->context(), "PagedFile::progress");
    return state_->context().progress().poll();
}

PagedReport PagedFile::report() const {
    engine::Entry const entry(state_->context(), "PagedFile::report");
    return state_->report();
}

void publish_part(Store& store, Key const& key, PagedFile const& file, std::size_t block, Bytes offset, Bytes bytes,
                  int readers) {
    store.publish_lazily(key, bytes, file.part(block, offset, bytes), readers);
}

}  // namespace sluice
