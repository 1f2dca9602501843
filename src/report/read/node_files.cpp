// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/node_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <tuple>

#include "record/node_file.hpp"
#include "report/read/contradictions.hpp"
#include "report/read/fate.hpp"
#include "report/read/sum_contradictions.hpp"
#include "report/summary/valid.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace {

// The clocks of two nodes may differ, and the files of one job must still be recognised.
constexpr std::uint64_t k_clocks_differ_us = 60'000'000;

constexpr std::size_t k_most_lines = 100;

/// What a file says of its job: the name and the times.
struct Surveyed {
    std::string name;
    std::uint32_t user = 0;
    std::string job;  // as it stands in the file's name: "node-<job>-<node>.sluice"
    std::uint32_t world_size = 0;
    std::uint64_t start_unix_us = 0;  // of the first rank
    std::uint64_t end_unix_us = 0;    // last sign of life of any rank
    std::uint64_t duration_us = 0;
    struct Record {
        std::uint64_t number = 0;
        CommCounts comms;
    };
    std::map<std::uint32_t, Record> ranks;
};

std::string job_in(std::string const& name) {
    std::size_t const first = name.find('-');
    std::size_t const last = name.rfind('-');
    return first == last ? std::string() : name.substr(first + 1, last - first - 1);
}

bool are_of_one_job(Surveyed const& a, Surveyed const& b) {
    return a.user == b.user && a.world_size == b.world_size && a.start_unix_us <= b.end_unix_us + k_clocks_differ_us &&
           b.start_unix_us <= a.end_unix_us + k_clocks_differ_us &&
           std::none_of(a.ranks.begin(), a.ranks.end(), [&](auto const& rank) { return b.ranks.contains(rank.first); });
}

