// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/check/links.hpp"

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "plugin/services/check/check.hpp"
#include "plugin/services/job.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

namespace {

bool is_root(Call const& call, MPI_Comm comm, int root) {
    return call.watch().communicators().find(comm).rank == root;
}

/// Data of a buffer, unless MPI_IN_PLACE stands for it.
Data of(void const* buffer, MPI_Count count, MPI_Datatype type) {
    return placed(buffer) ? Data{} : Data{count, type};
}

template <class Count>
auto each(Count const* counts, MPI_Datatype type) {
    return [=](int member) { return counts != nullptr ? Data{counts[member], type} : Data{}; };
}
template <class Count>
auto each(Count const* counts, MPI_Datatype const* types) {
    return [=](int member) {
        return counts != nullptr && types != nullptr ? Data{counts[member], types[member]} : Data{};
    };
}

/// The communicator, which is the last of a collective call's arguments.
template <class... Arguments>
MPI_Comm comm_of(Arguments... arguments) {
    return std::get<sizeof...(arguments) - 1>(std::make_tuple(arguments...));
}

/// The call itself, or the code of a call that was refused. The handler may leave by an exception.
template <class Next, class... Arguments>
int go_on(int code, Next next, Arguments... arguments) {
    if (code == MPI_SUCCESS) return next(arguments...);
    MPI_Comm_call_errhandler(comm_of(arguments...), code);
    return code;
}

struct CheckLinks {
    static constexpr auto Barrier = [](Check& check, Call& call, auto next, MPI_Comm comm) {
        return go_on(check.same({Function::Barrier, call.site(), comm}), next, comm);
    };
    static constexpr auto Bcast = [](Check& check, Call& call, auto next, void* buffer, auto count, MPI_Datatype type,
                                     int root, MPI_Comm comm) {
        int const code = check.same({Function::Bcast, call.site(), comm, root}, {count, type});
        return go_on(code, next, buffer, count, type, root, comm);
    };
    static constexpr auto Reduce = [](Check& check, Call& call, auto next, void const* sendbuf, void* recvbuf,
                                      auto count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
        int const code = check.same({Function::Reduce, call.site(), comm, root}, {count, type});
        return go_on(code, next, sendbuf, recvbuf, count, type, op, root, comm);
    };
    template <Function function>
    static constexpr auto reduction = [](Check& check, Call& call, auto next, void const* sendbuf, void* recvbuf,
                                         auto count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
        return go_on(check.same({function, call.site(), comm}, {count, type}), next, sendbuf, recvbuf, count, type, op,
                     comm);
    };
    static constexpr auto Allreduce = reduction<Function::Allreduce>;
    static constexpr auto Scan = reduction<Function::Scan>;
    static constexpr auto Exscan = reduction<Function::Exscan>;
    static constexpr auto Reduce_scatter_block = reduction<Function::Reduce_scatter_block>;
    static constexpr auto Reduce_scatter = [](Check& check, Call& call, auto next, void const* sendbuf, void* recvbuf,
                                              auto const* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
        int const code = check.listed({Function::Reduce_scatter, call.site(), comm}, {}, each(counts, type));
        return go_on(code, next, sendbuf, recvbuf, counts, type, op, comm);
    };

