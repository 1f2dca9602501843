// SPDX-License-Identifier: BSD-3-Clause
/// The states of a slot during a chain pull, kept in the two state bits of the inverse AddressMap.
///
///                      a peer has our content                 fetch of the final content started
///      occupied ---------------------------------> vacant -----------------------------------> settled
///         |                                                                                      ^
///         | the final content was fetched ahead into a spare                                     |
///         +----------------------------------> ahead --------------------------------------------+
///                                                     a peer has our content: spare is copied here
///
/// A slot to which no block is sent stays vacant once it has been left, and may serve as one more spare.
#pragma once

namespace sluice::redistribution {

enum class SlotState : unsigned {
    occupied = 0,  ///< holds a block that has to leave; its final content has not been asked for
    vacant = 1,    ///< nothing of value here; its final content, if any, has not been asked for
    ahead = 2,     ///< holds a block that has to leave; its final content is in a spare or on the way there
    settled = 3,   ///< its final content is here or on the way here
};

}  // namespace sluice::redistribution
