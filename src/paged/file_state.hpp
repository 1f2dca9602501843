// SPDX-License-Identifier: BSD-3-Clause
/// The blocks of a paged file, the sets that use them and the sets that wait for them.
///
///     post ──> queue ──> granted: memory for all its blocks ──> complete: all of them are in memory
///                 │                  from: room under the limit, else
///                 └ reading ahead    unused blocks, the one that is needed last first
///                   goes on only while no set waits here
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/context_state.hpp"
#include "kernel/disk_file.hpp"
#include "kernel/progress.hpp"
#include "memory/block_memory.hpp"
#include "paged/paging_plan.hpp"
#include "paged/part_reads.hpp"
#include "sluice/paged.hpp"
#include "tasks/waiting.hpp"

namespace sluice::paged {

inline std::uint64_t whole_sectors(std::uint64_t bytes) {
    constexpr std::uint64_t k_sector = kernel::DiskFile::k_sector;
    return (bytes + k_sector - 1) / k_sector * k_sector;
}

/// Blocks that are requested together, and the task that waits for them.
struct UseSet : tasks::Waiting<PagedBlocks> {
    std::vector<BlockUse> uses;
    bool granted = false;
    PagedBlocks blocks;
};

class FileState final : public kernel::Pollable, public std::enable_shared_from_this<FileState> {
  public:
    FileState(Context& context, std::span<Bytes const> block_sizes);
    ~FileState();
    FileState(FileState const&) = delete;
    FileState& operator=(FileState const&) = delete;

    /// What a file holds. Tests make its disk fail.
    static FileState& of(PagedFile const& file) noexcept { return *file.state_; }

    void plan(std::vector<BlockUse> order, bool again);
    void post(std::shared_ptr<UseSet> const& set);
    void release(std::span<BlockUse const> uses);
    void bring(std::size_t number, std::uint64_t offset, std::uint64_t bytes, Store::DataSink brought);
    void check(std::size_t block, std::uint64_t offset, std::uint64_t bytes) const;
    /// Throws inside a callback of this file, because a call that waits there would wait for ever.
    void check_no_callback(char const* what) const;

    bool poll() override;
    void stall() override;
    bool is_under_way() const noexcept override { return disk_->under_way() > 0; }

    void wait_a_moment() noexcept override { disk_->wait_a_moment(); }
    void tell_endless(kernel::EndlessWaits& waits) override {
        bool const idle = queue_.empty() && waiting_.empty() && called_back_.empty() && !polling_ &&
                          disk_->under_way() == 0 && parts_->is_idle();
        if (!idle) waits.may_end();
    }

    engine::ContextState& context() noexcept { return *context_; }
    kernel::DiskFile& disk() noexcept { return *disk_; }
    PagedReport report() const;

  private:
    enum class State : std::uint8_t { away, coming, here, leaving };
    struct Block {
        std::uint64_t at = 0;  // position in the file
        std::uint64_t bytes = 0;
        memory::BlockRoom room;
        std::uint64_t seen = 0;    // number of the last look ahead that met it
        std::uint64_t left = 0;    // the count of uses when it was last used
        std::size_t resident = 0;  // its index in residents_, unless it is absent
        std::uint32_t users = 0;
        State state = State::away;
        bool written = false;  // written, and not yet given to the disk
        bool hollow = false;   // to be overwritten: its memory holds no data yet
        bool lost = false;     // could not be read: it goes when the sets that waited for it have gone
    };
    enum class Beyond : bool { no, yes };

    bool move();
    bool grant();
    bool try_grant(std::shared_ptr<UseSet> const& set, Beyond beyond);
    bool needs_memory(UseSet const& set) const;
    bool has_to_wait_for_others(UseSet const& set, Beyond beyond) const;
    std::exception_ptr fault_of(UseSet const& set) const;
    void pin(UseSet const& set);
    void unpin(UseSet const& set);
    bool make_rooms(UseSet const& set, Beyond beyond, std::vector<memory::BlockRoom>& rooms);
    PagedBlocks blocks_of(UseSet const& set);
    void bring_in(std::shared_ptr<UseSet> const& set, std::vector<memory::BlockRoom> rooms);
    void complete(std::shared_ptr<UseSet> const& set);
    static void leave_behind(UseSet& set) noexcept;
    bool call_back();

    memory::BlockRoom make_room(std::uint64_t bytes, std::optional<std::uint64_t> needed_after);
    void begin_read(std::size_t block);
    void has_come(std::size_t block, int error);
    void begin_write(std::size_t block);
    void has_left(std::size_t block, int error);
    void settle(std::size_t block, memory::BlockRoom room, State state);
    void drop(std::size_t number);
    std::optional<std::size_t> last_needed(std::uint64_t bytes, std::optional<std::uint64_t> needed_after) const;
    void write_behind();
    void look_ahead();
    void shrink();
    std::string text_of(std::size_t block) const;

    std::shared_ptr<engine::ContextState> context_;  // a file may outlive its Context
    memory::BlockMemory memory_;
    PagingPlan plan_;
    std::vector<Block> blocks_;
    std::optional<PartReads> parts_;
    std::optional<kernel::DiskFile> disk_;  // destroyed first: it may still write to the memory of the other members
    std::vector<std::size_t> residents_;    // blocks that are not absent
    std::deque<std::shared_ptr<UseSet>> queue_;
    std::unordered_map<std::size_t, std::vector<std::shared_ptr<UseSet>>>
        waiting_;  // granted sets, by the block that they wait for
    std::deque<std::shared_ptr<UseSet>> called_back_;
    std::uint64_t in_use_ = 0;  // sum of the blocks' users
    std::size_t coming_ = 0;    // blocks being read
    std::uint64_t looks_ = 0;
    std::uint64_t uses_ = 0;  // uses that have ended
    bool changed_ = false;    // whether another look ahead could find something new
    bool polling_ = false;
    std::string failure_;  // an error of writing back that no caller has been told of
    PagedReport counts_;
};

}  // namespace sluice::paged
