// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/own_stack.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <new>

namespace sluice::kernel {

namespace {

struct Work {
    void (*action)(void*) noexcept;
    void* argument;
    ucontext_t caller;
    ucontext_t inside;
};

/// Arguments of a context are ints, so the address comes in two halves.
void begin(unsigned low, unsigned high) noexcept {
    auto const* const work = reinterpret_cast<Work const*>(
        static_cast<std::uintptr_t>((static_cast<std::uint64_t>(high) << 32) | static_cast<std::uint64_t>(low)));
    work->action(work->argument);
}

/// Pages that the kernel gives when they are touched.
///
///     | may not be touched | stack <── | Work |     a context is 1 KiB and more, which the caller's stack may lack
class Stack {
  public:
    explicit Stack(std::size_t bytes) noexcept
        : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), bytes_(guard_ + bytes + k_work) {
        void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (at == MAP_FAILED) return;
        at_ = static_cast<char*>(at);
        mprotect(at_, guard_, PROT_NONE);
    }
    Stack(Stack const&) = delete;
    Stack& operator=(Stack const&) = delete;
    ~Stack() {
        if (at_ != nullptr) munmap(at_, bytes_);
    }
    bool is_there() const noexcept { return at_ != nullptr; }
    void run(void (*action)(void*) noexcept, void* argument) const noexcept {
        auto* const work = new (at_ + bytes_ - k_work) Work{action, argument, {}, {}};
        getcontext(&work->inside);
        work->inside.uc_stack.ss_sp = at_ + guard_;
        work->inside.uc_stack.ss_size = bytes_ - guard_ - k_work;
        work->inside.uc_link = &work->caller;
        auto const address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(work));
        makecontext(&work->inside, reinterpret_cast<void (*)()>(begin), 2, static_cast<unsigned>(address),
                    static_cast<unsigned>(address >> 32));
        swapcontext(&work->caller, &work->inside);
    }

  private:
    static constexpr std::size_t k_work = (sizeof(Work) + 63) / 64 * 64;
    std::size_t guard_;
    std::size_t bytes_;
    char* at_ = nullptr;
};

}  // namespace

bool on_own_stack(std::size_t stack_bytes, void (*action)(void*) noexcept, void* argument) noexcept {
    int const before = errno;
    Stack const stack(stack_bytes);
    if (stack.is_there()) stack.run(action, argument);
    errno = before;
    return stack.is_there();
}

}  // namespace sluice::kernel
