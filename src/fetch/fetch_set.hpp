/// A fetch set R = {F1, F2, …, Fn, W} (paper, section 3.4): fetches that are posted together, and the task that waits
/// for them all.
///
///     posted ──> (asked whether published, queued) ──> granted ──> complete
///                                             tokens for all        every fetch has its data, or an error
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "budget/token_pool.hpp"
#include "fetch/wire.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch::detail {

/// Memory for the data of messages: where a test can let it fail.
class BufferMemory {
  public:
    struct Free {
        void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
    };
    using Block = std::unique_ptr<std::byte, Free>;

    /// Null where there is no memory.
    Block allocate(std::uint64_t bytes) noexcept {
        if (allowed_ == 0 && failures_ > 0) {
            --failures_;
            return nullptr;
        }
        if (allowed_ > 0 && failures_ > 0) --allowed_;
        return Block(static_cast<std::byte*>(std::malloc(bytes > 0 ? bytes : 1)));
    }
    void fail_after(std::uint64_t n, std::uint64_t failures) noexcept {
        allowed_ = n;
        failures_ = failures;
    }

  private:
    std::uint64_t allowed_ = 0;
    std::uint64_t failures_ = 0;
};

/// Data of one key on the reader, shared by the sets that asked for it while it was here.
struct Buffer {
    BufferMemory::Block memory;
    std::uint64_t bytes = 0;
    Tokens tokens;
    bool complete = false;
};

struct FetchSet {
    std::vector<Want> wants;
    std::vector<std::shared_ptr<Buffer>> buffers;  // by want
    Tokens tokens;                                 // that no buffer has taken yet
    std::size_t missing = 0;                       // fetches without an end, or sizes while these are asked for
    std::uint64_t bytes = 0;
    std::uint32_t passed_over = 0;  // by sets that were posted later
    bool tentative = false;
    std::atomic<bool> complete = false;  // from then on only the owner's thread looks at it
    bool abandoned = false;              // nobody waits any more
    std::exception_ptr error;
    sluice::detail::TaskPromise* task = nullptr;
    std::function<void(Fetched, std::exception_ptr)> done;

    /// Phase 7: to the application.
    Fetched take() {
        Fetched fetched;
        fetched.buffers_ = std::move(buffers);
        return fetched;
    }
};

struct KeyHash {
    std::size_t operator()(Key const& key) const noexcept {
        return NameHash()({key.id + static_cast<std::uint64_t>(key.owner) * 0x9e37'79b9ULL, key.epoch});
    }
};

std::string text_of(Key const& key);

}  // namespace sluice::fetch::detail
