// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_type.hpp"

#include <algorithm>
#include <array>

namespace sluice::tests {

std::int64_t DrawnType::size() const {
    MPI_Count size = 0;
    MPI_Type_size_x(type_, &size);
    return size;
}

std::int64_t DrawnType::extent() const {
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type_, &low, &extent);
    return extent;
}

std::pair<std::int64_t, std::int64_t> DrawnType::bounds(std::int64_t count) const {
    if (count == 0 || size() == 0) return {0, 0};
    MPI_Aint low = 0;
    MPI_Aint true_extent = 0;
    MPI_Type_get_true_extent(type_, &low, &true_extent);
    std::int64_t const last = (count - 1) * extent();
    return {low + std::min<std::int64_t>(0, last), low + true_extent + std::max<std::int64_t>(0, last)};
}

namespace {

class Draw {
  public:
    explicit Draw(std::mt19937_64& random) : random_(random) {}

    DrawnType type(int depth) {
        if (depth == 0 || number(0, 7) == 0) return leaf();
        DrawnType const inner = spread(type(depth - 1));
        MPI_Datatype made = MPI_DATATYPE_NULL;
        std::string text;
        switch (number(0, 11)) {
            case 0: {
                int const count = number(0, 4);
                MPI_Type_contiguous(count, inner.get(), &made);
                text = "contiguous(" + std::to_string(count);
                break;
            }
            case 1: {
                int const count = number(0, 4);
                int const length = number(0, 3);
                // Open MPI 4.1.4 packs a vector wrongly if its blocks touch in falling order.
                int const stride = number(0, 3) == 0 ? -(length + number(1, 2)) : length + number(0, 2);
                MPI_Type_vector(count, length, stride, inner.get(), &made);
                text = "vector(" + list({count, length, stride});
                break;
            }
            case 2: {
                int const count = number(0, 4);
                int const length = number(0, 3);
                MPI_Aint const stride = length * inner.extent() + number(0, 9);
                MPI_Type_create_hvector(count, length, stride, inner.get(), &made);
                text = "hvector(" + list({count, length, stride});
                break;
            }
            case 3: {
                place_blocks(1, false);
                MPI_Type_indexed(blocks(), lengths_.data(), places_.data(), inner.get(), &made);
                text = "indexed([" + pairs() + "]";
                break;
            }
            case 4: {
                place_blocks(inner.extent(), false);
                MPI_Type_create_hindexed(blocks(), lengths_.data(), byte_places_.data(), inner.get(), &made);
                text = "hindexed([" + pairs() + "]";
                break;
            }
            case 5: {
                int const length = place_blocks(1, true);
                MPI_Type_create_indexed_block(blocks(), length, places_.data(), inner.get(), &made);
                text = "indexed_block([" + pairs() + "]";
                break;
            }
            case 6: {
                int const length = place_blocks(inner.extent(), true);
                MPI_Type_create_hindexed_block(blocks(), length, byte_places_.data(), inner.get(), &made);
                text = "hindexed_block([" + pairs() + "]";
                break;
            }
            case 7:
                return structure(inner, spread(type(depth - 1)));
            case 8: {
                int const dims = number(1, 3);
                std::array<int, 3> sizes{}, parts{}, starts{};
                for (auto d = 0U; d < static_cast<unsigned>(dims); ++d) {
                    sizes[d] = number(1, 4);
                    parts[d] = number(1, sizes[d]);
                    starts[d] = number(0, sizes[d] - parts[d]);
                }
                int const order = number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
                MPI_Type_create_subarray(dims, sizes.data(), parts.data(), starts.data(), order, inner.get(), &made);
                text = "subarray(" + list({dims, order == MPI_ORDER_C ? 0 : 1}) + ", sizes " +
                       list({sizes[0], sizes[1], sizes[2]}) + ", parts " + list({parts[0], parts[1], parts[2]}) +
                       ", starts " + list({starts[0], starts[1], starts[2]});
                break;
            }
            case 9:
                if (inner.size() == 0)
                    return distributed_array(leaf());  // Open MPI refuses to distribute an empty type
                return distributed_array(inner);
            case 10: {
                auto const [low, high] = inner.bounds(1);
                MPI_Aint const begin = low - number(0, 5);
                MPI_Aint const extent = high - begin + number(0, 5);
                MPI_Type_create_resized(inner.get(), begin, extent, &made);
                text = "resized(" + list({begin, extent});
                break;
            }
            default:
                MPI_Type_dup(inner.get(), &made);
                text = "dup(as it is";
                break;
        }
        return finish(made, text + ", " + inner.text() + ")");
    }

    /// The extent is wide enough that elements one extent apart do not overlap. With Open MPI the bounds of a resized
    /// member are those of a structure, whatever its other members are.
    static DrawnType spread(DrawnType inner) {
        auto const [low, high] = inner.bounds(1);
        if (inner.extent() >= high - low) return inner;
        MPI_Datatype wide = MPI_DATATYPE_NULL;
        MPI_Type_create_resized(inner.get(), low, high - low, &wide);
        std::string const text = "resized(" + list({low, high - low}) + ", " + inner.text() + ")";
        return finish(wide, text);
    }

  private:
    int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

    static DrawnType finish(MPI_Datatype made, std::string const& text) {
        MPI_Type_commit(&made);
        return {made, true, text};
    }

