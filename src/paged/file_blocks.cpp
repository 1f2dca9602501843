// SPDX-License-Identifier: BSD-3-Clause
// What FileState does with single blocks: where their memory comes from, how they come and leave, what is looked ahead
// for.
#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include "paged/file_state.hpp"
#include "sluice/error.hpp"

namespace sluice::paged::detail {

namespace {

// Reads ahead that are under way at a time: a disk gets no faster by more, and who waits for a block waits for them.
constexpr std::size_t k_reads_ahead = 8;

}  // namespace

void FileState::settle(std::size_t block, memory::BlockRoom room, State state) {
    blocks_[block].room = std::move(room);
    blocks_[block].state = state;
    blocks_[block].resident = residents_.size();
    residents_.push_back(block);
}

void FileState::drop(std::size_t number) {
    Block& block = blocks_[number];
    residents_[block.resident] = residents_.back();
    blocks_[residents_.back()].resident = block.resident;
    residents_.pop_back();
    block.state = State::away;
    block.hollow = false;
    block.lost = false;
    memory_.give_back(std::move(block.room));
}

/// From what there is, or from blocks that nobody uses; for reading ahead only from those that come later than what is
/// read. No room where there is none.
memory::BlockRoom FileState::make_room(std::uint64_t bytes, std::optional<std::uint64_t> needed_after) {
    for (;;) {
        if (memory::BlockRoom room = memory_.take(bytes)) return room;
        std::optional<std::size_t> const last = last_needed(bytes, needed_after);
        if (!last) return {};
        drop(*last);
    }
}

/// L. A. Belady, "A study of replacement algorithms", 1966: what is needed last goes first. But what is looked ahead
/// for stays, memory of the size that is asked for is taken as it is, not freed and allocated anew, and of what no plan
/// knows goes what was used first.
std::optional<std::size_t> FileState::last_needed(std::uint64_t bytes,
                                                  std::optional<std::uint64_t> needed_after) const {
    std::optional<std::size_t> last;
    std::tuple<bool, bool, std::uint64_t, std::uint64_t> most;
    for (std::size_t const number : residents_) {
        Block const& block = blocks_[number];
        if (block.users > 0 || block.state != State::here || block.written) continue;
        if (needed_after && block.seen == looks_) continue;
        std::uint64_t const needed = plan_.next_need(number);
        if (needed_after && needed <= *needed_after) continue;
        std::tuple const worth(block.seen != looks_, block.room.bytes().size() == bytes, needed, ~block.left);
        if (last && worth <= most) continue;
        last = number;
        most = worth;
    }
    return last;
}

void FileState::begin_read(std::size_t block) {
    ++coming_;
    disk_->read(blocks_[block].at, blocks_[block].room.bytes(), [this, block](int error) { has_come(block, error); });
}

void FileState::has_come(std::size_t block, int error) {
    --coming_;
    changed_ = true;
    blocks_[block].state = State::here;
    ++counts_.brought;
    std::vector<std::shared_ptr<UseSet>> waiting;
    if (auto const at = waiting_.find(block); at != waiting_.end()) {
        waiting = std::move(at->second);
        waiting_.erase(at);
    }
    blocks_[block].lost = error != 0;
    for (std::shared_ptr<UseSet> const& set : waiting) {
        if (error != 0 && !set->error)
            set->error = std::make_exception_ptr(
                Error(ErrorCode::unsupported,
                      "the disk failed to read " + text_of(block) + ": " + std::generic_category().message(error)));
        if (--set->missing == 0) complete(set);
    }
    if (blocks_[block].lost && blocks_[block].users == 0) drop(block);
}

/// Blocks that were written and are used no more.
void FileState::write_behind() {
    if (!failure_.empty()) return;  // until somebody has been told
    for (std::size_t const number : residents_) {
        Block const& block = blocks_[number];
        if (block.written && block.users == 0 && block.state == State::here) begin_write(number);
    }
}

void FileState::begin_write(std::size_t block) {
    disk_->write(blocks_[block].at, blocks_[block].room.bytes(), [this, block](int error) { has_left(block, error); });
    blocks_[block].state = State::leaving;
    blocks_[block].written = false;
}

void FileState::has_left(std::size_t block, int error) {
    changed_ = true;
    blocks_[block].state = State::here;
    ++counts_.written;
    if (error == 0) return;
    blocks_[block].written = true;
    failure_ = "the disk failed to take back " + text_of(block) + ": " + std::generic_category().message(error) +
               "; it stays in memory";
}

void FileState::bring(std::size_t number, std::uint64_t offset, std::uint64_t bytes, fetch::Store::Brought brought) {
    Block const& block = blocks_[number];
    if ((block.state == State::here && !block.hollow) || block.state == State::leaving) {
        ++counts_.parts_found;
        brought(block.room.bytes().subspan(offset, bytes), nullptr);
    } else {
        parts_->add(block.at + offset, bytes, std::move(brought));
    }
}

/// What the plan says comes next, as far as half of the memory reaches: the other half stays with those who use blocks,
/// and with what is needed again soon.
void FileState::look_ahead() {
    ++looks_;
    std::uint64_t const limit = memory_.limit().count;
    std::uint64_t taken = 0;
    for (std::size_t const number : residents_)
        if (blocks_[number].users > 0 || blocks_[number].state == State::leaving)
            taken += blocks_[number].room.bytes().size();
    std::uint64_t ahead = 0;
    plan_.look_ahead([&](Use const& use) {
        Block& block = blocks_[use.block];
        if (block.seen == looks_) return true;
        if (block.users == 0 && block.state != State::leaving) {
            std::uint64_t const bytes = whole_sectors(block.bytes);
            if (taken + ahead + bytes > limit || (ahead > 0 && ahead + bytes > limit / 2)) return false;
            ahead += bytes;
        }
        block.seen = looks_;
        if (use.access == Access::write || block.state != State::away) return true;
        if (coming_ >= k_reads_ahead) return false;
        memory::BlockRoom room = make_room(whole_sectors(block.bytes), plan_.next_need(use.block));
        if (!room) return false;
        settle(use.block, std::move(room), State::coming);
        begin_read(use.block);
        return true;
    });
}

/// The budget has become smaller, or a set was granted beyond it.
void FileState::shrink() {
    while (memory_.is_over()) {
        memory_.free_spare();
        std::optional<std::size_t> const last = last_needed(0, std::nullopt);
        if (!last) return;
        drop(*last);
    }
}

}  // namespace sluice::paged::detail
