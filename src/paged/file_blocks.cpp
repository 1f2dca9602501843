// SPDX-License-Identifier: BSD-3-Clause
// How a FileState handles single blocks: where their memory comes from, how they are read and written back, and which
// ones are read ahead.
#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include "paged/file_state.hpp"
#include "sluice/error.hpp"

namespace sluice::paged {

namespace {

// The most reads ahead that are under way at once: more do not make a disk faster, and a task that needs another block
// would have to wait for them.
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

/// Takes free room, or the room of an unused block. For reading ahead, only a block that is needed later than
/// `needed_after` gives its room. Returns empty room if there is none.
memory::BlockRoom FileState::make_room(std::uint64_t bytes, std::optional<std::uint64_t> needed_after) {
    for (;;) {
        if (memory::BlockRoom room = memory_.take(bytes)) return room;
        std::optional<std::size_t> const last = last_needed(bytes, needed_after);
        if (!last) return {};
        drop(*last);
    }
}

/// Chooses the block to give up: the one that is needed last (L. A. Belady, "A study of replacement algorithms", 1966).
/// Blocks read ahead stay. Memory of the requested size is preferred, because it is reused instead of freed and
/// allocated again. Of the blocks that no plan mentions, the least recently used one is given up.
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

/// Writes back blocks that were written and are no longer used.
void FileState::write_behind() {
    if (!failure_.empty()) return;  // no block is written until a caller has been told
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
    failure_ = "the disk failed to write back " + text_of(block) + ": " + std::generic_category().message(error) +
               "; it stays in memory";
}

void FileState::bring(std::size_t number, std::uint64_t offset, std::uint64_t bytes, Store::DataSink brought) {
    Block const& block = blocks_[number];
    if ((block.state == State::here && !block.hollow) || block.state == State::leaving) {
        ++counts_.parts_found;
        brought(block.room.bytes().subspan(offset, bytes), nullptr);
    } else {
        parts_->add(block.at + offset, bytes, std::move(brought));
    }
}

/// Reads ahead what the plan needs next, up to half of the memory. The other half remains for blocks in use and for
/// those that are needed again soon.
void FileState::look_ahead() {
    ++looks_;
    std::uint64_t const limit = memory_.limit().count;
    std::uint64_t taken = 0;
    for (std::size_t const number : residents_)
        if (blocks_[number].users > 0 || blocks_[number].state == State::leaving)
            taken += blocks_[number].room.bytes().size();
    std::uint64_t ahead = 0;
    plan_.look_ahead([&](BlockUse const& use) {
        Block& block = blocks_[use.block];
        if (block.seen == looks_) return true;
        if (block.users == 0 && block.state != State::leaving) {
            std::uint64_t const bytes = whole_sectors(block.bytes);
            if (taken + ahead + bytes > limit || (ahead > 0 && ahead + bytes > limit / 2)) return false;
            ahead += bytes;
        }
        block.seen = looks_;
        if (use.access == BlockAccess::write || block.state != State::away) return true;
        if (coming_ >= k_reads_ahead) return false;
        memory::BlockRoom room = make_room(whole_sectors(block.bytes), plan_.next_need(use.block));
        if (!room) return false;
        settle(use.block, std::move(room), State::coming);
        begin_read(use.block);
        return true;
    });
}

/// Called after the budget has become smaller or a set was granted beyond the limit.
void FileState::shrink() {
    while (memory_.is_over()) {
        memory_.free_spare();
        std::optional<std::size_t> const last = last_needed(0, std::nullopt);
        if (!last) return;
        drop(*last);
    }
}

}  // namespace sluice::paged
