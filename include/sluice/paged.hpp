// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Data larger than memory: a file of blocks (one for each sub-cube, for example) that are read into memory before
/// their use, as a plan says, and written back after it, under the same budget as communication. A problem of twice the
/// memory then runs at the speed of the disk, which swapping does not reach ("out-of-core": the last section of Y. Shi,
/// G. Zheng, L. V. Kale, "Run-time Support for Controlling Communication-Induced Memory Fluctuation", 2007).
///
///     away ──> coming ──> here ──> in use ──> leaving ──> here ──> away
///               plan, or a task   its PagedBlocks end;   written     when others need its memory
///               that waits        was written
///
///     sluice::PagedFile file(context, cubes, bytes_of_a_cube);
///     file.plan(order, sluice::Repeat::yes);
///     sluice::Task step(...) {
///         sluice::BlockUse const uses[] = {{before, sluice::BlockAccess::read}, {after, sluice::BlockAccess::write}};
///         auto const blocks = co_await file.use(uses);
///         relax(blocks.as<double const>(0), blocks.as<double>(1));
///     }                                                  // after is written back while other tasks compute
///     sluice::publish_part(store, key, file, block, offset, bytes);     // served from the file, or from memory
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/export.h"
#include "sluice/fetch.hpp"
#include "sluice/tasks.hpp"
#include "sluice/units.hpp"

namespace sluice {

namespace paged {
class FileState;
struct UseSet;
}  // namespace paged

/// The use of a block.
enum class BlockAccess : std::uint8_t {
    read,    ///< its bytes are read and not written back
    update,  ///< its bytes are read, changed, and written back
    write,   ///< all of it is overwritten, so it is not read: its bytes are unspecified at first
};

/// The use of one block.
struct BlockUse {
    std::size_t block = 0;                     ///< number of the block in its file, from 0 on
    BlockAccess access = BlockAccess::update;  ///< what is done with it
    bool operator==(BlockUse const&) const = default;
};

/// Whether a plan begins again after its end.
enum class Repeat : bool { no, yes };

/// Blocks in memory, in the order of the uses by which they were requested. Movable; when it dies, what was written
/// goes back to the file. Several objects may hold the same block: they share its bytes, and the program orders
/// what it writes to them.
class SLUICE_API PagedBlocks {
  public:
    PagedBlocks() = default;
    PagedBlocks(PagedBlocks&& other) noexcept = default;
    PagedBlocks& operator=(PagedBlocks&& other) noexcept;
    ~PagedBlocks() { release(); }
    /// Gives the blocks back now; size() is 0 afterwards.
    void release() noexcept;

    /// The number of uses.
    std::size_t size() const noexcept { return bytes_.size(); }
    /// The bytes of one block, which this object keeps in memory.
    /// @param i number of the use, less than size()
    /// @throws Error invalid_argument for another number, for example if the blocks were released or moved from
    std::span<std::byte> operator[](std::size_t i) const;
    /// One block as elements of a trivially copyable type; bytes after the last whole element are left out.
    /// @param i number of the use, less than size()
    template <typename T>
    std::span<T> as(std::size_t i) const {
        auto const bytes = (*this)[i];
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

  private:
    friend class paged::FileState;
    std::shared_ptr<paged::FileState> file_;
    std::vector<BlockUse> uses_;
    std::vector<std::span<std::byte>> bytes_;
};

/// What `co_await file.use(...)` is made of.
struct [[nodiscard]] SLUICE_API BlocksAwaiter {
    explicit BlocksAwaiter(std::shared_ptr<paged::UseSet> asked) noexcept : set(std::move(asked)) {}
    BlocksAwaiter(BlocksAwaiter const&) = delete;
    BlocksAwaiter& operator=(BlocksAwaiter const&) = delete;
    ~BlocksAwaiter();
    bool await_ready() const noexcept;
    void await_suspend(detail::SuspendedTask waiting) const noexcept;
    PagedBlocks await_resume() const;
    std::shared_ptr<paged::UseSet> set;
};

/// The figures of a file from its creation on.
struct PagedReport {
    std::uint64_t sets = 0;         ///< granted sets of blocks
    std::uint64_t found = 0;        ///< blocks that were in memory or on their way when they were requested
    std::uint64_t brought = 0;      ///< blocks read for a plan or for a use
    std::uint64_t written = 0;      ///< blocks written back
    std::uint64_t unplanned = 0;    ///< uses that no plan contained
    std::uint64_t parts = 0;        ///< parts of blocks read for publications
    std::uint64_t parts_found = 0;  ///< parts of blocks that were in memory
    std::uint64_t beyond = 0;       ///< sets granted beyond the limit, because nothing else would have moved
    Bytes held;                     ///< bytes in memory now
    Bytes peak;                     ///< most bytes in memory at once
    bool on_disk = true;            ///< false: the folder is in memory itself, so the file saves none
    bool past_cache = true;         ///< false: the file system has no direct input and output
};

/// A file of blocks, private to a rank; making one is not collective. Threads: one at once may use it, as its
/// context. The file has no name
/// and goes with the process, however it ends; its space is reserved when it is made. Memory: 72 bytes for each block,
/// 25 for each entry of the plan, and for blocks in memory up to Settings::paged_memory; one set of blocks is always
/// granted, whatever its size. What is never written reads as zeros. Its PagedBlocks and publications may outlive it,
/// and it may outlive the Context object.
class SLUICE_API PagedFile {
  public:
    /// Makes a file with one block of each of these sizes.
    /// @param context     its budget and settings are used, and its polls move the blocks; the file keeps what it needs
    /// of it
    /// @param block_sizes sizes of the blocks, each at least 1 byte; the list may be changed after the call
    /// @throws Error invalid_argument for a size of 0; out_of_memory if the disk has no room for the blocks;
    ///         unsupported if no file can be made. The text has the numbers and the folder (setting paged_folder).
    PagedFile(Context& context, std::span<Bytes const> block_sizes);
    /// Makes a file of equal blocks.
    /// @param context as above
    /// @param blocks  number of blocks
    /// @param each    size of each block, at least 1 byte
    /// @throws Error as above
    PagedFile(Context& context, std::size_t blocks, Bytes each);
    ~PagedFile();
    PagedFile(PagedFile const&) = delete;
    PagedFile& operator=(PagedFile const&) = delete;

