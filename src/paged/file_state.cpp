// SPDX-License-Identifier: BSD-3-Clause
#include "paged/file_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/units.hpp"
#include "sluice/error.hpp"

namespace sluice::paged {

namespace {

// This many sets after the first are examined: they may be granted before it because they need no memory, and the first
// lets this many pass.
constexpr std::size_t k_looked_at = 32;
constexpr std::uint32_t k_most_passed_over = 64;

std::string folder_of(Settings const& settings) {
    if (!settings.paged_folder.empty()) return settings.paged_folder;
    char const* const temporary = std::getenv("TMPDIR");
    return temporary != nullptr && *temporary != '\0' ? temporary : "/var/tmp";
}

}  // namespace

FileState::FileState(Context& context, std::span<Bytes const> block_sizes)
    : context_(engine::ContextState::shared_by(context)),
      memory_(context_->budget(), context_->settings().paged_memory),
      plan_(block_sizes.size()),
      blocks_(block_sizes.size()) {
    constexpr std::uint64_t k_most = std::numeric_limits<std::int64_t>::max();  // a position in a file
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (block_sizes[i] == Bytes{})
            throw Error(ErrorCode::invalid_argument, "block " + std::to_string(i) + " of a paged file has no bytes");
        if (block_sizes[i].count > k_most - kernel::DiskFile::k_sector ||
            whole_sectors(block_sizes[i].count) > k_most - end)
            throw Error(ErrorCode::out_of_memory, "the blocks of a paged file, up to block " + std::to_string(i) +
                                                      ", have more bytes than a file can hold");
        blocks_[i].at = end;
        blocks_[i].bytes = block_sizes[i].count;
        end += whole_sectors(block_sizes[i].count);
    }
    disk_.emplace(folder_of(context_->settings()), Bytes{end});
    parts_.emplace(*disk_, context_->budget(), std::max(context_->settings().serve_memory, Bytes{1}));
    context_->progress().add(*this);
}

FileState::~FileState() {
    for (std::shared_ptr<UseSet> const& set : queue_)
        leave_behind(*set);
    for (auto const& [block, sets] : waiting_)
        for (std::shared_ptr<UseSet> const& set : sets)
            leave_behind(*set);
    context_->progress().remove(*this);
    context_->tell_if_late("a PagedFile");
}

/// The task of a set that is not complete goes on with an error.
void FileState::leave_behind(UseSet& set) noexcept {
    if (set.complete) return;
    set.error =
        std::make_exception_ptr(Error(ErrorCode::invalid_argument,
                                      "a task waits for blocks of a PagedFile that was destroyed: keep the file "
                                      "until its tasks have ended"));
    set.complete = true;
    set.resume();
}

std::string FileState::text_of(std::size_t block) const {
    return "block " + std::to_string(block) + " of a paged file of rank " + std::to_string(context_->rank()) + " (" +
           std::to_string(blocks_[block].bytes) + " bytes)";
}

void FileState::check_no_callback(char const* what) const {
    if (polling_)
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(context_->rank()) + " calls " + what +
                                                     " inside a callback of the same paged file, where nothing moves");
}

void FileState::plan(std::vector<BlockUse> order, bool again) {
    for (BlockUse const& use : order)
        check(use.block, 0, 0);
    plan_.set(std::move(order), again);
    changed_ = true;
    poll();
}

void FileState::check(std::size_t block, std::uint64_t offset, std::uint64_t bytes) const {
    if (block >= blocks_.size())
        throw Error(ErrorCode::invalid_argument, "block " + std::to_string(block) + " of a paged file of rank " +
                                                     std::to_string(context_->rank()) + ", which has " +
                                                     std::to_string(blocks_.size()) + " blocks");
    if (offset > blocks_[block].bytes || bytes > blocks_[block].bytes - offset)
        throw Error(ErrorCode::invalid_argument,
                    std::to_string(bytes) + " bytes from " + std::to_string(offset) + " on of " + text_of(block));
}

