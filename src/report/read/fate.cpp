// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/fate.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>

namespace sluice::report {

record::State fate_of(record::RankHead const& head, std::uint64_t now_unix_us) noexcept {
    if (head.state != record::State::running && head.state != record::State::finalizing) return head.state;
    if (head.end_seen.seen != 0) return record::State::gone;
    switch (kernel::life_of(head.process)) {
        case kernel::Life::alive:
            return head.state;
        case kernel::Life::gone:
            return record::State::gone;
        case kernel::Life::elsewhere:
            break;
    }
    return last_sign_unix_us(head) + k_silent_us < now_unix_us ? record::State::gone : record::State::unknown;
}

std::optional<RankEnd> end_of(record::RankHead const& head) noexcept {
    bool const exited = head.state == record::State::exited;
    if (head.state == record::State::aborted)
        return RankEnd{head.aborted_by_mpi != 0 ? How::failed : How::aborted, head.abort_code, head.end_unix_us};
    if (!exited && head.state != record::State::gone) return std::nullopt;
    record::EndSeen const& seen = head.end_seen;
    RankEnd end;
    end.unix_us = exited ? head.end_unix_us : seen.seen != 0 ? seen.unix_us : last_sign_unix_us(head);
    if (seen.seen != 0 && seen.status != record::k_not_told) {
        end.how = WIFSIGNALED(seen.status) ? How::killed : How::exited;
        end.code = WIFSIGNALED(seen.status) ? WTERMSIG(seen.status) : WEXITSTATUS(seen.status);
    } else if (exited) {
        end.how = How::exited;
        if (head.exit_code != record::k_not_told) end.code = head.exit_code;
    }
    return end;
}

std::uint64_t last_sign_unix_us(record::RankHead const& head) noexcept {
    return head.start_unix_us == 0 ? 0 : head.start_unix_us + std::max(head.now_us, head.end_us);
}

std::uint64_t now_unix_us() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace sluice::report
