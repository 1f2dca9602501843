// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Data larger than memory: a file of blocks (one for each sub-cube, for example) that are brought into memory ahead of
/// their use, as a plan says, and written back behind it, under the same budget as communication; so a problem of twice
/// the memory runs at the pace of the disk, where swapping does not ("out-of-core": the last section of Y. Shi, G.
/// Zheng, L. V. Kale, "Run-time Support for Controlling Communication-Induced Memory Fluctuation", 2007).
///
///     away ──> coming ──> here ──> in use ──> leaving ──> here ──> away
///               plan, or a task   Blocks die;   written     when others need its memory
///               that waits        was written
///
///     sluice::paged::File file(context, cubes, bytes_of_a_cube);
///     file.plan(order, sluice::paged::Again::yes);
///     sluice::Task step(...) {
///         auto const blocks = co_await file.use(Use{before, Access::read}, Use{after, Access::write});
///         relax(blocks.as<double const>(0), blocks.as<double>(1));
///     }                                                  // after is written back while others compute
///     sluice::paged::publish(store, key, file, block, offset, bytes);     // served from the file, or from memory
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
#include "sluice/fetch.hpp"
#include "sluice/tasks.hpp"
#include "sluice/units.hpp"

namespace sluice::paged {

/// What is done with a block while it is used.
enum class Access : std::uint8_t {
    read,    ///< as it is; not written back
    update,  ///< as it is, then written back
    write,   ///< all of it is overwritten, so it need not be brought: its bytes are anything at first
};

struct Use {
    std::size_t block = 0;
    Access access = Access::update;
    bool operator==(Use const&) const = default;
};

/// Whether a plan begins anew when it has come to its end.
enum class Again : bool { no, yes };

namespace detail {
class FileState;
struct UseSet;
}  // namespace detail

/// Blocks in memory, in the order of the uses they were asked by. Movable; when it dies, what was written goes back to
/// the file. Several may hold the same block: they share its bytes, and their order is the program's business.
class Blocks {
  public:
    Blocks() = default;
    Blocks(Blocks&& other) noexcept = default;
    Blocks& operator=(Blocks&& other) noexcept;
    ~Blocks() { release(); }
    void release() noexcept;

    std::size_t size() const noexcept { return bytes_.size(); }
    std::span<std::byte> operator[](std::size_t i) const noexcept { return bytes_[i]; }
    template <typename T>
    std::span<T> as(std::size_t i) const noexcept {
        return {reinterpret_cast<T*>(bytes_[i].data()), bytes_[i].size() / sizeof(T)};
    }

  private:
    friend class detail::FileState;
    std::shared_ptr<detail::FileState> file_;
    std::vector<Use> uses_;
    std::vector<std::span<std::byte>> bytes_;
};

/// What `co_await file.use(...)` is made of.
struct [[nodiscard]] UseAwaiter {
    explicit UseAwaiter(std::shared_ptr<detail::UseSet> asked) noexcept : set(std::move(asked)) {}
    UseAwaiter(UseAwaiter const&) = delete;
    UseAwaiter& operator=(UseAwaiter const&) = delete;
    ~UseAwaiter();
    bool await_ready() const noexcept;
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept;
    Blocks await_resume() const;
    std::shared_ptr<detail::UseSet> set;
};

/// What a file has done so far, and what it holds.
struct Report {
    std::uint64_t sets = 0;         ///< of blocks, granted
    std::uint64_t found = 0;        ///< blocks that were in memory, or on their way, when they were asked for
    std::uint64_t brought = 0;      ///< blocks that were read for a plan or for a use
    std::uint64_t written = 0;      ///< blocks that were written back
    std::uint64_t unplanned = 0;    ///< uses that no plan had foreseen
    std::uint64_t parts = 0;        ///< of blocks, brought for publications
    std::uint64_t parts_found = 0;  ///< of them in memory
    std::uint64_t beyond = 0;       ///< sets that were granted beyond the limit, because nothing else would have moved
    Bytes held;                     ///< in memory now
    Bytes peak;                     ///< and at most
    bool on_disk = true;            ///< false: the folder lies in memory itself, so nothing is saved
    bool past_cache = true;         ///< false: the file system knows no direct input and output
};

/// Private to a rank; making one is not collective. Belongs to one thread. The file has no name and goes with the
/// process, however it ends; its space is reserved when it is made. Memory: 72 bytes a block, 25 for each entry of the
/// plan, and for blocks up to Settings::paged_memory; one set of blocks is always granted, whatever its size. What is
/// never written reads as zeros. Blocks, and publications of it, may outlive it, but not the context.
class File {
  public:
    /// Blocks of that many bytes each, at least 1. Throws Error(out_of_memory) where the disk has no room for them, or
    /// Error(unsupported) where no file can be made, with the numbers and the folder (setting paged_folder).
    File(Context& context, std::span<std::uint64_t const> bytes_of_blocks);
    File(Context& context, std::size_t blocks, std::uint64_t bytes_of_each);
    ~File();
    File(File const&) = delete;
    File& operator=(File const&) = delete;

    /// The order in which blocks will be used, in place of any plan before. What comes next is brought ahead, and what
    /// comes last leaves memory first. It need not be kept: any other use is right too, and slower.
    void plan(std::vector<Use> order, Again again = Again::no);

    /// `auto blocks = co_await file.use(uses)`: all of them at once, when there is memory for all. In order of asking,
    /// but what needs no more memory may go first. Throws at the co_await: Error(invalid_argument) for a block
    /// that does not exist, Error(out_of_memory) where the set alone exceeds the memory of the process or an
    /// allocation fails, Error(unsupported) where the disk fails, also where it failed to write something back.
    /// Take blocks last: a task that holds some and then waits for others that need its memory keeps them waiting
    /// until nothing else moves.
    UseAwaiter use(std::span<Use const> uses);
    template <std::same_as<Use>... Uses>
    UseAwaiter use(Use const& first, Uses const&... others) {
        Use const uses[]{first, others...};
        return use(std::span<Use const>(uses));
    }
    /// Without coroutines: `done` is called from what the context polls, with the error instead of blocks.
    void use(std::span<Use const> uses, std::function<void(Blocks, std::exception_ptr)> done);
    /// Waits, and lets communication on the context move meanwhile.
    Blocks use_now(std::span<Use const> uses);

    /// For Store::publish_elsewhere: a part of a block, from memory where it is there, else read from the file by
    /// itself, without its block. It must stay as it is until its readers have it (Store::read).
    fetch::Store::Bring part(std::size_t block, std::uint64_t offset, std::uint64_t bytes) const;

    /// Moves what can be moved, without waiting; Tasks do it between them.
    bool progress();

    Report report() const;

    /// For tests: after `n` more operations of the disk the next `failures` fail with `error`, an errno.
    void fail_disk(std::uint64_t n, std::uint64_t failures, int error);

  private:
    std::shared_ptr<detail::FileState> state_;
};

/// Data that live in a file, for others to fetch. Readers are served while their owner computes on other blocks.
void publish(fetch::Store& store, fetch::Key const& key, File const& file, std::size_t block, std::uint64_t offset,
             std::uint64_t bytes, int readers = 1);

}  // namespace sluice::paged