std::exception_ptr FileState::fault_of(UseSet const& set) const {
    try {
        std::uint64_t sum = 0;
        for (BlockUse const& use : set.uses) {
            check(use.block, 0, 0);
            sum += whole_sectors(blocks_[use.block].bytes);
        }
        Bytes const most = context_->process().memory().memory_limit().limit;
        if (sum > most.count)
            throw Error(ErrorCode::out_of_memory, std::to_string(set.uses.size()) + " blocks with a total of " +
                                                      base::format_bytes(Bytes{sum}) +
                                                      " exceed the memory that this process may use, " +
                                                      base::format_bytes(most) + " (setting memory)");
    } catch (Error const&) {
        return std::current_exception();
    }
    return nullptr;
}

void FileState::post(std::shared_ptr<UseSet> const& set) {
    set->error = fault_of(*set);
    if (set->error) {
        complete(set);
        return;
    }
    queue_.push_back(set);
    if (!polling_) grant();
}

bool FileState::needs_memory(UseSet const& set) const {
    return std::ranges::any_of(set.uses, [&](BlockUse const& use) { return blocks_[use.block].state == State::away; });
}

/// A set waits if a block that it would write is being written back, if one of its blocks could not be read, or if it
/// would read a block that another set is about to write; the last only as long as anything else makes progress.
bool FileState::has_to_wait_for_others(UseSet const& set, Beyond beyond) const {
    return std::ranges::any_of(set.uses, [&](BlockUse const& use) {
        Block const& block = blocks_[use.block];
        if (block.hollow && use.access != BlockAccess::write && beyond == Beyond::no) return true;
        return block.lost || (use.access != BlockAccess::read && block.state == State::leaving);
    });
}

bool FileState::grant() {
    bool moved = false;
    while (!queue_.empty()) {
        // One set is always granted: if no block is in use, all unused blocks have been given up or do not suffice.
        Beyond const beyond = in_use_ == 0 && !is_under_way() ? Beyond::yes : Beyond::no;
        std::shared_ptr<UseSet> const set = queue_.front();
        if (!set->abandoned && !try_grant(set, beyond)) break;
        std::erase(queue_, set);
        moved = true;
    }
    for (std::size_t i = 1; i < std::min(queue_.size(), k_looked_at);) {
        if (queue_.front()->passed_over >= k_most_passed_over) break;
        std::shared_ptr<UseSet> const set = queue_[i];
        if (needs_memory(*set) || !try_grant(set, Beyond::no)) {
            ++i;
            continue;
        }
        ++queue_.front()->passed_over;
        std::erase(queue_, set);
        moved = true;
    }
    return moved;
}

void FileState::stall() {
    if (queue_.empty() || is_under_way()) return;
    std::shared_ptr<UseSet> const set = queue_.front();
    if (try_grant(set, Beyond::yes)) std::erase(queue_, set);
}

bool FileState::try_grant(std::shared_ptr<UseSet> const& set, Beyond beyond) {
    if (has_to_wait_for_others(*set, beyond)) return false;
    pin(*set);
    std::vector<memory::BlockRoom> rooms;
    try {
        if (!make_rooms(*set, beyond, rooms)) {
            unpin(*set);
            return false;
        }
    } catch (Error const&) {
        unpin(*set);
        set->error = std::current_exception();
        complete(set);
        return true;
    }
    if (beyond == Beyond::yes && memory_.held() > memory_.limit()) ++counts_.beyond;
    set->granted = true;
    bring_in(set, std::move(rooms));
    return true;
}

void FileState::pin(UseSet const& set) {
    for (BlockUse const& use : set.uses)
        ++blocks_[use.block].users;
    in_use_ += set.uses.size();
}

void FileState::unpin(UseSet const& set) {
    in_use_ -= set.uses.size();
    for (BlockUse const& use : set.uses) {
        Block& block = blocks_[use.block];
        if (--block.users == 0 && block.state == State::here && (block.hollow || block.lost)) drop(use.block);
    }
    changed_ = true;
}

