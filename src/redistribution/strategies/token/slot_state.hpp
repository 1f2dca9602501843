// SPDX-License-Identifier: BSD-3-Clause
/// The states of a slot during a chain pull, kept in the two state bits of the inverse AddressMap.
///
///                      a peer has its block                   fetch of the final content started
///      occupied ---------------------------------> vacant -----------------------------------> settled
///         |                                                                                      ^
///         | the final content was fetched ahead into a spare                                     |
///         +----------------------------------> ahead --------------------------------------------+
///                                                     a peer has its block: the spare is copied here
///
/// A slot that receives no block stays vacant once its block has left, and may serve as one more spare.
#pragma once

namespace sluice::redistribution {

enum class SlotState : unsigned {
    occupied = 0,  ///< holds a block that has to leave; its final content has not been requested
    vacant = 1,    ///< holds no block; its final content, if any, has not been requested
    ahead = 2,     ///< holds a block that has to leave; its final content is in a spare or on the way there
    settled = 3,   ///< its final content is here or on the way
};

}  // namespace sluice::redistribution
