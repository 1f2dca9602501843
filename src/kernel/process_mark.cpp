// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process_mark.hpp"

#include <unistd.h>

#include "kernel/machine.hpp"
#include "kernel/process_stat.hpp"

namespace sluice::kernel {

ProcessMark this_process() noexcept {
    auto const own = own_process_stat();
    std::uint64_t const machine = this_machine();
    if (!own || machine == 0) return {};
    return {machine, own->started, static_cast<std::uint32_t>(getpid()), 0};
}

Life life_of(ProcessMark const& process) noexcept {
    if (process.number == 0 || process.machine == 0 || process.machine != this_machine()) return Life::elsewhere;
    auto const found = process_stat(static_cast<pid_t>(process.number));
    bool const ended = !found || found->state == 'Z' || found->state == 'X';
    return ended || found->started != process.started ? Life::gone : Life::alive;
}

}  // namespace sluice::kernel
