// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/owners/splitting.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "plugin/services/job.hpp"
#include "plugin/services/requests/ticket.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin::tests {

namespace {

/// 3, 4, 7 and 99 are tags of the programs for equality in C and Fortran that both sides post as requests.
bool is_split(int peer, int tag) {
    return peer != MPI_PROC_NULL && (tag == 3 || tag == 4 || tag == 7 || tag == 99 || (tag >= 300 && tag < 400));
}

/// One message of the program.
class Message final : public OwnedRequest {
  public:
    Message(std::size_t parts, bool persistent) : OwnedRequest(parts, persistent) {}
    MPI_Request handle_for_program() const noexcept { return ticket_.handle(); }
    void describe(std::span<Part const> parts, MPI_Status& status) const noexcept override {
        OwnedRequest::describe(parts, status);
        int bytes = 0;
        int all_cancelled = 1;
        for (Part const& part : parts) {
            int count = 0;
            int cancelled = 0;
            MPI_Test_cancelled(&part.status, &cancelled);
            if (cancelled == 0) MPI_Get_count(&part.status, MPI_BYTE, &count);
            bytes += count;
            all_cancelled = std::min(all_cancelled, cancelled);
        }
        MPI_Status_set_elements(&status, MPI_BYTE, bytes);
        MPI_Status_set_cancelled(&status, all_cancelled);
    }

  private:
    Ticket ticket_;
};

struct Split {
    unsigned long messages = 0;
};

/// The call on the first element and on the rest.
template <class Next, class Buffer, class Count>
int in_two(Split& split, Call& call, bool persistent, Next next, Buffer buffer, Count count, MPI_Datatype type,
           int peer, int tag, MPI_Comm comm, MPI_Request* request) {
    if (!is_split(peer, tag)) return next(buffer, count, type, peer, tag, comm, request);
    auto const message = std::make_shared<Message>(2, persistent);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    Count const first = std::min<Count>(count, 1);
    std::ptrdiff_t const offset = static_cast<std::ptrdiff_t>(first) * extent;
    auto* const rest = reinterpret_cast<Buffer>(reinterpret_cast<std::intptr_t>(buffer) + offset);
    MPI_Request part = MPI_REQUEST_NULL;
    int code = next(buffer, first, type, peer, tag, comm, &part);
    if (code != MPI_SUCCESS) return code;
    message->set_part(0, part);
    code = next(rest, count - first, type, peer, tag, comm, &part);
    if (code != MPI_SUCCESS) return code;
    message->set_part(1, part);
    *request = message->handle_for_program();
    call.job().owned.add(*request, message);
    ++split.messages;
    return MPI_SUCCESS;
}

/// Partitioned messages stay one, with another handle for the program.
template <class Next, class... Arguments>
int under_a_ticket(Split& split, Call& call, Next next, MPI_Request* request, Arguments... arguments) {
    auto const message = std::make_shared<Message>(1, true);
    MPI_Request part = MPI_REQUEST_NULL;
    int const code = next(arguments..., &part);
    if (code != MPI_SUCCESS) return code;
    message->set_part(0, part);
    *request = message->handle_for_program();
    call.job().owned.add(*request, message);
    ++split.messages;
    return MPI_SUCCESS;
}

struct Links {
    static constexpr auto Isend = [](Split& split, Call& call, auto... all) {
        return in_two(split, call, false, all...);
    };
    static constexpr auto Issend = [](Split& split, Call& call, auto... all) {
        return in_two(split, call, false, all...);
    };
    static constexpr auto Irecv = [](Split& split, Call& call, auto... all) {
        return in_two(split, call, false, all...);
    };
    static constexpr auto Send_init = [](Split& split, Call& call, auto... all) {
        return in_two(split, call, true, all...);
    };
    static constexpr auto Ssend_init = [](Split& split, Call& call, auto... all) {
        return in_two(split, call, true, all...);
    };
    static constexpr auto Recv_init = [](Split& split, Call& call, auto... all) {
        return in_two(split, call, true, all...);
    };
    static constexpr auto partitioned = [](Split& split, Call& call, auto next, auto buffer, int partitions,
                                           MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                                           MPI_Info info, MPI_Request* request) {
        return under_a_ticket(split, call, next, request, buffer, partitions, count, type, peer, tag, comm, info);
    };
    [[maybe_unused]] static constexpr auto Psend_init = partitioned;  // MPI 4
    [[maybe_unused]] static constexpr auto Precv_init = partitioned;
};

class Splitting final : public Service {
  public:
    char const* name() const noexcept override { return "split messages"; }
    char const* setting() const noexcept override { return "watch"; }
    Needs needs() const noexcept override { return {.all_ranks = true}; }
    bool wanted(Job const&) const noexcept override { return true; }
    void start(Job& job) noexcept override { job.chains.add<Links>(split_); }
    void stop(Job& job, Ending ending) override {
        job.chains.remove<Links>(split_);
        if (ending != Ending::finalize) return;
        job.owned.leave_freed_to_mpi({MPI_Test, MPI_Request_free});
        std::fprintf(stderr, "sluice: %lu messages were split, and owned requests are %s\n", split_.messages,
                     job.owned.empty() ? "complete" : "left over");
        if (!job.owned.empty() || split_.messages == 0) std::_Exit(3);
    }

  private:
    Split split_;
};

}  // namespace

std::unique_ptr<Service> make_splitting() {
    return std::make_unique<Splitting>();
}

}  // namespace sluice::plugin::tests