/// Makes room for all absent blocks of the set, or for none.
bool FileState::make_rooms(UseSet const& set, Beyond beyond, std::vector<memory::BlockRoom>& rooms) {
    bool enough = true;
    try {
        for (auto use = set.uses.begin(); enough && use != set.uses.end(); ++use) {
            if (blocks_[use->block].state != State::away) continue;
            auto const same = [&](BlockUse const& earlier) { return earlier.block == use->block; };
            if (std::any_of(set.uses.begin(), use, same)) continue;
            std::uint64_t const bytes = whole_sectors(blocks_[use->block].bytes);
            memory::BlockRoom room = make_room(bytes, std::nullopt);
            if (!room && beyond == Beyond::yes) room = memory_.take_beyond(bytes);
            enough = static_cast<bool>(room);
            rooms.push_back(std::move(room));
        }
    } catch (Error const&) {
        for (memory::BlockRoom& room : rooms)
            memory_.give_back(std::move(room));
        throw;
    }
    if (!enough)
        for (memory::BlockRoom& room : rooms)
            memory_.give_back(std::move(room));
    return enough;
}

void FileState::bring_in(std::shared_ptr<UseSet> const& set, std::vector<memory::BlockRoom> rooms) {
    auto room = rooms.begin();
    for (BlockUse const& use : set->uses) {
        Block& block = blocks_[use.block];
        if (!plan_.used(use.block)) ++counts_.unplanned;
        if (block.state != State::away) {
            ++counts_.found;
        } else if (use.access == BlockAccess::write) {
            settle(use.block, std::move(*room++), State::here);
            block.hollow = true;
        } else {
            settle(use.block, std::move(*room++), State::coming);
            begin_read(use.block);
        }
        if (block.state != State::coming) continue;
        waiting_[use.block].push_back(set);
        ++set->missing;
    }
    changed_ = true;
    if (set->missing == 0) complete(set);
}

PagedBlocks FileState::blocks_of(UseSet const& set) {
    PagedBlocks blocks;
    for (BlockUse const& use : set.uses)
        blocks.bytes_.push_back(blocks_[use.block].room.bytes().first(blocks_[use.block].bytes));
    blocks.uses_ = set.uses;
    blocks.file_ = shared_from_this();
    return blocks;
}

void FileState::complete(std::shared_ptr<UseSet> const& set) {
    if (set->granted && !set->error && !failure_.empty()) {
        set->error = std::make_exception_ptr(Error(ErrorCode::unsupported, failure_));
        failure_.clear();  // the caller has been told; writing is tried again
    }
    ++counts_.sets;
    set->complete = true;
    if (set->granted && (set->error || set->abandoned))
        unpin(*set);
    else if (set->granted && !set->done)
        set->blocks = blocks_of(*set);
    set->resume();
    if (set->done) called_back_.push_back(set);
}

/// Called by poll only.
bool FileState::call_back() {
    std::size_t const number = called_back_.size();  // sets that these callbacks post are handled next time
    for (std::size_t i = 0; i < number; ++i) {
        std::shared_ptr<UseSet> const set = std::move(called_back_.front());
        called_back_.pop_front();
        set->done(set->error ? PagedBlocks() : blocks_of(*set), set->error);
    }
    return number > 0;
}

void FileState::release(std::span<BlockUse const> uses) {
    in_use_ -= uses.size();
    for (BlockUse const& use : uses) {
        Block& block = blocks_[use.block];
        --block.users;
        block.left = ++uses_;
        if (use.access == BlockAccess::read) continue;
        block.written = true;
        block.hollow = false;
    }
    changed_ = true;
    try {
        write_behind();
    } catch (std::exception const&) {
        // There is no memory to write behind now: poll tries again.
    }
}

bool FileState::poll() {
    if (polling_) return false;  // called from a callback
    // The last owner may go meanwhile: a callback may free the file, or its last publication may end.
    std::shared_ptr<FileState> const alive = shared_from_this();
    kernel::Polling const polling(polling_);
    return move();
}

bool FileState::move() {
    bool moved = disk_->poll();
    parts_->start();
    write_behind();
    moved |= grant();
    if (std::exchange(changed_, false)) {
        shrink();
        if (queue_.empty()) look_ahead();
    }
    moved |= call_back();
    return moved;
}

PagedReport FileState::report() const {
    PagedReport report = counts_;
    report.parts = parts_->read() + counts_.parts_found;
    report.held = memory_.held() + parts_->held();
    report.peak = memory_.peak() + parts_->peak();
    report.on_disk = disk_->is_on_disk();
    report.past_cache = disk_->way() != kernel::DiskFile::Way::cached;
    return report;
}

}  // namespace sluice::paged
