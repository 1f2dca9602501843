// SPDX-License-Identifier: BSD-3-Clause
/// Takes a datatype apart, constructor by constructor (MPI 3.1, section 4.1), into the nodes of a TypeMap.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "types/datatype_contents.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::types {

namespace {

std::int64_t extent_of_type(MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    mpi::check(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
    return extent;
}

}  // namespace

class TypeMapBuilder {
  public:
    using Node = TypeMap::Node;
    using Kind = TypeMap::Kind;

    explicit TypeMapBuilder(TypeMap& map) : map_(map) {}

    Node node_of(MPI_Datatype type) {
        if (auto const known = known_.find(type); known != known_.end()) return known->second;
        // The contents are kept until the map is made, so that no other type gets the handle of a type they refer to.
        contents_.push_back(std::make_unique<DatatypeContents>(type));
        Node const made = made_by(type, *contents_.back());
        known_.emplace(type, made);
        return made;
    }

    /// The nesting of loops and lists below `root`. Children precede their parents, so one sweep suffices.
    std::size_t depth_of(Node const& root) const {
        std::vector<std::size_t> depths;
        auto const depth = [&](Node const& node) -> std::size_t {
            if (node.kind == Kind::run) return 0;
            if (node.kind == Kind::loop) return 1 + depths[node.child];
            std::size_t deepest = 0;
            for (std::uint64_t i = 0; i < node.count; ++i)
                if (std::uint32_t const inner = map_.entry(node.child + i).node; inner != TypeMap::k_none)
                    deepest = std::max(deepest, depths[inner]);
            return 1 + deepest;
        };
        for (Node const& node : map_.nodes_)
            depths.push_back(depth(node));
        return depth(root);
    }

  private:
    static Node run(std::int64_t offset, std::uint64_t size) {
        Node node;
        node.offset = offset;
        node.size = size;
        return node;
    }

    std::uint32_t keep(Node const& node) {
        map_.nodes_.push_back(node);
        return static_cast<std::uint32_t>(map_.nodes_.size() - 1);
    }

    /// Repeats `child` `count` times, `stride` bytes apart, beginning at `offset`. Adjacent runs become one, and so do
    /// loops that continue each other.
    Node loop(std::int64_t offset, std::int64_t count, std::int64_t stride, Node const& child) {
        if (count <= 0 || child.size == 0) return run(offset, 0);
        auto const times = static_cast<std::uint64_t>(count);
        if (child.kind == Kind::run && (times == 1 || stride == static_cast<std::int64_t>(child.size)))
            return run(offset + child.offset, times * child.size);
        if (child.kind == Kind::loop &&
            (times == 1 || stride == child.stride * static_cast<std::int64_t>(child.count))) {
            Node longer = child;
            longer.offset += offset;
            longer.count *= times;
            longer.size *= times;
            return longer;
        }
        Node node;
        node.kind = Kind::loop;
        node.child = keep(child);
        node.size = child.size * times;
        node.count = times;
        node.offset = offset;
        node.stride = stride;
        return node;
    }

    /// Builds a list of parts in order; adjacent runs become one.
    class List {
      public:
        explicit List(TypeMapBuilder& builder) : builder_(builder) {}

        void add(std::int64_t offset, Node const& node) {
            if (node.size == 0) return;
            size_ += node.size;
            if (node.kind != Kind::run) {
                entries_.push_back({offset, node.size, builder_.keep(node)});
                return;
            }
            std::int64_t const begin = offset + node.offset;
            if (!entries_.empty() && entries_.back().node == TypeMap::k_none &&
                entries_.back().offset + static_cast<std::int64_t>(entries_.back().size) == begin)
                entries_.back().size += node.size;
            else
                entries_.push_back({begin, node.size, TypeMap::k_none});
        }

        Node finish() {
            if (entries_.empty()) return run(0, 0);
            TypeMap::Entry const& only = entries_.front();
            if (entries_.size() == 1)
                return only.node == TypeMap::k_none ? run(only.offset, only.size)
                                                    : builder_.loop(only.offset, 1, 0, builder_.map_.node(only.node));
            Node node;
            node.kind = Kind::list;
            node.child = static_cast<std::uint32_t>(builder_.map_.entries_.size());
            node.count = entries_.size();
            node.size = size_;
            builder_.map_.entries_.insert(builder_.map_.entries_.end(), entries_.begin(), entries_.end());
            return node;
        }