    static std::string list(std::initializer_list<std::int64_t> numbers) {
        std::string text;
        for (std::int64_t const n : numbers)
            text += (text.empty() ? "" : " ") + std::to_string(n);
        return text;
    }

    DrawnType leaf() {
        struct Named {
            MPI_Datatype type;
            char const* name;
        };
        std::array<Named, 10> const leaves{{{MPI_CHAR, "char"},
                                            {MPI_SHORT, "short"},
                                            {MPI_INT, "int"},
                                            {MPI_DOUBLE, "double"},
                                            {MPI_BYTE, "byte"},
                                            {MPI_C_DOUBLE_COMPLEX, "complex"},
                                            {MPI_LONG_LONG, "long long"},
                                            {MPI_FLOAT_INT, "float_int"},
                                            {MPI_SHORT_INT, "short_int"},
                                            {MPI_DOUBLE_INT, "double_int"}}};
        Named const& chosen = leaves[static_cast<std::size_t>(number(0, 9))];
        return {chosen.type, false, chosen.name};
    }

    int blocks() const { return static_cast<int>(lengths_.size()); }

    /// Places blocks after each other with gaps, from a displacement that may be negative, then shuffles them. Returns
    /// the length of the last block, which is that of all if they are alike.
    int place_blocks(std::int64_t unit, bool alike) {
        int const count = number(0, 5);
        lengths_.clear();
        places_.clear();
        byte_places_.clear();
        int const length = number(0, 3);
        std::int64_t place = number(-6, 6);
        std::vector<std::pair<int, std::int64_t>> drawn;
        for (int i = 0; i < count; ++i) {
            drawn.emplace_back(alike ? length : number(0, 3), place);
            place += drawn.back().first * unit + number(0, 2) * (unit > 1 ? 3 : 1);
        }
        std::shuffle(drawn.begin(), drawn.end(), random_);
        for (auto const& [each, at] : drawn) {
            lengths_.push_back(each);
            places_.push_back(static_cast<int>(at));
            byte_places_.push_back(at);
        }
        return length;
    }

    std::string pairs() const {
        std::string text;
        for (std::size_t i = 0; i < lengths_.size(); ++i)
            text += (i == 0 ? "" : ", ") + list({lengths_[i], places_[i]});
        return text;
    }

    DrawnType structure(DrawnType const& a, DrawnType const& b) {
        int const count = number(0, 4);
        std::vector<int> lengths;
        std::vector<MPI_Aint> places;
        std::vector<MPI_Datatype> types;
        std::string text = "struct(";
        MPI_Aint end = number(-20, 20);
        for (int i = 0; i < count; ++i) {
            DrawnType const& part = number(0, 1) == 0 ? a : b;
            // Open MPI 4.1.4 counts empty members in the extent, but not when it packs.
            if (part.size() == 0) continue;
            lengths.push_back(number(1, 2));
            types.push_back(part.get());
            auto const [low, high] = part.bounds(lengths.back());
            places.push_back(end - low + number(0, 5));
            end = places.back() + high;
            text += list({lengths.back(), places.back()}) + " " + part.text() + "; ";
        }
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), places.data(), types.data(), &made);
        return finish(made, text + ")");
    }

    DrawnType distributed_array(DrawnType const& inner) {
        int const dims = number(1, 3);
        std::array<int, 3> sizes{}, kinds{}, arguments{}, processes{1, 1, 1};
        for (auto d = 0U; d < static_cast<unsigned>(dims); ++d) {
            sizes[d] = number(1, 6);
            kinds[d] = std::array{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                  MPI_DISTRIBUTE_NONE}[static_cast<std::size_t>(number(0, 2))];
            processes[d] = kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : number(1, 3);
            arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
            if (kinds[d] == MPI_DISTRIBUTE_CYCLIC && number(0, 1) == 0) arguments[d] = number(1, 3);
        }
        int const size = processes[0] * processes[1] * processes[2];
        int const rank = number(0, size - 1);
        int const order = number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_create_darray(size, rank, dims, sizes.data(), kinds.data(), arguments.data(), processes.data(), order,
                               inner.get(), &made);
        return finish(made, "darray(" + list({size, rank, dims, order == MPI_ORDER_C ? 0 : 1}) + ", sizes " +
                                list({sizes[0], sizes[1], sizes[2]}) + ", kinds " +
                                list({kinds[0], kinds[1], kinds[2]}) + ", arguments " +
                                list({arguments[0], arguments[1], arguments[2]}) + ", processes " +
                                list({processes[0], processes[1], processes[2]}) + ", " + inner.text() + ")");
    }

    std::mt19937_64& random_;
    std::vector<int> lengths_;
    std::vector<int> places_;
    std::vector<MPI_Aint> byte_places_;
};

}  // namespace

DrawnType draw_type(std::mt19937_64& random, int depth) {
    return Draw::spread(Draw(random).type(depth));
}

TypedBlock::TypedBlock(DrawnType const& type, std::int64_t count) {
    auto const [low, high] = type.bounds(count);
    low_ = low;
    bytes_.assign(static_cast<std::size_t>(high - low + 2 * k_guard), 0xa5);
}

void TypedBlock::fill(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (unsigned char& byte : bytes_)
        byte = static_cast<unsigned char>(random());
}

}  // namespace sluice::tests
