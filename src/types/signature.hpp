// SPDX-License-Identifier: BSD-3-Clause
/// Type signatures (MPI 3.1, section 4.1): the sequence of basic types that a message consists of, without their places
/// in memory. Two sides of a transfer match when their signatures are equal: 6 × MPI_INT and 2 × contiguous(3, MPI_INT)
/// are.
///
/// A signature is kept as a polynomial hash over the sequence, so that two of them are joined, and one is repeated n
/// times, without writing the sequence out (Karp and Rabin 1987).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::types {

class Signature {
  public:
    /// The signature of no data.
    Signature() = default;
    /// One basic type. `code` tells basic types apart.
    static Signature basic(std::uint64_t code, std::uint64_t bytes);
    /// One MPI_PACKED, which is a byte of whatever was packed.
    static Signature packed();

    Signature joined(Signature const& next) const noexcept;
    Signature repeated(std::uint64_t times) const noexcept;

    std::uint64_t hash() const noexcept { return hash_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    bool has_packed() const noexcept { return packed_; }
    bool operator==(Signature const&) const = default;

  private:
    std::uint64_t hash_ = 0;   // of the sequence, modulo 2^61 - 1
    std::uint64_t power_ = 1;  // base to the length of the sequence
    std::uint64_t bytes_ = 0;
    bool packed_ = false;
};

/// A signature in 8 bytes, as the members of a call exchange it: 40 bits of the hash, and the bytes modulo 4 Mi, since
/// MPI_PACKED matches any signature and only its bytes can be compared. An unknown one matches every other.
class SignatureWord {
  public:
    SignatureWord() = default;
    explicit SignatureWord(Signature const& signature) noexcept;
    /// The word of several signatures in order, for lists that members must have in common.
    template <class WordOf>
    static SignatureWord of_list(int length, WordOf const& word_of) {
        Signature all;
        for (int i = 0; i < length; ++i)
            if (!word_of(i).is_joined_to(all)) return {};
        return SignatureWord(all);
    }
    static SignatureWord of_bits(std::uint64_t bits) noexcept;

    std::uint64_t bits() const noexcept { return bits_; }
    bool is_known() const noexcept { return (bits_ & k_unknown) == 0; }
    bool matches(SignatureWord other) const noexcept;
    /// Returns the stricter of two words that match: a word that matches the result matches both.
    SignatureWord stricter(SignatureWord other) const noexcept;

  private:
    bool is_joined_to(Signature& list) const noexcept;  // or the whole list matches anything

    static constexpr std::uint64_t k_packed = std::uint64_t{1} << 63;
    static constexpr std::uint64_t k_unknown = std::uint64_t{1} << 62;
    static constexpr unsigned k_hash_bits = 40;

    std::uint64_t bits_ = k_unknown;
};

/// Signatures of the datatypes of an MPI.
class Signatures {
  public:
    Signatures();

    /// Takes time and memory in proportion to the constructors that `type` was made with, whatever `count` is.
    Signature of(std::uint64_t count, MPI_Datatype type) const;
    /// "MPI_INT"; "a derived type of 24 bytes".
    std::string name_of(MPI_Datatype type) const;

  private:
    class Walk;
    struct Basic {
        MPI_Datatype type;
        char const* name;
        Signature signature;
    };

    Basic const* find(MPI_Datatype type) const noexcept;
    void add(MPI_Datatype type, char const* name, Signature const& signature);

    std::vector<Basic> basic_;  // sorted by handle
};

}  // namespace sluice::types
