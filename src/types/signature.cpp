// SPDX-License-Identifier: BSD-3-Clause
#include "types/signature.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "mpi/handle_key.hpp"
#include "mpi/mpi.hpp"
#include "types/datatype_contents.hpp"

namespace sluice::types {

namespace {

constexpr std::uint64_t k_prime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t k_base = 0x0b5a'd4ec'eda1'ce2b;  // any number that is not small

__extension__ using Wide = unsigned __int128;

std::uint64_t reduced(std::uint64_t x) noexcept {
    x = (x & k_prime) + (x >> 61);
    return x >= k_prime ? x - k_prime : x;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
    Wide const wide = Wide{a} * b;
    return reduced((static_cast<std::uint64_t>(wide) & k_prime) + static_cast<std::uint64_t>(wide >> 61));
}

/// Spreads small numbers over all bits (the finalizer of SplitMix64, Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebULL;
    return x ^ (x >> 31);
}

// Codes of basic types that are not in the table begin here.
constexpr std::uint64_t k_unlisted = 1 << 16;

}  // namespace

Signature Signature::basic(std::uint64_t code, std::uint64_t bytes) {
    Signature one;
    if (bytes == 0) return one;  // a type that this MPI lacks, or a mark of bounds (MPI_LB, MPI_UB)
    one.hash_ = reduced(mixed(code + 1));
    one.power_ = k_base;
    one.bytes_ = bytes;
    return one;
}

Signature Signature::packed() {
    Signature one = basic(0, 1);
    one.packed_ = true;
    return one;
}

Signature Signature::joined(Signature const& next) const noexcept {
    Signature both;
    both.hash_ = reduced(product(hash_, next.power_) + next.hash_);
    both.power_ = product(power_, next.power_);
    both.bytes_ = bytes_ + next.bytes_;
    both.packed_ = packed_ || next.packed_;
    return both;
}

Signature Signature::repeated(std::uint64_t times) const noexcept {
    Signature result;
    for (Signature doubled = *this; times > 0; times >>= 1, doubled = doubled.joined(doubled))
        if ((times & 1) != 0) result = result.joined(doubled);
    return result;
}

SignatureWord::SignatureWord(Signature const& signature) noexcept {
    std::uint64_t const hash = (signature.hash() ^ signature.hash() >> k_hash_bits) & ((1ULL << k_hash_bits) - 1);
    bits_ = hash | (signature.bytes() << k_hash_bits & (k_unknown - 1)) | (signature.has_packed() ? k_packed : 0);
}

bool SignatureWord::is_joined_to(Signature& list) const noexcept {
    if (!is_known() || (bits_ & k_packed) != 0) return false;
    list = list.joined(Signature::basic(bits_, 1));
    return true;
}

SignatureWord SignatureWord::of_bits(std::uint64_t bits) noexcept {
    SignatureWord word;
    word.bits_ = bits;
    return word;
}

bool SignatureWord::matches(SignatureWord other) const noexcept {
    std::uint64_t const either = bits_ | other.bits_;
    std::uint64_t const different = bits_ ^ other.bits_;
    if ((either & k_unknown) != 0) return true;
    if ((either & k_packed) != 0) return (different & ~k_packed) >> k_hash_bits == 0;
    return different == 0;
}

SignatureWord SignatureWord::stricter(SignatureWord other) const noexcept {
    if (!is_known()) return other;
    return other.is_known() && (bits_ & k_packed) != 0 ? other : *this;
}

/// One datatype, constructor by constructor.
class Signatures::Walk {
  public:
    explicit Walk(Signatures const& table) : table_(table) {}

    Signature of(MPI_Datatype type) {
        if (Basic const* const basic = table_.find(type)) return basic->signature;
        if (auto const known = known_.find(type); known != known_.end()) return known->second;
        // The contents stay until the end: what they refer to must not get the handle of another type.
        contents_.push_back(std::make_unique<DatatypeContents>(type));
        Signature const made = made_by(type, *contents_.back());
        known_.emplace(type, made);
        return made;
    }

  private:
    Signature made_by(MPI_Datatype type, DatatypeContents const& made) {
        if (is_predefined(type)) {
            std::uint64_t const bytes = size_of_type(type);
            return Signature::basic(k_unlisted + bytes, bytes);
        }
        if (made.combiner() == MPI_COMBINER_STRUCT) return structure(made);
        // Each constructor except struct repeats one type, and the sizes say how often.
        std::uint64_t const each = size_of_type(made.type(0));
        return each == 0 ? Signature() : of(made.type(0)).repeated(size_of_type(type) / each);
    }

    Signature structure(DatatypeContents const& made) {
        Signature all;
        auto const count = static_cast<std::size_t>(made.integer(0));
        for (std::size_t i = 0; i < count; ++i)
            all = all.joined(of(made.type(i)).repeated(static_cast<std::uint64_t>(made.integer(1 + i))));
        return all;
    }

    Signatures const& table_;
    std::map<MPI_Datatype, Signature> known_;
    std::vector<std::unique_ptr<DatatypeContents>> contents_;
};