      private:
        TypeMapBuilder& builder_;
        std::vector<TypeMap::Entry> entries_;
        std::uint64_t size_ = 0;
    };

    Node named(MPI_Datatype type) {
        struct ShortInt {
            short value;
            int index;
        };
        // This is the only predefined type with a gap inside; those with one at the end (MPI_DOUBLE_INT) are dense.
        if (type != MPI_SHORT_INT) return run(0, size_of_type(type));
        List parts(*this);
        parts.add(0, run(0, sizeof(short)));
        parts.add(offsetof(ShortInt, index), run(0, sizeof(int)));
        return parts.finish();
    }

    Node vector(DatatypeContents const& made, bool stride_in_bytes) {
        Node const child = node_of(made.type(0));
        std::int64_t const extent = extent_of_type(made.type(0));
        std::int64_t const stride = stride_in_bytes ? made.address(0) : made.integer(2) * extent;
        return loop(0, made.integer(0), stride, loop(0, made.integer(1), extent, child));
    }

    /// Makes blocks of `length(i)` elements at `displacement(i)` bytes.
    template <typename Length, typename Displacement>
    Node indexed(DatatypeContents const& made, Length const& length, Displacement const& displacement) {
        Node const child = node_of(made.type(0));
        std::int64_t const extent = extent_of_type(made.type(0));
        List blocks(*this);
        auto const count = static_cast<std::size_t>(made.integer(0));
        for (std::size_t i = 0; i < count; ++i)
            blocks.add(displacement(i, extent), loop(0, length(i), extent, child));
        return blocks.finish();
    }

    Node structure(DatatypeContents const& made) {
        List members(*this);
        auto const count = static_cast<std::size_t>(made.integer(0));
        for (std::size_t i = 0; i < count; ++i)
            members.add(made.address(i),
                        loop(0, made.integer(1 + i), extent_of_type(made.type(i)), node_of(made.type(i))));
        return members.finish();
    }

    /// Combines the dimensions of an array of `made.type(0)`, the fastest first: `each(dimension, distance of its
    /// elements, node of one element)` returns the node of the whole dimension.
    template <typename Each>
    Node array(DatatypeContents const& made, std::size_t dims, std::size_t sizes_at, std::int64_t order,
               Each const& each) {
        Node node = node_of(made.type(0));
        std::int64_t stride = extent_of_type(made.type(0));
        for (std::size_t i = 0; i < dims; ++i) {
            std::size_t const dim = order == MPI_ORDER_C ? dims - 1 - i : i;
            node = each(dim, stride, node);
            stride *= made.integer(sizes_at + dim);
        }
        return node;
    }

    Node subarray(DatatypeContents const& made) {
        auto const dims = static_cast<std::size_t>(made.integer(0));
        return array(
            made, dims, 1, made.integer(3 * dims + 1), [&](std::size_t dim, std::int64_t stride, Node const& element) {
                return loop(made.integer(1 + 2 * dims + dim) * stride, made.integer(1 + dims + dim), stride, element);
            });
    }

    Node darray(DatatypeContents const& made) {
        auto const dims = static_cast<std::size_t>(made.integer(2));
        auto const field = [&](std::size_t which, std::size_t dim) { return made.integer(3 + which * dims + dim); };
        // Processes are numbered row by row, whatever the order of the array.
        std::vector<std::int64_t> coordinates(dims);
        std::int64_t rank = made.integer(1);
        for (std::size_t dim = dims; dim-- > 0;) {
            coordinates[dim] = rank % field(3, dim);
            rank /= field(3, dim);
        }
        return array(made, dims, 3, made.integer(3 + 4 * dims),
                     [&](std::size_t dim, std::int64_t stride, Node const& element) {
                         return distributed({field(0, dim), field(1, dim), field(2, dim), field(3, dim)},
                                            coordinates[dim], stride, element);
                     });
    }

