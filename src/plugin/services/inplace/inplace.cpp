// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/inplace/inplace.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "collectives/device_blocks.hpp"
#include "collectives/inplace_alltoall.hpp"
#include "groups/tags.hpp"
#include "kernel/device/device_memory.hpp"
#include "memory/leased.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/services/inplace/blocks_of_call.hpp"
#include "plugin/services/inplace/host_copy.hpp"
#include "plugin/services/inplace/sent_copy.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/requests/owned_requests.hpp"
#include "plugin/watch/call.hpp"
#include "sluice/collectives.hpp"
#include "sluice/error.hpp"

namespace sluice::plugin {

namespace {

using collectives::InplaceBlocks;

/// A communicator of the program, whose members are numbered as in the communicator of all ranks.
struct Numbered {
    Communicators* communicators;
    MPI_Comm comm;
};

int world_rank_of(void const* argument, int member) {
    auto const& numbered = *static_cast<Numbered const*>(argument);
    return numbered.communicators->world_rank(numbered.comm, member);
}

/// Runs Sluice's own code, in which MPI runs no function of the program.
template <class Action>
int code_of(Action const& action) {
    try {
        action();
        return MPI_SUCCESS;
    } catch (Error const& error) {
        return collectives::mpi_class_of(error);
    } catch (std::bad_alloc const&) {
        return MPI_ERR_NO_MEM;
    }
}

/// What calls have in common.
class Serving {
  public:
    /// Counters of the rank's record.
    struct Counts {
        std::uint64_t& served;
        std::uint64_t& copied;  ///< nonblocking calls that MPI performs on a copy
    };

    Serving(budget::ProcessBudget& memory, MPI_Comm all, Settings const& settings, Counts counts)
        : memory_(memory),
          all_(all),
          counts_(counts),
          staging_(settings.inplace_staging),
          peers_(settings.transport == Transport::automatic),
          pool_(&memory.budget()) {
        int* upper = nullptr;
        int found = 0;
        if (MPI_Comm_get_attr(all, MPI_TAG_UB, &upper, &found) == MPI_SUCCESS && found != 0)
            tags_ = groups::tags::served(*upper);
    }

    MPI_Comm all() const noexcept { return all_; }
    void count_copy() noexcept { add(counts_.copied, 1); }

    /// The ranks of a call; size 0 if it is not served. Depends only on what its members agreed on. `in` must live as
    /// long as the call.
    groups::Members members_of(Numbered const& in) const {
        Known const known = in.communicators->find(in.comm);
        groups::Members members;
        members.size = 0;
        if (known.id == 0 || known.size < 2) return members;
        if (known.id >= static_cast<std::uint32_t>(tags_.count)) return members;
        members.comm = all_;
        members.rank = known.rank;
        members.size = known.size;
        members.tag = tags_[static_cast<int>(known.id)];
        members.in_comm =
            known.ranks.is_regular() ? groups::RankMap(known.ranks) : groups::RankMap::function(world_rank_of, &in);
        return members;
    }

    /// Runs a call, counts it, and has the communicator's error handler told of what goes wrong. `largest`: bytes of
    /// the largest block, which MPI would put aside.
    std::optional<int> serve(Call& call, MPI_Comm comm, groups::Members const& members, InplaceBlocks const& blocks,
                             std::uint64_t largest) {
        memory_.look_if_due();
        AlltoallReport report;
        int const code = run(members, blocks, report);
        record::RankHead& head = call.watch().record().head;
        call.serves(report.exchanged.count);
        add(counts_.served, 1);
        if (largest > report.staging.count)
            head.saved_bytes = std::max(head.saved_bytes, largest - report.staging.count);
        if (code != MPI_SUCCESS) MPI_Comm_call_errhandler(comm, code);
        return code;
    }

  private:
    int run(groups::Members const& members, InplaceBlocks const& blocks, AlltoallReport& report) {
        collectives::InplaceMeans const means{peers_, pool_, staging_};
        if (kernel::device_library() == nullptr) return collectives::run_in_place(means, members, blocks, &report);
        if (collectives::device_of(blocks, members.rank, members.size) == nullptr)
            return collectives::run_in_place(means, members, blocks, &report);
        std::optional<HostCopy> copy;
        int code = code_of([&] { copy.emplace(blocks, members.rank, members.size, all_, memory_.budget()); });
        if (code != MPI_SUCCESS) return code;
        code = collectives::run_in_place(means, members, copy->blocks(), &report);
        int const unpacked = code_of([&] { copy->unpack(); });
        return code != MPI_SUCCESS ? code : unpacked;
    }

