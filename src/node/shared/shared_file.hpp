// SPDX-License-Identifier: BSD-3-Clause
/// A file in memory, of which other processes of the node map parts. A process has one for all its arrays, so that it
/// needs one descriptor however many there are.
///
///     0                                             end
///     | array | hole: freed | array | map | . . . . . |     offsets only grow: no part ever lies where another lay
///
/// The pages of a part that is freed go back to the kernel at once, also if peers still map them: a hole is punched. A
/// peer that maps a part opens the file by the number of the process and of the descriptor, compares device and inode,
/// and closes it again.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernel/files/descriptor.hpp"

namespace sluice::node {

/// What a peer must know to map a part. It is sent byte for byte.
struct SharedPart {
    std::int32_t pid = 0;  ///< 0: nothing is shared
    std::int32_t file = -1;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< whole pages
};

/// Not thread-safe; ArrayMemory has the lock.
class SharedFile {
  public:
    /// Returns null if the system refuses it, and the reason in `why`.
    static std::shared_ptr<SharedFile> make(std::string& why);
    SharedFile(SharedFile const&) = delete;
    SharedFile& operator=(SharedFile const&) = delete;
    ~SharedFile();

    /// Adds a part of whole pages, which are there and zero from then on, and maps it. Returns null if there is no
    /// room, and the reason in `why`. Pages that are missing later would end the process by SIGBUS.
    std::byte* add(std::uint64_t bytes, SharedPart& part, std::string& why);
    /// Unmaps a part and gives its pages back. In a child of fork() the pages stay with the parent.
    void remove(std::byte* base, std::uint64_t bytes) const noexcept;
    /// In a child of fork(): puts a private view in place of a part, so that the child never writes into its parent.
    void make_private(std::byte* base, SharedPart const& part) const noexcept;
    /// Whether the descriptor still is this file: a program may close all descriptors.
    bool is_open() const noexcept;

    /// Maps a part of another process. Returns null if that is refused.
    static std::byte* map_of_peer(SharedPart const& part) noexcept;

  private:
    SharedFile(kernel::Descriptor file, dev_t device, ino_t inode);

    kernel::Descriptor file_;
    dev_t device_;
    ino_t inode_;
    pid_t owner_;
    std::uint64_t end_ = 0;
};

}  // namespace sluice::node
