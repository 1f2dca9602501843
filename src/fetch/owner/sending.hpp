// SPDX-License-Identifier: BSD-3-Clause
/// The owner's side of the send-based scheme (paper, section 3.3.1, figure 3a). Memory is taken in phase 1, before
/// anyone can know whether there is room for the data; the control comes in phase 2, before they are sent.
///
///                     controlled: offered ──> taken by its reader with tokens ─────┐
///     send ──> packed ─┤                                                           ├──> leaving ──> freed
///                     uncontrolled ────────────────────────────────────────────────┘
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "budget/token_pool.hpp"
#include "fetch/data_check.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/wire.hpp"

namespace sluice::fetch {

class Receiving;

class Sending {
  public:
    /// `packed` only counts and refuses nothing. If `controlled` is false, data are sent at once. If `checks`, their
    /// hashes travel with them.
    Sending(Wire& wire, budget::TokenPool& packed, memory::BufferMemory& memory, bool controlled, bool checks)
        : wire_(&wire), packed_(&packed), memory_(&memory), controlled_(controlled), checks_(checks) {}
    Sending(Sending const&) = delete;
    Sending& operator=(Sending const&) = delete;
    /// `receiving` gets what this rank sends to itself.
    void set_receiving(Receiving& receiving) noexcept { receiving_ = &receiving; }

    /// Phases 1 and 2. Throws what `pack` throws, and Error.
    void send(int reader, Name const& name, std::uint64_t bytes, Store::Packer const& pack);
    /// Continues phase 2: the reader has tokens for the offered data. Throws std::bad_alloc; then nothing has changed,
    /// as in expected().
    void take(int reader, Control const& control);
    /// A reader has waited for long: it is told if `name` will not be sent, now or as soon as that is clear.
    void expected(int reader, Name const& name);
    void close(std::uint64_t epoch);
    /// After this nothing more is sent.
    void finish();
    /// Nothing more will be sent, because of the exception `why`; empty: it may be again.
    void give_up(std::string const& why);

    /// Drops the data that no reader has taken when all ranks have finished.
    void drop() noexcept { offered_.clear(); }

    static bool is_mine(std::uint64_t ticket) noexcept { return (ticket & k_mine) != 0; }
    /// The data of `ticket` have left.
    void sent(std::uint64_t ticket) { leaving_.erase(ticket); }

    bool is_quiet() const noexcept { return leaving_.empty(); }
    /// This part's figures; all others are 0.
    StoreReport figures() const;

  private:
    // Distinguishes these tickets from those of Serving.
    static constexpr std::uint64_t k_mine = std::uint64_t{1} << 63;

    struct Address {
        int reader;
        Name name;
        bool operator==(Address const&) const = default;
    };
    struct AddressHash {
        std::size_t operator()(Address const& address) const noexcept {
            return NameHash()(
                {address.name.id + static_cast<std::uint64_t>(address.reader) * 0x9e37'79b9ULL, address.name.epoch});
        }
    };
    /// Packed data.
    struct Parcel {
        memory::BufferMemory::Block memory;
        std::uint64_t bytes = 0;
        budget::Tokens tokens;
        DataHash hash{};
    };

    Parcel packed(int reader, Name const& name, std::uint64_t bytes, Store::Packer const& pack);
    void offer(Address const& to, Parcel&& parcel);
    void push(Address const& to, Parcel&& parcel);
    void start(int reader, std::uint32_t slot, std::uint64_t ticket);
    std::uint64_t keep(Parcel& parcel);
    /// Returns why `name` will not be sent any more; nothing if it may be.
    std::optional<std::string> refusal(Name const& name) const;
    bool is_closed(Name const& name) const noexcept { return closed_ && name.epoch <= *closed_; }
    /// Also if this rank has given up.
    bool will_not_send(Name const& name) const noexcept { return finished_ || !given_up_.empty() || is_closed(name); }
    void tell_that_it_will_not(Address const& to);
    void refuse_what_will_not_come();

    Wire* wire_;
    budget::TokenPool* packed_;
    memory::BufferMemory* memory_;
    Receiving* receiving_ = nullptr;
    bool controlled_;
    bool checks_;
    std::unordered_map<Address, Parcel, AddressHash> offered_;
    std::unordered_map<std::uint64_t, Parcel> leaving_;  // by ticket
    std::unordered_set<Address, AddressHash> expected_;
    std::optional<std::uint64_t> closed_;  // epochs up to this one are closed
    bool finished_ = false;
    std::string given_up_;
    std::uint64_t next_ticket_ = 0;
    std::uint64_t sent_ = 0;
    Bytes sent_bytes_;
};

}  // namespace sluice::fetch
