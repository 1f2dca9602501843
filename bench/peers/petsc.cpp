// SPDX-License-Identifier: BSD-3-Clause
// PETSc's star forest: slots are roots, blocks are leaves that point to them, and PetscSFReduce with MPI_REPLACE moves
// blocks of a contiguous datatype into a second array, which is copied back, because results belong in the caller's
// array. In its favour the graph is made once and not timed, because a code would keep it for a map that is used again.
#include <petscsf.h>

#include <cstring>
#include <vector>

#include "methods/method.hpp"
#include "mpi/mpi.hpp"
#include "support/memory.hpp"

namespace sluice::bench {

namespace {

void check(PetscErrorCode code, char const* call) {
    if (code != 0)
        throw Error(ErrorCode::unsupported,
                    std::string(call) + " failed with code " + std::to_string(static_cast<int>(code)));
}

class PetscMethod final : public Method {
  public:
    explicit PetscMethod(Workload const& workload)
        : workload_(workload), bytes_(workload.blocks.count * workload.blocks.block_bytes.count), target_(bytes_) {
        check(PetscInitializeNoArguments(), "PetscInitializeNoArguments");
        check(PetscPopSignalHandler(), "PetscPopSignalHandler");
        std::vector<PetscInt> leaves;
        std::vector<PetscSFNode> roots;
        for (std::size_t slot = 0; slot < workload.destinations.size(); ++slot) {
            Destination const& to = workload.destinations[slot];
            if (to.rank < 0) continue;
            leaves.push_back(static_cast<PetscInt>(slot));
            roots.push_back({to.rank, static_cast<PetscInt>(to.index)});
        }
        check(PetscSFCreate(workload.comm, &forest_), "PetscSFCreate");
        check(PetscSFSetFromOptions(forest_), "PetscSFSetFromOptions");
        check(
            PetscSFSetGraph(forest_, static_cast<PetscInt>(workload.blocks.count), static_cast<PetscInt>(leaves.size()),
                            leaves.data(), PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES),
            "PetscSFSetGraph");
        check(PetscSFSetUp(forest_), "PetscSFSetUp");
        mpi::check(
            MPI_Type_contiguous(static_cast<int>(workload.blocks.block_bytes.count / sizeof(int)), MPI_INT, &block_),
            "MPI_Type_contiguous");
        mpi::check(MPI_Type_commit(&block_), "MPI_Type_commit");
    }
    PetscMethod(PetscMethod const&) = delete;
    PetscMethod& operator=(PetscMethod const&) = delete;
    ~PetscMethod() override {
        PetscSFDestroy(&forest_);
        PetscFinalize();
        MPI_Type_free(&block_);
    }

    void run() override {
        check(PetscSFReduceBegin(forest_, block_, workload_.blocks.data, target_.data(), MPI_REPLACE),
              "PetscSFReduceBegin");
        check(PetscSFReduceEnd(forest_, block_, workload_.blocks.data, target_.data(), MPI_REPLACE),
              "PetscSFReduceEnd");
        std::memcpy(workload_.blocks.data, target_.data(), bytes_);
    }

  private:
    Workload const& workload_;
    std::size_t bytes_;
    Pages target_;
    PetscSF forest_ = nullptr;
    MPI_Datatype block_ = MPI_DATATYPE_NULL;
};

std::string refuses(Workload const& workload) {
    if (workload.blocks.block_bytes.count % sizeof(int) != 0) return "its datatype here is made of 4-byte words";
    return {};
}

std::unique_ptr<Method> make(MethodEntry const&, Workload const& workload) {
    return std::make_unique<PetscMethod>(workload);
}

}  // namespace

std::optional<MethodEntry> peer_method() {
    return MethodEntry{"petsc_sf", Kind::theirs, refuses, make};
}

}  // namespace sluice::bench