std::string moment(std::uint64_t unix_us) {
    auto const seconds = static_cast<std::time_t>(unix_us / 1'000'000);
    std::tm parts{};
    std::array<char, 64> text{};
    if (gmtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        return "an impossible time";
    return text.data();
}

class Reader {
  public:
    Reader(kernel::Folder folder, std::vector<std::string> const& names, bool all_ended)
        : folder_(std::move(folder)), record_(std::make_unique<record::RankRecord>()), all_ended_(all_ended) {
        for (std::string const& name : names)
            survey(name);
        keep_the_last_job();
    }

    Summary summarise(std::span<char const* const> functions);

    std::vector<std::uint32_t> take_living() { return std::move(living_); }
    std::vector<std::string> take_skipped() { return std::move(skipped_); }
    bool any() const { return !files_.empty(); }
    std::string first_reason() const { return skipped_.empty() ? "it holds no node-*.sluice" : skipped_.front(); }

  private:
    /// Looks at every head and notes the records that cannot be used.
    void survey(std::string const& name);
    void survey_record(record::NodeFile const& file, std::uint64_t number, Surveyed& found);
    void keep_the_last_job();
    /// A file may claim any number of records that cannot be used.
    void skip(std::string const& what, std::string const& why) { tell(what + ": skipped, " + why); }

    void tell(std::string line) {
        if (skipped_.size() < k_most_lines)
            skipped_.push_back(std::move(line));
        else if (skipped_.size() == k_most_lines)
            skipped_.emplace_back("more was skipped; these are the first reasons");
    }

    record::State state_of(record::RankHead const& head, std::uint64_t now) const {
        bool const in_finalize = all_ended_ && head.state == record::State::finalizing;
        return in_finalize ? record::State::ended : fate_of(head, now);
    }

    /// A few tell the files that all have.
    void note_if_alive(kernel::ProcessMark const& process) {
        if (living_.size() < 4 && kernel::life_of(process) == kernel::Life::alive) living_.push_back(process.number);
    }

    kernel::Folder folder_;
    std::vector<Surveyed> files_;
    std::vector<std::uint32_t> living_;
    std::unique_ptr<record::RankRecord> record_;  // on the heap, because it is too large for a stack
    bool all_ended_;
    std::vector<std::string> skipped_;
};

void Reader::survey(std::string const& name) {
    Surveyed found;
    found.name = name;
    found.job = job_in(name);
    record::NodeFile const file(folder_, name);
    if (!file.fault().empty()) return skip(name, file.fault());
    found.user = file.user();
    if (file.claimed() > file.whole())
        skip(found.name, fmt::format("{} of its {} ranks: the file ends before them", file.claimed() - file.whole(),
                                     file.claimed()));
    for (std::uint64_t i = 0; i < file.whole(); ++i)
        survey_record(file, i, found);
    if (!found.ranks.empty()) files_.push_back(std::move(found));
}

void Reader::survey_record(record::NodeFile const& file, std::uint64_t number, Surveyed& found) {
    std::string const name = found.name + ", record " + std::to_string(number);
    if (!file.read_head(number, record_->head)) return skip(name, "it cannot be read");
    record::RankHead const& head = record_->head;
    if (std::string const why = fault_of(head); !why.empty()) return skip(name, why);
    if (!file.read(number, *record_)) return skip(name, "it cannot be read");
    if (found.ranks.empty()) {
        found.world_size = head.world_size;
        found.start_unix_us = head.start_unix_us;
    }
    if (head.world_size != found.world_size)
        return skip(name,
                    fmt::format("it is of a job of {} ranks, the others are of {}", head.world_size, found.world_size));
    if (!found.ranks.emplace(head.world_rank, Surveyed::Record{number, rooted_comms(*record_)}).second)
        return skip(name, fmt::format("rank {} has another record", head.world_rank));
    found.start_unix_us = std::min(found.start_unix_us, head.start_unix_us);
    found.end_unix_us = std::max(found.end_unix_us, last_sign_unix_us(head));
    found.duration_us = std::max({found.duration_us, head.now_us, head.end_us});
}

/// A folder may hold records of several jobs, one after the other: those of the last job are used. These are the file
/// that began last and all files that fit it, preferably those with the same job name, because two jobs may run at
/// once. The user's own files come before those that other users have put there.
void Reader::keep_the_last_job() {
    if (files_.empty()) return;
    std::uint32_t const me = geteuid();
    auto const newest = std::max_element(files_.begin(), files_.end(), [me](Surveyed const& a, Surveyed const& b) {
        return std::tuple(a.user == me, a.start_unix_us, b.name) < std::tuple(b.user == me, b.start_unix_us, a.name);
    });
    std::iter_swap(files_.begin(), newest);
    std::string const job = files_.front().job;
    std::stable_sort(files_.begin() + 1, files_.end(), [&job](Surveyed const& a, Surveyed const& b) {
        return std::tuple(a.job != job, ~a.start_unix_us) < std::tuple(b.job != job, ~b.start_unix_us);
    });
    std::vector<Surveyed> kept;
    for (Surveyed& file : files_) {
        bool const fits =
            std::all_of(kept.begin(), kept.end(), [&](Surveyed const& other) { return are_of_one_job(file, other); });
        if (fits)
            kept.push_back(std::move(file));
        else
            skip(file.name, fmt::format("it is of another job, which began at {}; the last one began at {}",
                                        moment(file.start_unix_us), moment(kept.front().start_unix_us)));
    }
    // Nodes are numbered by their lowest rank.
    std::sort(kept.begin(), kept.end(),
              [](Surveyed const& a, Surveyed const& b) { return a.ranks.begin()->first < b.ranks.begin()->first; });
    files_ = std::move(kept);
}

Summary Reader::summarise(std::span<char const* const> functions) {
    struct Place {
        std::size_t file;
        Surveyed::Record record;
    };
    Scope scope{functions, 0, {}, 0, 0};
    std::map<std::uint32_t, Place> ranks;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        Surveyed const& file = files_[i];
        scope.duration_us = std::max(scope.duration_us, file.duration_us);
        scope.start_unix_us = i == 0 ? file.start_unix_us : std::min(scope.start_unix_us, file.start_unix_us);
        for (auto const& [rank, record] : file.ranks) {
            ranks.emplace(rank, Place{i, record});
            scope.comms_of_several += record.comms.several;
        }
    }
    Summary summary;
    std::map<std::size_t, NodeSum> nodes;
    std::unique_ptr<record::NodeFile> file;
    std::size_t open = files_.size();
    std::uint64_t const now = now_unix_us();
    for (auto const& [rank, place] : ranks) {  // in the order of ranks: ids of communicators are prefix sums
        if (open != place.file) file = std::make_unique<record::NodeFile>(folder_, files_[place.file].name);
        open = place.file;
        bool const same = file->fault().empty() && file->read(place.record.number, *record_) &&
                          fault_of(record_->head).empty() && record_->head.world_rank == rank &&
                          record_->head.world_size == files_[place.file].world_size;
        if (same) {
            note_if_alive(record_->head.process);
            record_->head.state = state_of(record_->head, now);
            for (std::string const& fault : contradictions_of(*record_))
                tell(line_of_contradiction("rank " + std::to_string(rank), fault));
            merge(summary, summary_of(*record_, scope));
            NodeSum& node = nodes[place.file];
            node.node = static_cast<std::uint32_t>(place.file);
            add_rank(node, *record_);
        } else {
            skip("rank " + std::to_string(rank), "its record changed while it was read");
        }
        scope.comms_before += place.record.comms;
    }
    for (auto const& [number, node] : nodes)
        add_node(summary, node);
    for (std::string& line : lines_of_contradictions(summary))
        tell(std::move(line));
    return summary;
}

}  // namespace

bool has_node_files(std::filesystem::path const& folder) {
    return !record::node_files_in(kernel::Folder::named(folder)).empty();
}

namespace {

LeftBehind read(kernel::Folder folder, std::vector<std::string> const& names, bool all_ended,
                std::span<char const* const> functions) {
    if (!folder.is_open()) throw Error(ErrorCode::invalid_argument, folder.path() + ": " + folder.why());
    std::string const path = folder.path();
    Reader reader(std::move(folder), names, all_ended);
    if (!reader.any())
        throw Error(ErrorCode::invalid_argument, path + ": no rank's record can be used: " + reader.first_reason());
    Summary summary = reader.summarise(functions);
    return {std::move(summary), reader.take_living(), reader.take_skipped()};
}

}  // namespace

LeftBehind read_node_files(std::filesystem::path const& path, std::span<char const* const> functions) {
    kernel::Folder folder = kernel::Folder::named(path);
    std::vector<std::string> const names = record::node_files_in(folder);
    return read(std::move(folder), names, false, functions);
}

LeftBehind read_ended(std::filesystem::path const& node_file, std::span<char const* const> functions) {
    return read(kernel::Folder::named(node_file.parent_path()), {node_file.filename()}, true, functions);
}

}  // namespace sluice::report
