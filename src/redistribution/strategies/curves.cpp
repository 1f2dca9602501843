// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/curves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <optional>
#include <string>

#include "engine/told_line.hpp"
#include "kernel/calibration/calibration_file.hpp"
#include "mpi/library_name.hpp"

namespace sluice::redistribution {

namespace {

using Curve = kernel::Calibration::Curve;
constexpr auto const& k_sizes = kernel::Calibration::k_sizes;

/// Of a virtual machine of two cores with 2 ranks and with 4.
constexpr kernel::Calibration k_built_in{
    .roomy = {.token = {81e-9F, 437e-9F, 3290e-9F}, .packed = {24e-9F, 286e-9F, 3764e-9F}},
    .crowded = {.token = {143e-9F, 729e-9F, 6108e-9F}, .packed = {47e-9F, 641e-9F, 7066e-9F}}};

/// Simulated time is not that of this machine. Other ranks wait for this one, so it goes on without memory for texts.
std::optional<kernel::Calibration> calibration_on_file() noexcept {
#ifdef SLUICE_SIMULATED
    return std::nullopt;
#else
    try {
        kernel::ReadCalibration read = kernel::read_calibration(kernel::calibration_key(mpi::library_name()));
        if (!read.why.empty())
            engine::tell_line(read.why + "; strategy auto goes on with built-in costs (sluice doctor --calibrate)");
        return read.calibration;
    } catch (std::exception const&) {
        return std::nullopt;
    }
#endif
}

std::uint64_t word_of(float first, float second) noexcept {
    return std::uint64_t{std::bit_cast<std::uint32_t>(first)} << 32 | std::bit_cast<std::uint32_t>(second);
}
float first_of(std::uint64_t word) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word >> 32));
}
float second_of(std::uint64_t word) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word));
}

}  // namespace

double seconds_of(Curve const& curve, std::uint64_t bytes) noexcept {
    if (bytes <= k_sizes.front()) return curve.front();
    if (bytes >= k_sizes.back())
        return static_cast<double>(curve.back()) * static_cast<double>(bytes) / static_cast<double>(k_sizes.back());
    auto const right = static_cast<std::size_t>(std::ranges::upper_bound(k_sizes, bytes) - k_sizes.begin());
    double const from = static_cast<double>(k_sizes[right - 1]);
    double const to = static_cast<double>(k_sizes[right]);
    double const share = std::log(static_cast<double>(bytes) / from) / std::log(to / from);
    return curve[right - 1] * std::pow(static_cast<double>(curve[right]) / curve[right - 1], share);
}

Curves curves_of_this_machine(bool is_crowded) noexcept {
    static std::optional<kernel::Calibration> const measured = calibration_on_file();
    kernel::Calibration const& calibration = measured ? *measured : k_built_in;
    kernel::Calibration::Costs const& costs = is_crowded ? calibration.crowded : calibration.roomy;
    return {costs.token, costs.packed, measured.has_value()};
}

AgreedCurves::AgreedCurves(groups::Agreement& agreement, Curves const& mine)
    : agreed_{&agreement.most(word_of(mine.token[0], mine.token[1])),
              &agreement.most(word_of(mine.token[2], mine.packed[0])),
              &agreement.most(word_of(mine.packed[1], mine.packed[2])), &agreement.most(mine.is_measured ? 1 : 0)} {}

Curves AgreedCurves::get() const noexcept {
    return {{first_of(*agreed_[0]), second_of(*agreed_[0]), first_of(*agreed_[1])},
            {second_of(*agreed_[1]), first_of(*agreed_[2]), second_of(*agreed_[2])},
            *agreed_[3] != 0};
}

}  // namespace sluice::redistribution
