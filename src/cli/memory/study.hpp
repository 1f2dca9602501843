// SPDX-License-Identifier: BSD-3-Clause
/// The results of the probe's runs on an MPI's memory: amounts, medians, laws, predictions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/memory/fit.hpp"

namespace sluice::cli {

/// The memory of all ranks after one phase of one run, in bytes.
struct PhaseMemory {
    std::vector<double> anonymous;
    std::vector<double> shared;
    std::vector<double> files;
    std::vector<double> heap;
};

/// One launch of the probe.
struct ProbeRun {
    int ranks = 0;
    std::string library;
    std::map<std::string, PhaseMemory> phases;
    std::map<std::string, std::string> refused;  ///< phases that the MPI refused, with its error
    bool complete = false;                       ///< the probe has printed everything; its exit status does not matter
                                                 ///< then
};

/// How many objects the probe makes of each kind.
struct ProbeObjects {
    int communicators = 100;
    int windows = 8;
    std::uint64_t window_bytes = 65536;
};

/// Bytes, in the three parts that grow by different laws.
struct Amount {
    double private_rank = 0;   ///< of a rank alone, mean over the ranks
    double private_worst = 0;  ///< of the rank that has the most
    double shared_node = 0;    ///< segments shared by the ranks, all of the node together
    double files_node = 0;     ///< programs and libraries, all of the node together
    double heap_rank = 0;      ///< handed out by malloc, mean over the ranks; a part of private_rank
};

enum class ItemKind { process, object };

/// A measured item: the difference of two phases, for one object.
struct Item {
    std::string name;
    ItemKind kind;
    bool grows;             ///< whether a law and a prediction make sense
    std::string from;       ///< the phase whose memory is subtracted; empty: none
    std::string to;         ///< the phase after the item was made
    double count = 1;       ///< objects made between the two phases
    double user_bytes = 0;  ///< on each rank in each object; the user's own, so subtracted
};

/// Returns all items in the order in which they are reported; items whose phases a run does not have are left out
/// later.
std::vector<Item> items(ProbeObjects const& objects);

/// Returns nothing if the run lacks one of the phases.
std::vector<Amount> amount_of(Item const& item, ProbeRun const& run);

struct Spread {
    double min = 0;
    double median = 0;
    double max = 0;
    double error = 0;  ///< standard error of the median
};

Spread spread_of(std::vector<double> values);

/// An item at one number of ranks, over the repeated runs.
struct Measured {
    int ranks = 0;
    int runs = 0;
    Spread private_rank;
    Spread private_worst;
    Spread shared_node;
    Spread files_node;
    Spread heap_rank;
};

/// An item with its laws. The private part grows with the ranks of the job, the others with the ranks of the node.
struct ItemStudy {
    Item item;
    std::vector<Measured> measured;
    std::vector<Fit> laws;  ///< of private_rank, shared_node, files_node; empty with fewer than three numbers of ranks,
                            ///< or for an item that does not grow
};

std::vector<ItemStudy> study(std::vector<ProbeRun> const& runs, ProbeObjects const& objects);

struct Prediction {
    Interval rank;           ///< of a rank: its private bytes, and its share of the node's
    Interval node;           ///< of all ranks of a node
    double beyond = 1;       ///< the predicted number of ranks, divided by the most that were measured
    double node_beyond = 1;  ///< the same for the ranks of a node
};

/// Predicts an item for a job of `ranks` ranks, with `per_node` of them on a node. The errors of the three parts are
/// added up, as if they had the same sign.
Prediction predict(ItemStudy const& study, int ranks, int per_node);

}  // namespace sluice::cli
