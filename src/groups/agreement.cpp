// SPDX-License-Identifier: BSD-3-Clause
#include "groups/agreement.hpp"

#include <string>

#include "base/hash.hpp"
#include "base/units.hpp"
#include "groups/agree.hpp"
#include "mpi/mpi.hpp"

namespace sluice::groups {

namespace {

/// The text that rank `root` passes. Collective.
std::string text_of_rank(MPI_Comm comm, int root, std::string text) {
    int length = static_cast<int>(text.size());
    mpi::check(MPI_Bcast(&length, 1, MPI_INT, root, comm), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(length));
    mpi::check(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), "MPI_Bcast");
    return text;
}

/// Collective: all ranks know that `value` differs, and find out where.
[[noreturn]] void throw_difference(MPI_Comm comm, std::string const& name, std::uint64_t value,
                                   std::string const& text) {
    std::uint64_t of_first = value;
    mpi::check(MPI_Bcast(&of_first, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
    auto const rank = static_cast<std::uint64_t>(mpi::rank_in(comm));
    int const other = static_cast<int>(least_of(comm, value != of_first ? rank : ~std::uint64_t{0}));
    std::string const first_text = text_of_rank(comm, 0, text);
    std::string const other_text = text_of_rank(comm, other, text);
    throw Error(ErrorCode::invalid_argument,
                name + " differs: rank 0 has " + first_text + ", rank " + std::to_string(other) + " " + other_text);
}

}  // namespace

void Agreement::fault(std::optional<Error> const& mine) {
    if (!mine || fault_) return;
    fault_ = mine;
    values_[0] = 1;
}

std::size_t Agreement::put(std::uint64_t value) {
    if (used_ == k_most_values)
        throw Error(ErrorCode::internal, "an agreement takes at most " + std::to_string(k_most_values - 1) + " values");
    values_[used_] = value;
    return used_++;
}

void Agreement::ask(Value const& value) {
    asked_[count_++] = value;
}

// The reduction knows only maxima: the maximum of the complements is the complement of the least value.

std::uint64_t const& Agreement::most(std::uint64_t value) {
    std::size_t const at = put(value);
    ask({{}, at, Kind::most, 0, {}});
    return values_[at];
}

std::uint64_t const& Agreement::least(std::uint64_t value) {
    std::size_t const at = put(~value);
    ask({{}, at, Kind::least, 0, {}});
    return values_[at];
}

void Agreement::ask_alike(std::string_view name, std::uint64_t value, Kind kind, std::string_view text) {
    std::size_t const at = put(value);
    put(~value);
    ask({name, at, kind, value, text});
}

void Agreement::alike(std::string_view name, std::uint64_t value) {
    ask_alike(name, value, Kind::alike);
}

void Agreement::alike(std::string_view name, Bytes value) {
    ask_alike(name, value.count, Kind::alike_bytes);
}

void Agreement::alike(std::string_view name, std::string_view text) {
    ask_alike(name, base::Fnv1a().add(text).value(), Kind::alike_text, text);
}

void Agreement::run(MPI_Comm comm) {
    run(comm, [comm](std::span<std::uint64_t> values) { most_of_all(comm, values); });
}

void Agreement::run(MPI_Comm comm, Maxima const& maxima) {
    maxima(std::span(values_).first(used_));
    if (values_[0] != 0) {
        if (fault_)
            fault_ = Error(fault_->code(), "rank " + std::to_string(mpi::rank_in(comm)) + ": " + fault_->what());
        agree_on_no_error(comm, fault_);
    }
    for (Value const& value : std::span(asked_).first(count_)) {
        if (value.kind == Kind::least) values_[value.at] = ~values_[value.at];
        if (!differs(value)) continue;
        throw_difference(comm, std::string(value.name), value.mine,
                         value.kind == Kind::alike_text    ? std::string(value.text)
                         : value.kind == Kind::alike_bytes ? base::format_bytes({value.mine})
                                                           : std::to_string(value.mine));
    }
}

bool Agreement::differs(Value const& value) const {
    if (value.kind == Kind::most || value.kind == Kind::least) return false;
    return values_[value.at] != ~values_[value.at + 1];
}

}  // namespace sluice::groups
