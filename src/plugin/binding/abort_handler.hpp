// SPDX-License-Identifier: BSD-3-Clause
/// Whether abort() ends the process by SIGABRT. A handler of the program may leave by longjmp, or end it otherwise. Two
/// print a stack trace and end it by the signal: that of GNU Fortran's programs, and Open MPI's, which MPI_Init sets.
#pragma once

namespace sluice::plugin {

class AbortHandler {
  public:
    void before_init() noexcept;
    void after_init() noexcept;
    /// May be called in a handler of a signal.
    bool ends_by_signal() const noexcept;

  private:
    using Handler = void (*)(int);
    static Handler now() noexcept;

    Handler before_ = nullptr;
    Handler fortrans_ = nullptr;
    Handler mpis_ = nullptr;
};

}  // namespace sluice::plugin
