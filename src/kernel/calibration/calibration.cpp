// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/calibration/calibration.hpp"

#include <charconv>
#include <cstdio>
#include <optional>

#include "base/hash.hpp"

namespace sluice::kernel {

namespace {

constexpr std::string_view k_first_line = "sluice calibration 1";
constexpr std::string_view k_damaged = "it is damaged";

std::string hexadecimal(std::uint64_t number) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

std::string line_of(std::string_view name, Calibration::Curve const& curve) {
    std::string line = std::string(name) + " =";
    for (float const seconds : curve) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), " %.6g", static_cast<double>(seconds));
        line += text.data();
    }
    return line + "\n";
}

/// Takes the next line off `rest`. Nothing if it is not "NAME = value".
std::optional<std::string_view> value_of_next(std::string_view& rest, std::string_view name) {
    std::size_t const end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view const line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    std::string const begin = std::string(name) + " = ";
    return line.starts_with(begin) ? std::optional(line.substr(begin.size())) : std::nullopt;
}

bool read_curve(std::string_view& rest, std::string_view name, Calibration::Curve& curve) {
    auto const text = value_of_next(rest, name);
    if (!text) return false;
    char const* at = text->data();
    char const* const end = at + text->size();
    for (float& seconds : curve) {
        while (at != end && *at == ' ')
            ++at;
        auto const [next, error] = std::from_chars(at, end, seconds);
        if (error != std::errc()) return false;
        at = next;
    }
    return at == end;
}

bool is_plausible(Calibration::Curve const& curve) noexcept {
    for (float const seconds : curve)
        if (!(seconds >= k_least_block_seconds && seconds <= k_most_block_seconds)) return false;  // nor a NaN
    return true;
}

}  // namespace

bool is_plausible(Calibration const& calibration) noexcept {
    return is_plausible(calibration.roomy.token) && is_plausible(calibration.roomy.packed) &&
           is_plausible(calibration.crowded.token) && is_plausible(calibration.crowded.packed);
}

std::string text_of(CalibrationKey const& key, Calibration const& calibration) {
    std::string text =
        std::string(k_first_line) + "\nprocessor = " + key.processor + "\ncores = " + std::to_string(key.cores) +
        "\nmpi = " + key.mpi + "\n" + line_of("roomy token", calibration.roomy.token) +
        line_of("roomy packed", calibration.roomy.packed) + line_of("crowded token", calibration.crowded.token) +
        line_of("crowded packed", calibration.crowded.packed);
    return text + "sum = " + hexadecimal(base::Fnv1a().add(text).value()) + "\n";
}

std::string parse(std::string_view text, CalibrationKey const& key, Calibration& calibration) {
    std::string_view rest = text;
    std::size_t const first_end = rest.find('\n');
    if (first_end == std::string_view::npos || rest.substr(0, first_end) != k_first_line)
        return std::string(k_damaged) + ", or of another version of Sluice";
    rest.remove_prefix(first_end + 1);
    auto const processor = value_of_next(rest, "processor");
    auto const cores = value_of_next(rest, "cores");
    auto const mpi = value_of_next(rest, "mpi");
    Calibration read;
    bool const has_curves = processor && cores && mpi && read_curve(rest, "roomy token", read.roomy.token) &&
                            read_curve(rest, "roomy packed", read.roomy.packed) &&
                            read_curve(rest, "crowded token", read.crowded.token) &&
                            read_curve(rest, "crowded packed", read.crowded.packed);
    if (!has_curves) return std::string(k_damaged);
    std::string_view const before_sum = text.substr(0, text.size() - rest.size());
    auto const sum = value_of_next(rest, "sum");
    if (!sum || !rest.empty() || *sum != hexadecimal(base::Fnv1a().add(before_sum).value()) || !is_plausible(read))
        return std::string(k_damaged);
    if (*processor != key.processor || *cores != std::to_string(key.cores) || *mpi != key.mpi)
        return "it is of another machine or MPI (" + std::string(*processor) + ", " + std::string(*cores) + " cores, " +
               std::string(*mpi) + ")";
    calibration = read;
    return {};
}

}  // namespace sluice::kernel
