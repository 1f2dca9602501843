// SPDX-License-Identifier: BSD-3-Clause
#include "groups/agreement.hpp"

#include <string>

#include "base/hash.hpp"
#include "groups/agree.hpp"
#include "mpi/mpi.hpp"

namespace sluice::groups {

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

void Agreement::ask(std::string_view name, std::size_t at, Kind kind) {
    asked_[count_++] = {name, at, kind};
}

// The reduction knows only maxima: the maximum of the complements is the complement of the least value.

std::uint64_t const& Agreement::most(std::uint64_t value) {
    std::size_t const at = put(value);
    ask("", at, Kind::most);
    return values_[at];
}

std::uint64_t const& Agreement::least(std::uint64_t value) {
    std::size_t const at = put(~value);
    ask("", at, Kind::least);
    return values_[at];
}

void Agreement::alike(std::string_view name, std::uint64_t value) {
    std::size_t const at = put(value);
    put(~value);
    ask(name, at, Kind::alike);
}

void Agreement::alike(std::string_view name, std::string_view text) {
    std::uint64_t const value = base::Fnv1a().add(text).value();
    std::size_t const at = put(value);
    put(~value);
    ask(name, at, Kind::alike_text);
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
        throw_if_it_differs(value);
    }
}

void Agreement::throw_if_it_differs(Value const& value) const {
    if (value.kind != Kind::alike && value.kind != Kind::alike_text) return;
    std::uint64_t const most = values_[value.at];
    std::uint64_t const least = ~values_[value.at + 1];
    if (most == least) return;
    std::string text = std::string(value.name) + " differs between ranks";
    if (value.kind == Kind::alike) text += ": from " + std::to_string(least) + " to " + std::to_string(most);
    throw Error(ErrorCode::invalid_argument, text);
}

}  // namespace sluice::groups