    /// Sets the order in which blocks will be used, instead of any earlier plan. The next blocks are read ahead, and
    /// the last ones leave memory first. The program need not keep to it: any other use is correct too, but slower.
    /// @param order  the uses, first to last
    /// @param repeat whether the plan begins again after its end
    /// @throws Error invalid_argument for a block that does not exist
    void plan(std::vector<BlockUse> order, Repeat repeat = Repeat::no);

    /// `auto blocks = co_await file.use(uses)` waits for all these blocks, until there is memory for all. Sets are
    /// granted in the order of their requests, but one that needs no further memory may go first. Request blocks last:
    /// a task that holds some and then waits for others that need its memory keeps them waiting until nothing else
    /// moves.
    /// @param uses the set; the list may be changed after the call
    /// @return what a task awaits; the co_await gives the PagedBlocks
    /// @throws Error at the co_await: invalid_argument for a block that does not exist; out_of_memory if the set alone
    ///         exceeds the memory of the process or an allocation fails; unsupported if the disk fails, also if it
    ///         failed to write a block back earlier
    BlocksAwaiter use(std::span<BlockUse const> uses);
    /// `use(BlockUse{block, access}, …)`.
    template <std::same_as<BlockUse>... Uses>
    BlocksAwaiter use(BlockUse const& first, Uses const&... others) {
        BlockUse const uses[]{first, others...};
        return use(std::span<BlockUse const>(uses));
    }
    /// The same without coroutines.
    /// @param uses the set; the list may be changed after the call
    /// @param done is called once by a poll of the context, never inside this function, with the blocks and a null
    ///             pointer, or with no blocks and the error
    void use(std::span<BlockUse const> uses, std::function<void(PagedBlocks, std::exception_ptr)> done);
    /// The same as a call that waits; communication on the context advances meanwhile.
    /// @param uses the set
    /// @return the blocks
    /// @throws Error as use()
    PagedBlocks use_now(std::span<BlockUse const> uses);

    /// For Store::publish_lazily: reads a part of a block, from memory if the block is there, otherwise from the file
    /// without the rest of the block. The part must stay unchanged until its readers have it (Store::all_have_it).
    /// @param block  number of the block
    /// @param offset where the part begins, in bytes from the beginning of the block
    /// @param bytes  size of the part
    /// @return a source, which keeps the file alive
    /// @throws Error invalid_argument for a part that is not within a block
    Store::DataSource part(std::size_t block, Bytes offset, Bytes bytes) const;

    /// Moves what can be moved, without waiting. Tasks call it between tasks.
    /// @return true if something moved
    bool progress();

    /// The figures of the file until now.
    PagedReport report() const;

  private:
    friend class paged::FileState;
    std::shared_ptr<paged::FileState> state_;
};

/// Publishes a part of a block of a file. Readers are served while their owner computes on other blocks.
/// @param store   the store of the publication
/// @param key     its name; `key.owner` must be this rank
/// @param file    the file, which the publication keeps alive
/// @param block   number of the block
/// @param offset  where the part begins, in bytes from the beginning of the block
/// @param bytes   size of the part; it must stay unchanged until all readers have it
/// @param readers number of fetches, at least 1
/// @throws Error as PagedFile::part() and Store::publish()
SLUICE_API void publish_part(Store& store, Key const& key, PagedFile const& file, std::size_t block, Bytes offset,
                             Bytes bytes, int readers = 1);

}  // namespace sluice