    budget::ProcessBudget& memory_;
    MPI_Comm all_;
    Counts counts_;
    Bytes staging_;
    node::RemoteMemory peers_;
    memory::StagingPool pool_;
    groups::TagRange tags_ = groups::tags::served(groups::tags::k_largest);
};

/// In the place of Serving where a rank has MPI_THREAD_MULTIPLE: the calls that would have been served are counted. The
/// members of a communicator have agreed on no tag then; their number is enough here.
class LeftToMpi {
  public:
    explicit LeftToMpi(std::uint64_t& left) noexcept : left_(left) {}

    /// Nothing is served, so MPI need not be asked.
    MPI_Comm all() const noexcept { return MPI_COMM_NULL; }

    groups::Members members_of(Numbered const& in) const {
        Known const known = in.communicators->find(in.comm);
        groups::Members members;
        members.size = known.size;
        members.rank = known.rank;
        return members;
    }
    std::optional<int> serve(Call&, MPI_Comm, groups::Members const&, InplaceBlocks const&, std::uint64_t) {
        count();
        return std::nullopt;
    }
    void count() noexcept { add(left_, 1); }

  private:
    std::uint64_t& left_;
};

/// Where blocks differ in size a threshold cannot be agreed on without speaking first, so all are served; but two ranks
/// have one pair, whose bytes are the same on both.
template <class Count, class Types>
bool is_worth(BlocksOfCall& blocks, groups::Members const& members, Count const counts[], Types types) {
    if (members.size != 2) return members.size > 2;
    return collectives::worth_serving_alltoall(blocks.bytes_of(1 - members.rank, counts, types), 2);
}

/// The program's arguments, for both kinds of counts. What is not served goes on to `next`. `Server`: Serving or
/// LeftToMpi.
template <class Server, class Next, class Count>
int alltoall(Server& serving, Call& call, Next next, void const* sendbuf, Count sendcount, MPI_Datatype sendtype,
             void* recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    if (placed(sendbuf) && recvcount > 0) {
        Numbered const in{&call.watch().communicators(), comm};
        groups::Members const members = serving.members_of(in);
        auto const pair = BlocksOfCall(call, serving.all()).bytes_at(recvbuf, 0, recvcount, recvtype);
        if (members.size > 1 && pair && collectives::worth_serving_alltoall(*pair, members.size)) {
            InplaceBlocks const blocks = InplaceBlocks::alltoall(recvbuf, recvcount, recvtype);
            if (auto const code = serving.serve(call, comm, members, blocks, *pair)) return *code;
        }
    }
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

template <class Server, class Next, class Count, class Displacement>
int alltoallv(Server& serving, Call& call, Next next, void const* sendbuf, Count const* sendcounts,
              Displacement const* sdispls, MPI_Datatype sendtype, void* recvbuf, Count const* recvcounts,
              Displacement const* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
    if (placed(sendbuf) && recvcounts != nullptr && rdispls != nullptr) {
        Numbered const in{&call.watch().communicators(), comm};
        groups::Members const members = serving.members_of(in);
        BlocksOfCall of(call, serving.all());
        auto const largest = of.largest_at(recvbuf, recvcounts, rdispls, recvtype, members.size);
        if (largest && is_worth(of, members, recvcounts, recvtype)) {
            InplaceBlocks const blocks = InplaceBlocks::alltoallv(recvbuf, recvcounts, rdispls, recvtype);
            if (auto const code = serving.serve(call, comm, members, blocks, *largest)) return *code;
        }
    }
    return next(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

template <class Server, class Next, class Count, class Displacement>
int alltoallw(Server& serving, Call& call, Next next, void const* sendbuf, Count const* sendcounts,
              Displacement const* sdispls, MPI_Datatype const* sendtypes, void* recvbuf, Count const* recvcounts,
              Displacement const* rdispls, MPI_Datatype const* recvtypes, MPI_Comm comm) {
    if (placed(sendbuf) && recvcounts != nullptr && rdispls != nullptr && recvtypes != nullptr) {
        Numbered const in{&call.watch().communicators(), comm};
        groups::Members const members = serving.members_of(in);
        BlocksOfCall of(call, serving.all());
        auto const largest = of.largest_at(recvbuf, recvcounts, rdispls, recvtypes, members.size);
        if (largest && is_worth(of, members, recvcounts, recvtypes)) {
            InplaceBlocks const blocks = InplaceBlocks::alltoallw(recvbuf, recvcounts, rdispls, recvtypes);
            if (auto const code = serving.serve(call, comm, members, blocks, *largest)) return *code;
        }
    }
    return next(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

/// MPI's own request, and what MPI may read until it is complete: the copy, and the arrays that are Sluice's own.
template <class Count, class Displacement>
class ReadsCopy final : public OwnedRequest {
  public:
    ReadsCopy(InplaceBlocks const& blocks, Count const* counts, groups::Members const& members, Budget const& budget)
        : OwnedRequest(1, false),
          copy(blocks, members.rank, members.size, budget),
          sendcounts(static_cast<std::size_t>(members.size), 0, memory::LeasedAllocator<Count>(budget)),
          receivecounts(sendcounts),
          no_displacements(sendcounts.size(), 0, memory::LeasedAllocator<Displacement>(budget)) {
        for (std::size_t i = 0; i < sendcounts.size(); ++i) {
            if (copy.bytes_to(i) == 0) continue;
            sendcounts[i] = 1;
            receivecounts[i] = counts[i];
        }
    }

    bool is_collective() const noexcept override { return true; }
    /// MPI says nothing of such a call.
    void describe(std::span<Part const>, MPI_Status& status) const noexcept override { status = MPI_Status(); }

    SentCopy const copy;
    memory::LeasedVector<Count> sendcounts;
    memory::LeasedVector<Count> receivecounts;  // the own block stays as it is
    memory::LeasedVector<Displacement> const no_displacements;
};

/// A function of the program may leave the call by an exception: MPI may have begun, and goes on reading.
class LeftToMpiIfThrown {
  public:
    LeftToMpiIfThrown(OwnedRequests& owned, std::shared_ptr<OwnedRequest> request) noexcept
        : owned_(owned), request_(std::move(request)) {}
    LeftToMpiIfThrown(LeftToMpiIfThrown const&) = delete;
    LeftToMpiIfThrown& operator=(LeftToMpiIfThrown const&) = delete;
    ~LeftToMpiIfThrown() {
        if (std::uncaught_exceptions() > before_) owned_.leave_to_mpi(std::move(request_));
    }

  private:
    OwnedRequests& owned_;
    std::shared_ptr<OwnedRequest> request_;
    int const before_ = std::uncaught_exceptions();
};

/// MPICH (4.0.2 and before, at least) gives wrong data in MPI_Ialltoallw in place where two ranks spell the types of
/// their pair differently. Our engine cannot serve it: it needs the processor of both sides, and a program may wait for
/// a peer in any call of MPI. So the blocks are copied, and the call goes on as one that is not in place.
template <class Next, class Count, class Displacement>
int ialltoallw_of_copy(Serving& serving, Call& call, Next next, groups::Members const& members, void* recvbuf,
                       Count const* recvcounts, Displacement const* rdispls, MPI_Datatype const* recvtypes,
                       MPI_Comm comm, MPI_Request* request) {
    std::shared_ptr<ReadsCopy<Count, Displacement>> kept;
    int code = code_of([&] {
        InplaceBlocks const blocks = InplaceBlocks::alltoallw(recvbuf, recvcounts, rdispls, recvtypes);
        kept =
            std::make_shared<ReadsCopy<Count, Displacement>>(blocks, recvcounts, members, call.job().memory.budget());
    });
    if (code != MPI_SUCCESS) {
        MPI_Comm_call_errhandler(comm, code);
        return code;
    }
    LeftToMpiIfThrown const leaving(call.job().owned, kept);
    code = next(kept->copy.buffer(), kept->sendcounts.data(), kept->no_displacements.data(), kept->copy.types(),
                recvbuf, kept->receivecounts.data(), rdispls, recvtypes, comm, request);
    if (code != MPI_SUCCESS) return code;
    call.serves(kept->copy.bytes());
    serving.count_copy();
    kept->set_part(0, *request);
    call.job().owned.add(*request, kept);
    return code;
}

template <class Server, class Next, class Count, class Displacement>
int ialltoallw(Server& serving, Call& call, Next next, void const* sendbuf, Count const* sendcounts,
               Displacement const* sdispls, MPI_Datatype const* sendtypes, void* recvbuf, Count const* recvcounts,
               Displacement const* rdispls, MPI_Datatype const* recvtypes, MPI_Comm comm, MPI_Request* request) {
    if (placed(sendbuf) && recvcounts != nullptr && rdispls != nullptr && recvtypes != nullptr && request != nullptr) {
        Numbered const in{&call.watch().communicators(), comm};
        groups::Members const members = serving.members_of(in);
        if (members.size > 1 &&
            BlocksOfCall(call, serving.all()).largest_at(recvbuf, recvcounts, rdispls, recvtypes, members.size)) {
            if constexpr (std::is_same_v<Server, Serving>)
                return ialltoallw_of_copy(serving, call, next, members, recvbuf, recvcounts, rdispls, recvtypes, comm,
                                          request);
            else
                serving.count();
        }
    }
    return next(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
}

template <class Server>
struct InplaceLinks {
    static constexpr auto Alltoall = [](Server& serving, Call& call, auto... rest) {
        return alltoall(serving, call, rest...);
    };
    static constexpr auto Alltoallv = [](Server& serving, Call& call, auto... rest) {
        return alltoallv(serving, call, rest...);
    };
    static constexpr auto Alltoallw = [](Server& serving, Call& call, auto... rest) {
        return alltoallw(serving, call, rest...);
    };
#ifdef MPICH_VERSION
    static constexpr auto Ialltoallw = [](Server& serving, Call& call, auto... rest) {
        return ialltoallw(serving, call, rest...);
    };
#endif
};

class Inplace final : public Service {
  public:
    char const* name() const noexcept override { return "all-to-alls in place"; }
    char const* setting() const noexcept override { return "inplace"; }
    Needs needs() const noexcept override { return {.all_ranks = true, .one_thread = true, .calls_of_many = true}; }
    bool wanted(Job const& job) const noexcept override { return job.settings.inplace == Switch::on; }
    /// A rank that has loaded the library of a device in MPI_Init or before may pass memory of the device, which is for
    /// an MPI that knows it; the ranks agree that none serves then.
    std::optional<std::string> prepare(Job& job) override {
        if (char const* const library = kernel::device_library())
            return std::string(library) + " is loaded, so buffers may be on a device: they are left to the MPI";
        // Lives on: peers read the nonce in it until they have left their last call.
        serving_ = std::make_unique<Serving>(
            job.memory, job.all.get(), job.settings,
            Serving::Counts{job.counter(name(), "calls served"), job.counter(name(), "nonblocking calls copied")});
        return std::nullopt;
    }
    void start(Job& job) noexcept override { job.chains.add<InplaceLinks<Serving>>(*serving_); }
    void leave_to_mpi(Job& job) noexcept override {
        serving_.reset();
        left_to_mpi_.emplace(job.counter(name(), "calls left to MPI (MPI_THREAD_MULTIPLE)"));
        job.chains.add<InplaceLinks<LeftToMpi>>(*left_to_mpi_);
    }
    void stop(Job& job, Ending ending) override {
        if (left_to_mpi_) {
            job.chains.remove<InplaceLinks<LeftToMpi>>(*left_to_mpi_);
            return;
        }
        job.chains.remove<InplaceLinks<Serving>>(*serving_);
        if (ending != Ending::finalize) return;
        MPI_Barrier(serving_->all());  // after it no peer touches this rank's memory
        serving_.reset();
    }

  private:
    std::unique_ptr<Serving> serving_;
    std::optional<LeftToMpi> left_to_mpi_;
};

}  // namespace

std::unique_ptr<Service> make_inplace() {
    return std::make_unique<Inplace>();
}

}  // namespace sluice::plugin
