// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/check/check.hpp"

#include <array>
#include <exception>
#include <optional>
#include <span>
#include <string>

#include "mpi/mpi.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

namespace {

using types::SignatureWord;

/// Messages between the members of a communicator of the program, over the communicator of all ranks.
class Messages : public Exchange {
  public:
    Messages(Communicators& communicators, MPI_Comm all, int tag, MPI_Comm comm)
        : communicators_(communicators), all_(all), tag_(tag), comm_(comm) {}

    void run(std::span<Leg const> legs) override {
        constexpr std::size_t k_most = 64;
        std::array<MPI_Request, k_most> requests;
        std::size_t open = 0;
        for (Leg const& leg : legs) {
            if (leg.in.empty()) continue;
            int const from = rank_of(leg.from);
            in_mpi("MPI_Irecv", [&] {
                return MPI_Irecv(leg.in.data(), static_cast<int>(leg.in.size()), MPI_BYTE, from, tag_, all_,
                                 &requests[open++]);
            });
        }
        for (Leg const& leg : legs) {
            if (leg.out.empty()) continue;
            int const to = rank_of(leg.to);
            in_mpi("MPI_Isend", [&] {
                return MPI_Isend(leg.out.data(), static_cast<int>(leg.out.size()), MPI_BYTE, to, tag_, all_,
                                 &requests[open++]);
            });
        }
        in_mpi("MPI_Waitall",
               [&] { return MPI_Waitall(static_cast<int>(open), requests.data(), MPI_STATUSES_IGNORE); });
    }
    /// An exception came out of MPI: it is one of the program's, of an operation that MPI ran meanwhile.
    bool was_left_in_mpi() const noexcept { return in_mpi_; }

  private:
    template <class Call>
    void in_mpi(char const* name, Call const& call) {
        in_mpi_ = true;
        int const code = call();
        in_mpi_ = false;
        mpi::check(code, name);
    }
    int rank_of(int member) { return communicators_.world_rank(comm_, member); }

    Communicators& communicators_;
    MPI_Comm all_;
    int tag_;
    MPI_Comm comm_;
    bool in_mpi_ = false;
};

/// Only what all its members know alike decides whether a communicator is checked.
bool has_tag(Known const& known, groups::TagRange tags) {
    return known.id > 0 && known.id < static_cast<std::uint32_t>(tags.count);
}

}  // namespace

Check::Check(Watch& watch, MPI_Comm all, Counts counts) : watch_(watch), all_(all), counts_(counts) {
    int* upper = nullptr;
    int found = 0;
    if (MPI_Comm_get_attr(all, MPI_TAG_UB, &upper, &found) == MPI_SUCCESS && found != 0)
        tags_ = groups::tags::checked(*upper);
}

/// MPI has not seen the call yet, and must not be asked about a type that it may refuse.
bool Check::is_valid(MPI_Datatype type) const noexcept {
    return g_plugin.dense_types.size_of(type) > 0 || watch_.datatypes().find(type);
}

/// An unknown word, which matches any other, if there is no memory to compute it: the other members wait for a word.
SignatureWord Check::word(Data const& data) noexcept {
    if (data.count < 0 || !is_valid(data.type)) return {};  // none, or for MPI to refuse
    try {
        return SignatureWord(signatures_.of(static_cast<std::uint64_t>(data.count), data.type));
    } catch (std::exception const&) {
        knows_all_ = false;
        return {};
    }
}

namespace {

/// A text for the message, or none without memory for it: the other members wait for this one.
template <class Make>
std::string text_if_possible(Make const& make) noexcept {
    try {
        return make();
    } catch (std::exception const&) {
        return {};
    }
}

}  // namespace

std::string Check::shown(Data const& data) const {
    if (!is_valid(data.type)) return "";
    return std::to_string(data.count) + " x " + signatures_.name_of(data.type);
}

std::string Check::describe(CheckedCall const& call, std::string const& what) const {
    std::string text = k_function_names[static_cast<std::size_t>(call.function)];
    if (call.root >= 0) text += ", root " + std::to_string(call.root);
    if (!what.empty()) text += ", " + what;
    std::string const place = watch_.record().sites[call.site].place.data();
    return text + (place.empty() ? "" : ", at " + place);
}

/// All members come here together. The last agreement lets each of them print before one of them ends the job.
int Check::refuse(CheckedCall const& call, Comparison& comparison, std::string const& what) {
    std::string const mine = text_if_possible([&] { return describe(call, what); });
    auto const told = comparison.tell(mine);
    say("rank %u: a collective call differs between its members, by rank in their communicator: %s",
        watch_.record().head.world_rank, told.data());
    comparison.agree({});
    return MPI_ERR_OTHER;
}