#define SLUICE_BASIC(type) \
    { type, #type }

Signatures::Signatures() {
    struct Named {
        MPI_Datatype type;
        char const* name;
    };
    Named const single[] = {
        SLUICE_BASIC(MPI_CHAR),
        SLUICE_BASIC(MPI_SHORT),
        SLUICE_BASIC(MPI_INT),
        SLUICE_BASIC(MPI_LONG),
        SLUICE_BASIC(MPI_LONG_LONG),
        SLUICE_BASIC(MPI_SIGNED_CHAR),
        SLUICE_BASIC(MPI_UNSIGNED_CHAR),
        SLUICE_BASIC(MPI_UNSIGNED_SHORT),
        SLUICE_BASIC(MPI_UNSIGNED),
        SLUICE_BASIC(MPI_UNSIGNED_LONG),
        SLUICE_BASIC(MPI_FLOAT),
        SLUICE_BASIC(MPI_UNSIGNED_LONG_LONG),
        SLUICE_BASIC(MPI_DOUBLE),
        SLUICE_BASIC(MPI_LONG_DOUBLE),
        SLUICE_BASIC(MPI_WCHAR),
        SLUICE_BASIC(MPI_C_BOOL),
        SLUICE_BASIC(MPI_INT8_T),
        SLUICE_BASIC(MPI_INT16_T),
        SLUICE_BASIC(MPI_INT32_T),
        SLUICE_BASIC(MPI_INT64_T),
        SLUICE_BASIC(MPI_UINT8_T),
        SLUICE_BASIC(MPI_UINT16_T),
        SLUICE_BASIC(MPI_UINT32_T),
        SLUICE_BASIC(MPI_UINT64_T),
        SLUICE_BASIC(MPI_AINT),
        SLUICE_BASIC(MPI_OFFSET),
        SLUICE_BASIC(MPI_COUNT),
        SLUICE_BASIC(MPI_BYTE),
        SLUICE_BASIC(MPI_C_FLOAT_COMPLEX),
        SLUICE_BASIC(MPI_INTEGER),
        SLUICE_BASIC(MPI_C_DOUBLE_COMPLEX),
        SLUICE_BASIC(MPI_REAL),
        SLUICE_BASIC(MPI_C_LONG_DOUBLE_COMPLEX),
        SLUICE_BASIC(MPI_COMPLEX),
        SLUICE_BASIC(MPI_LOGICAL),
        SLUICE_BASIC(MPI_CHARACTER),
        SLUICE_BASIC(MPI_INTEGER1),
        SLUICE_BASIC(MPI_DOUBLE_PRECISION),
        SLUICE_BASIC(MPI_INTEGER2),
        SLUICE_BASIC(MPI_DOUBLE_COMPLEX),
        SLUICE_BASIC(MPI_INTEGER4),
        SLUICE_BASIC(MPI_INTEGER8),
        SLUICE_BASIC(MPI_REAL4),
        SLUICE_BASIC(MPI_REAL8),
        SLUICE_BASIC(MPI_REAL16),
        SLUICE_BASIC(MPI_COMPLEX8),
        SLUICE_BASIC(MPI_COMPLEX16),
        SLUICE_BASIC(MPI_COMPLEX32),
    };
    basic_.reserve(std::size(single) + 10);
    add(MPI_PACKED, "MPI_PACKED", Signature::packed());
    std::uint64_t code = 1;
    for (Named const& named : single)
        if (named.type != MPI_DATATYPE_NULL)
            add(named.type, named.name, Signature::basic(code++, size_of_type(named.type)));

    // The types of MPI_MAXLOC and MPI_MINLOC are structures of two (MPI 3.1, section 5.9.4).
    struct Pair {
        Named pair;
        MPI_Datatype first, second;
    };
    Pair const pairs[] = {
        {SLUICE_BASIC(MPI_FLOAT_INT), MPI_FLOAT, MPI_INT},
        {SLUICE_BASIC(MPI_DOUBLE_INT), MPI_DOUBLE, MPI_INT},
        {SLUICE_BASIC(MPI_LONG_INT), MPI_LONG, MPI_INT},
        {SLUICE_BASIC(MPI_SHORT_INT), MPI_SHORT, MPI_INT},
        {SLUICE_BASIC(MPI_2INT), MPI_INT, MPI_INT},
        {SLUICE_BASIC(MPI_LONG_DOUBLE_INT), MPI_LONG_DOUBLE, MPI_INT},
        {SLUICE_BASIC(MPI_2REAL), MPI_REAL, MPI_REAL},
        {SLUICE_BASIC(MPI_2DOUBLE_PRECISION), MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
        {SLUICE_BASIC(MPI_2INTEGER), MPI_INTEGER, MPI_INTEGER},
    };
    for (Pair const& made : pairs)
        if (made.pair.type != MPI_DATATYPE_NULL && find(made.first) != nullptr && find(made.second) != nullptr)
            add(made.pair.type, made.pair.name, find(made.first)->signature.joined(find(made.second)->signature));
}

void Signatures::add(MPI_Datatype type, char const* name, Signature const& signature) {
    auto const at =
        std::lower_bound(basic_.begin(), basic_.end(), mpi::handle_key(type),
                         [](Basic const& basic, std::uint64_t key) { return mpi::handle_key(basic.type) < key; });
    if (at != basic_.end() && at->type == type) return;  // one type has two names
    basic_.insert(at, {type, name, signature});
}

Signatures::Basic const* Signatures::find(MPI_Datatype type) const noexcept {
    auto const at =
        std::lower_bound(basic_.begin(), basic_.end(), mpi::handle_key(type),
                         [](Basic const& basic, std::uint64_t key) { return mpi::handle_key(basic.type) < key; });
    return at != basic_.end() && at->type == type ? &*at : nullptr;
}

Signature Signatures::of(std::uint64_t count, MPI_Datatype type) const {
    return count == 0 ? Signature() : Walk(*this).of(type).repeated(count);
}

std::string Signatures::name_of(MPI_Datatype type) const {
    if (Basic const* const basic = find(type)) return basic->name;
    return "a type of " + std::to_string(size_of_type(type)) + " bytes";
}

}  // namespace sluice::types
