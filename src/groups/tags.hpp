// SPDX-License-Identifier: BSD-3-Clause
/// Which tags the messages of each room have. Rooms that share a communicator must not receive each other's messages,
/// so every tag is given out here, and the compiler refuses two ranges of one communicator that overlap.
#pragma once

#include <array>
#include <cstddef>

namespace sluice::groups {

struct TagRange {
    int first = 0;
    int count = 1;

    constexpr int last() const noexcept { return first + count - 1; }
    constexpr int operator[](int which) const noexcept { return first + which; }
};

namespace tags {

/// MPI promises every program this many (MPI_TAG_UB is at least that).
inline constexpr int k_largest = 32767;

template <std::size_t N>
constexpr bool are_apart(std::array<TagRange, N> const& ranges) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
        if (ranges[i].first < 0 || ranges[i].count < 1 || ranges[i].last() > k_largest) return false;
        for (std::size_t j = 0; j < i; ++j)
            if (ranges[i].first <= ranges[j].last() && ranges[j].first <= ranges[i].last()) return false;
    }
    return true;
}

/// These tags are used on the communicator of a Context. Redistributions, all-to-alls and a store of one Context may be
/// under way together.
inline constexpr TagRange k_addresses{1, 2};           ///< addresses; the barrier after them
inline constexpr TagRange k_parts{3, 2};               ///< announcements of parts; the barrier after them
inline constexpr TagRange k_exchange_end{5, 1};        ///< the end of a streamed exchange
inline constexpr TagRange k_message_transport{10, 4};  ///< requests and pieces, of even and of odd passes
inline constexpr TagRange k_exchange{14, 1};           ///< blocks of parking and alltoallv
inline constexpr TagRange k_block_stream{15, 1};       ///< blocks of cyclic
inline constexpr TagRange k_transposes{16, 1};         ///< cells of transposes
inline constexpr TagRange k_alltoalls{17, 3};          ///< blocks, offers of memory, answers to offers
inline constexpr TagRange k_cyclic_schedule{21, 4};    ///< edges, wishes, actions, last actions
inline constexpr TagRange k_tails{25, 1};              ///< sizes of packed blocks and tails of their streams
inline constexpr TagRange k_meeting{30, 1};            ///< the first step of a collective call
inline constexpr TagRange k_absences{31, 2};           ///< questions and answers about it; the barrier after them
inline constexpr TagRange k_collectives{7000, 1};      ///< all-to-alls in place
inline constexpr TagRange k_store_barrier{31000, 1};   ///< the end of a store
static_assert(are_apart(std::array{k_addresses, k_parts, k_exchange_end, k_message_transport, k_exchange,
                                   k_block_stream, k_transposes, k_alltoalls, k_cyclic_schedule, k_tails, k_meeting,
                                   k_absences, k_collectives, k_store_barrier}));

/// On the communicator of a store: control messages have the first tag, data for slot s the tag after it plus s.
inline constexpr TagRange k_store_control{0, 1};
inline constexpr TagRange k_store_data{1, 4096};
static_assert(are_apart(std::array{k_store_control, k_store_data}));

/// These tags are used on the plugin's own communicator of all ranks. All-to-alls in place and checks of collectives
/// have a tag for each communicator, range[id]. The two ranges share what the MPI has, which may be more than it
/// promises; communicators with ids beyond them are neither served nor checked.
inline constexpr TagRange k_job_report{1, 1};
inline constexpr TagRange k_flood_barrier{2, 1};
inline constexpr TagRange k_flood_questions{3, 2};  ///< questions and answers
inline constexpr int k_first_of_ids = 16;
constexpr TagRange served(int largest) noexcept {
    return {k_first_of_ids, (largest - k_first_of_ids + 1) / 2};
}
constexpr TagRange checked(int largest) noexcept {
    return {served(largest).last() + 1, served(largest).count};
}
static_assert(are_apart(std::array{k_job_report, k_flood_barrier, k_flood_questions, served(k_largest),
                                   checked(k_largest)}));

}  // namespace tags
}  // namespace sluice::groups
