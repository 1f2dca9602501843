// SPDX-License-Identifier: BSD-3-Clause
/// Do all ranks of the job run under us? No rank may use the wire before that is known, and all must know the same.
///
/// On one node: every rank counts itself in the node's file before MPI_Init. None leaves MPI_Init before all have
/// entered it, so a rank that leaves it finds all ranks of the node counted; the first one decides for all. If ranks
/// have not found the same file, each of their files has too few of them: then this node says no to all.
///
/// Over several nodes, where the MPI starts through PMIx (Open MPI):
///
///   rank 0 … P-1            declare() arms; in MPI_Init the MPI calls PMIx_Commit: our key goes in with its own data
///      |
///   fence of MPI_Init       gathers what all ranks have committed and leaves a copy of it with each node's server
///      |
///   rank 0 … P-1            each looks the P keys up in its node's copy: all there, or one is not
///
/// Why all ranks find the same: a key is put before its rank enters the fence, and no rank leaves the fence before the
/// copy of its node is whole. That holds for the fence as Open MPI does it unless told otherwise, by
/// pmix_base_async_modex or pmix_base_collect_data. So a rank puts its key only if its environment says for sure that
/// both are as they should be (`sluice run` sets them where the user has not): whoever finds all P keys knows that
/// every rank's fence was such a one, and that every rank finds what it found. Whoever misses one key, misses it for
/// good: a missing key answers at once (pmix.immediate), no rank waits for it. Only MPI_Init sends messages.
///
/// Elsewhere (MPICH over several nodes, LD_PRELOAD alone without the two variables) the answer is no on all ranks.
#pragma once

#include "record/record_file.hpp"

namespace sluice::plugin {

/// Before MPI_Init, after the record was claimed: this rank runs under us.
void declare();

/// What a rank knows of the others.
struct Declared {
    bool all;     ///< all ranks of the job run under us; the same on all of them
    bool speaks;  ///< if not: may this rank say so for the job? Several may that can find out on their node which is
                  ///< first
};

/// After MPI_Init, once, by rank `rank` of MPI_COMM_WORLD, which has `size`. Waits for no rank. Takes at most 2 `size`
/// look-ups in memory of this node, `size` by those ranks of the node that come first; keeps nothing allocated.
///
/// Where keys tell, the lowest rank that has put one speaks; on one node without them any rank; else rank 0, which may
/// be one that does not run under us.
Declared who_declared(record::RecordFile& file, int rank, int size);

/// After MPI_Init: takes out of the environment what `sluice run` has set for the fence. Children that the program
/// starts get the rest of the environment, and may have no plugin.
void keep_fence_to_ourselves();

}  // namespace sluice::plugin