/// `compare` gives true where the call is right, and says in `what` what the member has.
template <class Run>
int Check::run(CheckedCall const& call, Run const& compare) {
    std::optional<Messages> messages;  // outlives the try, for it knows where an exception comes from
    try {
        if (call.comm == MPI_COMM_NULL) return MPI_SUCCESS;
        Known const known = watch_.communicators().find(call.comm);
        if (known.size == 1) return MPI_SUCCESS;
        if (!has_tag(known, tags_)) {
            add(counts_.passed_on, 1);
            return MPI_SUCCESS;
        }
        add(counts_.compared, 1);
        messages.emplace(watch_.communicators(), all_, tags_[static_cast<int>(known.id)], call.comm);
        Comparison comparison(*messages, known.rank, known.size);
        std::string what;
        knows_all_ = true;
        bool const is_right = compare(comparison, known, what);
        if (!knows_all_)
            say("rank %u: %s was checked in part, because there was no memory", watch_.record().head.world_rank,
                k_function_names[static_cast<std::size_t>(call.function)]);
        return is_right ? MPI_SUCCESS : refuse(call, comparison, what);
    } catch (std::exception const& error) {
        if (messages && messages->was_left_in_mpi()) throw;
        say("a collective call was not checked: %s", error.what());
        return MPI_SUCCESS;
    }
}

namespace {

Facts facts_of(CheckedCall const& call, SignatureWord data = {}, bool mismatch = false) {
    return {static_cast<std::uint32_t>(call.function), call.root, data, mismatch};
}

}  // namespace

int Check::same(CheckedCall const& call, Data gives, Data takes) {
    return run(call, [&](Comparison& comparison, Known const&, std::string& what) {
        SignatureWord const out = word(gives);
        SignatureWord const in = word(takes);
        bool const both = gives.type != MPI_DATATYPE_NULL && takes.type != MPI_DATATYPE_NULL;
        if (comparison.agree(facts_of(call, out.stricter(in), !out.matches(in)))) return true;
        what = text_if_possible([&] { return shown(gives) + (both ? " to " : "") + shown(takes); });
        return false;
    });
}

int Check::listed(CheckedCall const& call, Data gives, DataOf const& takes) {
    return run(call, [&](Comparison& comparison, Known const& known, std::string& what) {
        SignatureWord const list = SignatureWord::of_list(known.size, [&](int member) { return word(takes(member)); });
        bool const mismatch = !word(gives).matches(word(takes(known.rank)));
        if (comparison.agree(facts_of(call, list, mismatch))) return true;
        what = text_if_possible([&] {
            MPI_Count all = 0;
            for (int member = 0; member < known.size; ++member)
                all += takes(member).count;
            std::string const taken = shown(takes(known.rank)) + " of " + std::to_string(all);
            return gives.type != MPI_DATATYPE_NULL ? shown(gives) + " to " + taken : taken;
        });
        return false;
    });
}

int Check::with_root(CheckedCall const& call, Data mine, DataOf const& of_member) {
    return run(call, [&](Comparison& comparison, Known const& known, std::string& what) {
        what = text_if_possible([&] { return shown(mine); });
        if (!comparison.agree(facts_of(call))) return false;
        if (call.root < 0 || call.root >= known.size) return true;  // for MPI to refuse
        int const wrong =
            comparison.compare_with_root(call.root, word(mine), [&](int member) { return word(of_member(member)); });
        if (comparison.agree(facts_of(call, {}, wrong >= 0))) return true;
        what = text_if_possible([&] {
            if (wrong < 0) return what;
            return "which expects " + shown(of_member(wrong)) + " of rank " + std::to_string(wrong);
        });
        return false;
    });
}

int Check::pairs(CheckedCall const& call, DataOf const& gives, DataOf const& takes) {
    return run(call, [&](Comparison& comparison, Known const&, std::string& what) {
        if (!comparison.agree(facts_of(call))) return false;
        int const wrong = comparison.compare_pairs([&](int member) { return word(gives(member)); },
                                                   [&](int member) { return word(takes(member)); });
        if (comparison.agree(facts_of(call, {}, wrong >= 0))) return true;
        if (wrong < 0) return false;
        what = text_if_possible([&] {
            return "which expects " + shown(takes(wrong)) + " from rank " + std::to_string(wrong) + " and gets others";
        });
        return false;
    });
}

}  // namespace sluice::plugin
