// SPDX-License-Identifier: BSD-3-Clause
/// Open requests of the program: which bytes they keep busy, since which call. A table of fixed size; requests that
/// find no room in it are not counted as in flight. Requests of services are in services/owned_requests.
///
/// MPI may give a handle again as soon as it has completed a request, so with several threads another's new request can
/// be added before the call that completed the old one comes to say so. Hence each has a serial number, which a
/// completing call asks for before it calls MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

/// What is known of a request.
struct OpenRequest {
    std::uint64_t key = 0;  ///< the handle; 0: free, 1: was freed
    std::uint64_t bytes = 0;
    void const* buffer = nullptr;  ///< that it receives into, where pages of it were not resident at its start
    std::uint64_t span = 0;
    std::uint64_t absent = 0;  ///< bytes of it that were not
    std::uint32_t site = 0;
    std::uint32_t serial = 0;
    bool persistent = false;
    bool active = false;
};

/// A request that a call may complete.
struct Handle {
    MPI_Request request;
    std::uint32_t serial;
};

class Watch;

class Requests {
  public:
    explicit Requests(Watch& watch) : watch_(watch) {}
    void add(MPI_Request request, OpenRequest const& what) noexcept;
    /// Makes the persistent ones active again.
    void begin(MPI_Request const* requests, int count) noexcept;
    /// Writes down which requests the handles stand for now: with one calling thread for whatever they stand for later.
    void identify(Handle* handles, int count) noexcept;
    /// Ends one by the handle it had: its bytes are no longer in flight.
    void complete(Handle const& handle) noexcept;
    void forget(MPI_Request request) noexcept;
    /// Looks at the receive buffers of open requests again: pages of them that became resident are the application's.
    void find_own_pages() noexcept;
    bool empty() const noexcept { return look_at(kept_) == 0; }

  private:
    static constexpr unsigned k_slot_bits = 12;
    static constexpr std::size_t k_slots = std::size_t{1} << k_slot_bits;
    static constexpr std::size_t k_most = k_slots * 3 / 4;
    static constexpr std::uint32_t k_any = 0;  // serial numbers
    static constexpr std::uint32_t k_unknown = 1;
    static constexpr std::uint32_t k_first_serial = 2;
    OpenRequest* find(MPI_Request request) noexcept;
    void end(OpenRequest& slot) noexcept;
    void remove(OpenRequest& slot) noexcept;
    void find_own_pages(OpenRequest& slot) noexcept;

    Watch& watch_;
    std::mutex changing_;
    std::unique_ptr<std::array<OpenRequest, k_slots>> slots_;  // from the first request on
    std::size_t kept_ = 0;
    std::size_t incomplete_ = 0;  // with pages that were not resident
    std::uint32_t next_serial_ = k_first_serial;
};

/// Keeps the handles that a completing call is given, for it overwrites them, and drops those that it says are
/// complete.
class Completing {
  public:
    Completing(Requests& open, MPI_Request const* requests, int count) noexcept;
    void one(bool complete) noexcept { all(complete); }
    void all(bool complete) noexcept;
    void at(int index) noexcept;
    void some(int number, int const* indices) noexcept;

  private:
    static constexpr int k_few = 32;
    Requests& open_;
    int count_ = 0;
    Handle* handles_ = nullptr;
    std::array<Handle, k_few> few_;
    std::vector<Handle> many_;
};

}  // namespace sluice::plugin
