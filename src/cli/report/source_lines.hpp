// SPDX-License-Identifier: BSD-3-Clause
/// The line of a source that an address of a program or library was compiled from, as its debug information tells it.
/// libdw reads that. It is loaded when it is first needed: programs that were compiled without debug information, and
/// machines without libdw, have reports without lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace sluice::cli {

class SourceLines {
  public:
    SourceLines();
    ~SourceLines();
    SourceLines(SourceLines const&) = delete;
    SourceLines& operator=(SourceLines const&) = delete;

    /// Whether libdw is there.
    bool can_tell() const noexcept;
    /// "halo.c:97" for an address of the file, counted as its headers do; empty if nothing tells. No folder of a source
    /// is named.
    std::string at(std::filesystem::path const& file, std::uint64_t address);

  private:
    class Library;
    std::unique_ptr<Library> library_;
};

}  // namespace sluice::cli