    struct Distribution {
        std::int64_t elements;
        std::int64_t kind;
        std::int64_t argument;
        std::int64_t processes;
    };

    /// Makes one dimension of a distributed array: blocks are dealt out in turns, and a block distribution has a single
    /// turn.
    Node distributed(Distribution const& how, std::int64_t process, std::int64_t stride, Node const& element) {
        std::int64_t block = how.argument;
        if (how.kind == MPI_DISTRIBUTE_NONE)
            block = how.elements;
        else if (how.argument == MPI_DISTRIBUTE_DFLT_DARG)
            block = how.kind == MPI_DISTRIBUTE_CYCLIC ? 1 : (how.elements + how.processes - 1) / how.processes;
        std::int64_t const period = block * how.processes;
        std::int64_t const first = block * process;
        std::int64_t const left = std::max<std::int64_t>(0, how.elements - first);
        std::int64_t const whole = (left + period - block) / period;
        std::int64_t const rest = std::max<std::int64_t>(0, std::min(block, left - whole * period));
        List blocks(*this);
        blocks.add(0, loop(first * stride, whole, period * stride, loop(0, block, stride, element)));
        blocks.add(0, loop((first + whole * period) * stride, rest, stride, element));
        return blocks.finish();
    }

    Node made_by(MPI_Datatype type, DatatypeContents const& made) {
        auto const count = [&] { return static_cast<std::size_t>(made.integer(0)); };
        auto const own_length = [&](std::size_t i) { return made.integer(1 + i); };
        auto const one_length = [&](std::size_t) { return made.integer(1); };
        auto const in_bytes = [&](std::size_t i, std::int64_t) { return made.address(i); };
        switch (made.combiner()) {
            case MPI_COMBINER_NAMED:
                return named(type);
            case MPI_COMBINER_F90_REAL:
            case MPI_COMBINER_F90_COMPLEX:
            case MPI_COMBINER_F90_INTEGER:
                return run(0, size_of_type(type));
            case MPI_COMBINER_DUP:
            case MPI_COMBINER_RESIZED:
                return node_of(made.type(0));
            case MPI_COMBINER_CONTIGUOUS:
                return loop(0, made.integer(0), extent_of_type(made.type(0)), node_of(made.type(0)));
            case MPI_COMBINER_VECTOR:
                return vector(made, false);
            case MPI_COMBINER_HVECTOR:
                return vector(made, true);
            case MPI_COMBINER_INDEXED:
                return indexed(made, own_length, [&](std::size_t i, std::int64_t extent) {
                    return made.integer(1 + count() + i) * extent;
                });
            case MPI_COMBINER_HINDEXED:
                return indexed(made, own_length, in_bytes);
            case MPI_COMBINER_INDEXED_BLOCK:
                return indexed(made, one_length,
                               [&](std::size_t i, std::int64_t extent) { return made.integer(2 + i) * extent; });
            case MPI_COMBINER_HINDEXED_BLOCK:
                return indexed(made, one_length, in_bytes);
            case MPI_COMBINER_STRUCT:
                return structure(made);
            case MPI_COMBINER_SUBARRAY:
                return subarray(made);
            case MPI_COMBINER_DARRAY:
                return darray(made);
            default:
                throw Error(ErrorCode::unsupported,
                            "a datatype with combiner " + std::to_string(made.combiner()) + " cannot be taken apart");
        }
    }

    TypeMap& map_;
    std::map<MPI_Datatype, Node> known_;
    std::vector<std::unique_ptr<DatatypeContents>> contents_;
};

TypeMap::TypeMap(MPI_Datatype type) : extent_(extent_of_type(type)) {
    if (type != MPI_SHORT_INT && is_predefined(type)) {  // most programs use nothing else
        root_.size = size_of_type(type);
        return;
    }
    TypeMapBuilder builder(*this);
    root_ = builder.node_of(type);
    if (root_.kind == Kind::run) {
        nodes_.clear();
        entries_.clear();
    }
    nodes_.shrink_to_fit();
    entries_.shrink_to_fit();
    depth_ = builder.depth_of(root_);
}

}  // namespace sluice::types
