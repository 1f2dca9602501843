// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/end/last_words.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "kernel/files/folder.hpp"
#include "kernel/process_mark.hpp"
#include "kernel/thread/faults.hpp"
#include "plugin/binding/say.hpp"
#include "record/node_file.hpp"

namespace sluice::plugin {

namespace {

constexpr std::chrono::milliseconds k_between_ends{1};
constexpr int k_most_looks_at_ends = 10'000;

struct LastWords {
    std::string lines;
    std::vector<kernel::ProcessMark> others;
};
// Lives as long as the process.
constinit LastWords* g_kept = nullptr;

std::vector<kernel::ProcessMark> other_ranks_in(record::RecordFile& file) {
    std::vector<kernel::ProcessMark> others;
    if (!file.in_file()) return others;
    record::NodeFile const node(kernel::Folder::named(file.folder()), file.name());
    for (std::uint64_t i = 0; i < node.whole(); ++i) {
        record::RankHead head;
        if (node.read_head(i, head) && head.process != file.record().head.process) others.push_back(head.process);
    }
    return others;
}

void wait_for_the_end_of(std::vector<kernel::ProcessMark>& others) {
    for (int pauses = 0; pauses < k_most_looks_at_ends; ++pauses) {
        std::erase_if(others,
                      [](kernel::ProcessMark const& rank) { return kernel::life_of(rank) != kernel::Life::alive; });
        if (others.empty()) return;
        std::this_thread::sleep_for(k_between_ends);
    }
}

/// What the program has written to streams and not closed. Another thread may hold the lock of a stream for ever;
/// exit() does not wait for it either.
void flush_streams() noexcept {
    if (kernel::count_threads() == 1) std::fflush(nullptr);
}

}  // namespace

void keep_last_words(std::string const& lines, record::RecordFile& file) {
    if (g_kept == nullptr) g_kept = new LastWords;
    g_kept->lines += lines;
    g_kept->others = other_ranks_in(file);
}

void say_last_words() noexcept {
    LastWords* const words = std::exchange(g_kept, nullptr);
    if (words == nullptr) return;
    // If a stream has no reader, exit() ends the process by SIGPIPE: so does this, once the lines are printed.
    sigset_t sigpipe;
    sigset_t before;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    flush_streams();
    try {
        wait_for_the_end_of(words->others);
        say_lines(words->lines);
    } catch (std::exception const&) {  // no memory
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace sluice::plugin