    static constexpr auto Gather = [](Check& check, Call& call, auto next, void const* sendbuf, auto sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, auto recvcount, MPI_Datatype recvtype,
                                      int root, MPI_Comm comm) {
        Data const takes = is_root(call, comm, root) ? Data{recvcount, recvtype} : Data{};
        int const code =
            check.same({Function::Gather, call.site(), comm, root}, of(sendbuf, sendcount, sendtype), takes);
        return go_on(code, next, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    };
    static constexpr auto Scatter = [](Check& check, Call& call, auto next, void const* sendbuf, auto sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, auto recvcount, MPI_Datatype recvtype,
                                       int root, MPI_Comm comm) {
        Data const gives = is_root(call, comm, root) ? Data{sendcount, sendtype} : Data{};
        int const code =
            check.same({Function::Scatter, call.site(), comm, root}, gives, of(recvbuf, recvcount, recvtype));
        return go_on(code, next, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    };
    template <Function function>
    static constexpr auto all_to_all = [](Check& check, Call& call, auto next, void const* sendbuf, auto sendcount,
                                          MPI_Datatype sendtype, void* recvbuf, auto recvcount, MPI_Datatype recvtype,
                                          MPI_Comm comm) {
        int const code =
            check.same({function, call.site(), comm}, of(sendbuf, sendcount, sendtype), {recvcount, recvtype});
        return go_on(code, next, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    };
    static constexpr auto Allgather = all_to_all<Function::Allgather>;
    static constexpr auto Alltoall = all_to_all<Function::Alltoall>;

    static constexpr auto Gatherv = [](Check& check, Call& call, auto next, void const* sendbuf, auto sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, auto const* counts, auto const* places,
                                       MPI_Datatype recvtype, int root, MPI_Comm comm) {
        int const code = check.with_root({Function::Gatherv, call.site(), comm, root}, of(sendbuf, sendcount, sendtype),
                                         each(counts, recvtype));
        return go_on(code, next, sendbuf, sendcount, sendtype, recvbuf, counts, places, recvtype, root, comm);
    };
    static constexpr auto Scatterv = [](Check& check, Call& call, auto next, void const* sendbuf, auto const* counts,
                                        auto const* places, MPI_Datatype sendtype, void* recvbuf, auto recvcount,
                                        MPI_Datatype recvtype, int root, MPI_Comm comm) {
        int const code = check.with_root({Function::Scatterv, call.site(), comm, root},
                                         of(recvbuf, recvcount, recvtype), each(counts, sendtype));
        return go_on(code, next, sendbuf, counts, places, sendtype, recvbuf, recvcount, recvtype, root, comm);
    };
    static constexpr auto Allgatherv = [](Check& check, Call& call, auto next, void const* sendbuf, auto sendcount,
                                          MPI_Datatype sendtype, void* recvbuf, auto const* counts, auto const* places,
                                          MPI_Datatype recvtype, MPI_Comm comm) {
        int const code = check.listed({Function::Allgatherv, call.site(), comm}, of(sendbuf, sendcount, sendtype),
                                      each(counts, recvtype));
        return go_on(code, next, sendbuf, sendcount, sendtype, recvbuf, counts, places, recvtype, comm);
    };
    /// Alltoallv and Alltoallw: `Types` is one type or a list.
    template <Function function>
    static constexpr auto of_pairs = [](Check& check, Call& call, auto next, void const* sendbuf,
                                        auto const* sendcounts, auto const* sendplaces, auto sendtypes, void* recvbuf,
                                        auto const* recvcounts, auto const* recvplaces, auto recvtypes, MPI_Comm comm) {
        CheckedCall const checked{function, call.site(), comm};
        auto const takes = each(recvcounts, recvtypes);
        int const code = placed(sendbuf) ? check.pairs(checked, takes, takes)
                                         : check.pairs(checked, each(sendcounts, sendtypes), takes);
        return go_on(code, next, sendbuf, sendcounts, sendplaces, sendtypes, recvbuf, recvcounts, recvplaces, recvtypes,
                     comm);
    };
    static constexpr auto Alltoallv = of_pairs<Function::Alltoallv>;
    static constexpr auto Alltoallw = of_pairs<Function::Alltoallw>;
};

class CheckService final : public Service {
  public:
    char const* name() const noexcept override { return "checks of collectives"; }
    char const* setting() const noexcept override { return "check"; }
    Needs needs() const noexcept override { return {.all_ranks = true, .one_thread = true}; }
    bool wanted(Job const& job) const noexcept override {
        return job.settings.check == CheckedCalls::collectives || job.settings.check == CheckedCalls::all;
    }
    std::optional<std::string> prepare(Job& job) override {
        check_ = std::make_unique<Check>(job.watch, job.all.get(),
                                         Check::Counts{job.counter(name(), "calls compared"),
                                                       job.counter(name(), "calls on communicators without an id")});
        return std::nullopt;
    }
    void start(Job& job) noexcept override { job.chains.add<CheckLinks>(*check_); }
    void stop(Job& job, Ending) override { job.chains.remove<CheckLinks>(*check_); }

  private:
    std::unique_ptr<Check> check_;
};

}  // namespace

std::unique_ptr<Service> make_check() {
    return std::make_unique<CheckService>();
}

}  // namespace sluice::plugin
