// SPDX-License-Identifier: BSD-3-Clause
/// A folder that is opened once, and its files, which are named by the open folder. Other users may be allowed to write
/// into it: they can put links, pipes and files of their own there at any moment, under any name that they can guess.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/files/descriptor.hpp"

namespace sluice::kernel {

/// An open file, or the reason why there is none, in words.
struct Opened {
    Descriptor file;
    struct stat status {};
    std::string why;
    explicit operator bool() const noexcept { return file.is_open(); }
};

/// Nothing here follows a link within the folder, blocks at a pipe or allocates more than names.
class Folder {
  public:
    /// A folder that the user named: a link to it is followed. Without one, `why()` gives the reason.
    static Folder named(std::string const& path);
    /// A folder of this user into which no other user can write, made with mode 0700 if there is none. Never a link.
    static Folder own(std::string const& path);
    /// The same, but nothing is made.
    static Folder own_if_there(std::string const& path);

    bool is_open() const noexcept { return folder_.is_open(); }
    /// It was open, and has been removed since.
    bool is_gone() const noexcept;
    std::string const& path() const noexcept { return path_; }
    std::string const& why() const noexcept { return why_; }
    /// "FOLDER/NAME", for messages.
    std::string path_of(std::string_view name) const { return path_ + "/" + std::string(name); }

    /// The names in it that begin with `prefix`, in no order; empty if it cannot be read.
    std::vector<std::string> names(std::string_view prefix) const;

    /// Opens a regular file to read it.
    Opened open_to_read(std::string const& name) const;
    enum class Missing { stays, is_made };
    /// Opens a file to read, write and map it: a regular file of this user with one name, which no other user has any
    /// right to. So no other user can shorten it while it is mapped. `why` is "No such file or directory" if it is
    /// missing and stays so.
    Opened open_own(std::string const& name, Missing missing) const;
    /// Makes a file to write under a new name that begins with `prefix`, with the mode that the umask gives; that name
    /// is in `name`.
    Opened make_new(std::string_view prefix, std::string& name) const;
    /// 0, or an errno.
    int rename(std::string const& from, std::string const& to) const noexcept;
    int remove(std::string const& name) const noexcept;
    /// Whether `name` still is this file.
    bool is_still(std::string const& name, struct stat const& status) const noexcept;

    /// While it lives, other processes wait that make one, too. They wait for a moment at most, because each user with
    /// the right to read the folder can hold its lock: two processes may then have their turn.
    class Turn {
      public:
        explicit Turn(Folder const& folder) noexcept;
        Turn(Turn const&) = delete;
        Turn& operator=(Turn const&) = delete;
        ~Turn();

      private:
        int folder_ = -1;
    };

  private:
    Folder(std::string path, Descriptor folder, std::string why)
        : path_(std::move(path)), folder_(std::move(folder)), why_(std::move(why)) {}

    std::string path_;
    Descriptor folder_;
    std::string why_;
};

}  // namespace sluice::kernel
