// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/cyclic/cyclic_execution.hpp"
#include "redistribution/strategies/moving/report_counts.hpp"

#include <algorithm>

namespace sluice::redistribution {

ActionRunner::ActionRunner(MPI_Comm comm, std::uint64_t outstanding_requests, BlockOrder& order, memory::Meter& meter)
    : order_(order), window_(outstanding_requests, meter), incoming_(comm, 1, meter), outgoing_(comm, 1, meter) {}

void ActionRunner::run(Action const& action, BlockArray const& blocks, RedistributionReport& report) {
    std::uint64_t const quantity = action.quantity;
    post_words(action);
    if (action.receive_from < 0)
        send(action, blocks);
    else if (action.send_to < 0)
        receive(action, blocks);
    else
        send_and_receive(action, blocks);
    if (action.receive_from >= 0) order_.forget_scratch();

    if (action.send_to >= 0) {
        count_sent(report, quantity, blocks.block_bytes);
    }
    if (action.receive_from >= 0) {
        count_received(report, quantity, blocks.block_bytes);
    }
    report.rounds += 1;
    report.requests_peak = std::max(report.requests_peak, window_.peak());
}

/// The destinations of all blocks of an action are sent before the first increment.
void ActionRunner::post_words(Action const& action) {
    SlotRange const from{action.send_to < 0 ? 0 : order_.begin(action.send_to),
                         action.send_to < 0 ? 0 : action.quantity};
    SlotRange const into{0, action.receive_from < 0 ? 0 : action.quantity};
    BlockArray scratch = order_.words();
    scratch.data = reinterpret_cast<std::byte*>(order_.word_scratch());
    incoming_.open(action.receive_from, {&into, 1}, scratch);
    outgoing_.open(action.send_to, {&from, 1}, order_.words());
    post_alternating(incoming_, outgoing_, window_);
}

void ActionRunner::send(Action const& action, BlockArray const& blocks) {
    std::uint64_t const begin = order_.begin(action.send_to);
    for (std::uint64_t done = 0; done < action.quantity; done += action.increment) {
        SlotRange const part{begin + done, std::min(action.increment, action.quantity - done)};
        outgoing_.open(action.send_to, {&part, 1}, blocks);
        while (!outgoing_.at_end())
            outgoing_.post_send(window_);
    }
    window_.drain();
    order_.release(begin, action.quantity);
}

void ActionRunner::receive(Action const& action, BlockArray const& blocks) {
    std::uint64_t const begin = order_.free_begin();
    for (std::uint64_t done = 0; done < action.quantity; done += action.increment) {
        SlotRange const part{begin + done, std::min(action.increment, action.quantity - done)};
        incoming_.open(action.receive_from, {&part, 1}, blocks);
        while (!incoming_.at_end())
            incoming_.post_receive(window_);
    }
    window_.drain();
    take_words(begin, 0, action.quantity);
}

/// The first increment is received in free space or in the extra block, each further one in the slots that the
/// increment before it was sent from.
void ActionRunner::send_and_receive(Action const& action, BlockArray const& blocks) {
    std::uint64_t const begin = order_.begin(action.send_to);
    bool const through_spare = order_.free() == 0;
    std::uint64_t const first_landing = through_spare ? blocks.slots : order_.free_begin();
    std::uint64_t landing = first_landing;
    for (std::uint64_t done = 0; done < action.quantity; done += action.increment) {
        std::uint64_t const count = std::min(action.increment, action.quantity - done);
        SlotRange const into{landing, count};
        SlotRange const from{begin + done, count};
        incoming_.open(action.receive_from, {&into, 1}, blocks);
        outgoing_.open(action.send_to, {&from, 1}, blocks);
        post_alternating(incoming_, outgoing_, window_);
        window_.drain();
        landing = from.first;
    }
    order_.release(begin, action.quantity);

    std::uint64_t const first = std::min(action.increment, action.quantity);
    if (through_spare) {  // the increment is 1: the slot of the last block sent is free
        std::uint64_t const last = begin + action.quantity - 1;
        blocks.copy(blocks.slots, last);
        take_words(last, 0, 1);
    } else {
        take_words(first_landing, 0, first);
    }
    take_words(begin, first, action.quantity - first);
}

/// Assigns the words of `count` blocks, from word `first` on, to `slot` and the slots that follow.
void ActionRunner::take_words(std::uint64_t slot, std::uint64_t first, std::uint64_t count) noexcept {
    std::uint64_t const* const words = order_.word_scratch() + first;
    for (std::uint64_t i = 0; i < count; ++i)
        order_.arrived_word(slot + i, words[i]);
}

}  // namespace sluice::redistribution
