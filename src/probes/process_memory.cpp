// SPDX-License-Identifier: BSD-3-Clause
#include "probes/process_memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernel/proc_text.hpp"

namespace sluice::probes {

namespace {

/// The lines of a file of /proc, read through a buffer that is always there. A line that is longer than the buffer (a
/// mapping's path) is cut off.
class ProcLines {
  public:
    explicit ProcLines(char const* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {
        if (file_ < 0) throw std::runtime_error(std::string("cannot open ") + path + ": " + std::strerror(errno));
    }
    ProcLines(ProcLines const&) = delete;
    ProcLines& operator=(ProcLines const&) = delete;
    ~ProcLines() { close(file_); }

    bool next(std::string_view& line) {
        while (true) {
            std::string_view const held(buffer_.data() + begin_, end_ - begin_);
            if (std::size_t const length = held.find('\n'); length != std::string_view::npos) {
                line = held.substr(0, length);
                begin_ += length + 1;
                return true;
            }
            if (begin_ == 0 && end_ == buffer_.size())
                begin_ = end_;  // the line does not end within the buffer: drop its middle
            std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
            ssize_t const got = read(file_, buffer_.data() + end_, buffer_.size() - end_);
            if (got <= 0) return false;
            end_ += static_cast<std::size_t>(got);
        }
    }

  private:
    int file_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::array<char, 16384> buffer_;  // on the stack, which is grown that far before the first reading
};

/// A mapping's first line: "7f00-7f01 rw-s 00000000 00:01 12 /dev/shm/segment"; the others begin with a key and a
/// colon.
bool is_mapping(std::string_view line, bool& shared) {
    std::size_t const blank = line.find(' ');
    if (blank == std::string_view::npos || line.size() < blank + 5 || line[blank - 1] == ':') return false;
    if (line.substr(0, blank).find('-') == std::string_view::npos) return false;
    shared = line[blank + 4] == 's';
    return true;
}

}  // namespace

ProcessMemory read_process_memory() {
    ProcessMemory memory{};
    ProcLines lines("/proc/self/smaps");
    bool shared = false;
    for (std::string_view line; lines.next(line);) {
        if (is_mapping(line, shared)) continue;
        if (auto const bytes = kernel::bytes_after(line, "Pss:")) (shared ? memory.shared : memory.files) += *bytes;
        if (shared) continue;
        if (auto const bytes = kernel::bytes_after(line, "Anonymous:")) {
            memory.anonymous += *bytes;
            memory.files -= std::min(memory.files, *bytes);  // it was counted in this mapping's Pss
        }
    }
    struct mallinfo2 const heap = mallinfo2();
    memory.heap = heap.uordblks + heap.hblkhd;
    return memory;
}

}  // namespace sluice::probes
