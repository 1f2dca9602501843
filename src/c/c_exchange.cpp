// SPDX-License-Identifier: BSD-3-Clause
/// The function of sluice/c/exchange.h. Errors that only one rank can see are agreed on first.
#include "sluice/c/exchange.h"

#include <optional>
#include <string>
#include <vector>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "sluice/exchange.hpp"

using sluice::c::existing;

namespace {

sluice::OutgoingPart part_of_c(sluice_outgoing_part const& part, std::size_t number, sluice_produce_function produce,
                               void* user) {
    if (part.data != nullptr || part.bytes == 0)
        return {part.rank, {static_cast<std::byte const*>(part.data), part.bytes}, {}, {}};
    if (produce == nullptr)
        throw sluice::c::invalid("part " + std::to_string(number) + " has no data, and produce is NULL");
    return {part.rank, {}, {part.bytes}, [=](std::span<std::byte> out) {
                if (int const code = produce(user, number, out.data(), out.size()); code != 0)
                    throw sluice::c::invalid("produce returned " + std::to_string(code) + " for part " +
                                             std::to_string(number));
            }};
}

}  // namespace

int sluice_exchange(sluice_context* context, size_t parts, sluice_outgoing_part const* outgoing,
                    sluice_produce_function produce, sluice_take_function take, void* user, sluice_report* report) {
    return sluice::base::c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        std::vector<sluice::OutgoingPart> list;
        std::optional<sluice::Error> const fault = sluice::c::fault_in([&] {
            sluice::c::check_report(report);
            if (take == nullptr) throw sluice::c::invalid("take is NULL");
            if (parts > 0) existing(outgoing, "outgoing");
            for (std::size_t i = 0; i < parts; ++i)
                list.push_back(part_of_c(outgoing[i], i, produce, user));
        });
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_exchange");
        sluice::c::fill_after(report, sluice::exchange(over, list, [&](int from, sluice::FetchResult const& part) {
                                  take(user, from, part[0].data(), part[0].size());
                              }));
    });
}
