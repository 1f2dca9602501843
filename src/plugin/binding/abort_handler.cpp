// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/abort_handler.hpp"

#include <dlfcn.h>

#include <csignal>
#include <cstring>

namespace sluice::plugin {

void AbortHandler::before_init() noexcept {
    before_ = now();
    Dl_info info{};
    bool const found = dladdr(reinterpret_cast<void*>(before_), &info) != 0 && info.dli_fname != nullptr;
    if (found && std::strstr(info.dli_fname, "libgfortran") != nullptr) fortrans_ = before_;
}

void AbortHandler::after_init() noexcept {
    if (Handler const after = now(); after != before_) mpis_ = after;
}

bool AbortHandler::ends_by_signal() const noexcept {
    Handler const handler = now();
    return handler == SIG_DFL || handler == SIG_IGN || handler == fortrans_ || handler == mpis_;
}

AbortHandler::Handler AbortHandler::now() noexcept {
    struct sigaction action {};
    sigaction(SIGABRT, nullptr, &action);
    return action.sa_handler;  // or the one of three arguments, which has the same place
}

}  // namespace sluice::plugin
