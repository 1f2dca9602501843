#include "report/node_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>

#include "report/valid.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_prefix = "node-";
constexpr std::string_view k_suffix = ".sluice";

std::vector<fs::path> node_files(fs::path const& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::string const name = entry->path().filename().string();
        if (name.starts_with(k_prefix) && name.ends_with(k_suffix)) files.push_back(entry->path());
    }
    if (error) throw Error(ErrorCode::invalid_argument, folder.string() + ": " + error.message());
    std::sort(files.begin(), files.end(), [](fs::path const& a, fs::path const& b) {
        // node-2 before node-10
        std::string const left = a.filename().string();
        std::string const right = b.filename().string();
        return left.size() != right.size() ? left.size() < right.size() : left < right;
    });
    return files;
}

/// One object of the file at `offset`; false where the file ends before it does.
template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& object) {
    static_assert(std::is_trivially_copyable_v<T>);
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&object), sizeof(T));
    return file.gcount() == static_cast<std::streamsize>(sizeof(T));
}

/// Why the file is none of ours, or empty.
std::string fault_of(NodeHeader const& header) {
    if (header.magic == 0) return "it was never begun (its head is empty)";
    if (header.magic != k_magic) return "it is no file of Sluice";
    if (header.format != k_format || header.record_bytes != sizeof(RankRecord))
        return fmt::format(
            "it is of another version: format {} with records of {} bytes, this version reads format {} with {}",
            header.format, header.record_bytes, k_format, sizeof(RankRecord));
    return {};
}

class Reader {
  public:
    explicit Reader(fs::path const& folder) : files_(node_files(folder)), record_(std::make_unique<RankRecord>()) {}

    /// Looks at every head, says what cannot be used, and learns what the job is.
    void survey();
    Summary summarise(std::span<char const* const> functions);

    std::vector<std::string> take_skipped() { return std::move(skipped_); }
    bool any() const { return !ranks_.empty(); }
    std::string first_reason() const { return skipped_.empty() ? "it holds no node-*.sluice" : skipped_.front(); }

  private:
    struct Place {
        std::size_t file = 0;
        std::uint64_t offset = 0;
        std::uint64_t rooted = 0;
    };

    void survey_file(std::size_t index);
    void survey_record(std::size_t index, std::uint64_t number);
    void skip(std::string const& what, std::string const& why) { skipped_.push_back(what + ": skipped, " + why); }

    std::vector<fs::path> files_;
    std::unique_ptr<RankRecord> record_;  // too large for a stack
    std::map<std::uint32_t, Place> ranks_;
    std::vector<std::string> skipped_;
    std::uint32_t world_size_ = 0;
    std::uint64_t duration_us_ = 0;
    std::ifstream file_;
};

void Reader::survey() {
    for (std::size_t i = 0; i < files_.size(); ++i)
        survey_file(i);
}

void Reader::survey_file(std::size_t index) {
    std::string const name = files_[index].filename().string();
    std::error_code error;
    std::uint64_t const size = fs::file_size(files_[index], error);
    file_ = std::ifstream(files_[index], std::ios::binary);
    NodeHeader header;
    if (error || !file_) return skip(name, "it cannot be read");
    if (!read_at(file_, 0, header))
        return skip(name, fmt::format("it ends after {} bytes, its head alone has {}", size, sizeof header));
    if (std::string const why = fault_of(header); !why.empty()) return skip(name, why);
    std::uint64_t const whole = (size - sizeof header) / sizeof(RankRecord);
    if (header.claimed > whole)
        skip(name,
             fmt::format("{} of its {} ranks: the file ends before them", header.claimed - whole, header.claimed));
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(header.claimed, whole); ++i)
        survey_record(index, i);
}

void Reader::survey_record(std::size_t index, std::uint64_t number) {
    std::string const name = files_[index].filename().string() + ", record " + std::to_string(number);
    std::uint64_t const offset = sizeof(NodeHeader) + number * sizeof(RankRecord);
    if (!read_at(file_, offset, *record_)) return skip(name, "it cannot be read");
    RankHead const& head = record_->head;
    if (std::string const why = fault_of(head); !why.empty()) return skip(name, why);
    if (world_size_ == 0) world_size_ = head.world_size;
    if (head.world_size != world_size_)
        return skip(name,
                    fmt::format("it is of a job of {} ranks, the others are of {}", head.world_size, world_size_));
    if (!ranks_.emplace(head.world_rank, Place{index, offset, rooted_comms(*record_)}).second)
        return skip(name, fmt::format("rank {} has another record", head.world_rank));
    duration_us_ = std::max({duration_us_, head.now_us, head.end_us});
}

Summary Reader::summarise(std::span<char const* const> functions) {
    Summary summary;
    std::map<std::size_t, NodeSum> nodes;
    std::uint64_t comms = 0;
    std::optional<std::size_t> open;
    for (auto const& [rank, place] : ranks_) {  // in the order of ranks: ids of communicators are prefix sums
        if (open != place.file) file_ = std::ifstream(files_[place.file], std::ios::binary);
        open = place.file;
        std::uint64_t const first_comm = comms;
        comms += place.rooted;
        if (!read_at(file_, place.offset, *record_) || !fault_of(record_->head).empty() ||
            record_->head.world_rank != rank || record_->head.world_size != world_size_) {
            skip("rank " + std::to_string(rank), "its record changed while it was read");
            continue;
        }
        merge(summary, summary_of(*record_, {functions, duration_us_, first_comm}));
        NodeSum& node = nodes[place.file];
        node.node = static_cast<std::uint32_t>(place.file);
        add_rank(node, *record_);
    }
    for (auto const& [file, node] : nodes)
        add_node(summary, node);
    return summary;
}

}  // namespace

bool has_node_files(fs::path const& folder) {
    return !node_files(folder).empty();
}

LeftBehind read_node_files(fs::path const& folder, std::span<char const* const> functions) {
    Reader reader(folder);
    reader.survey();
    if (!reader.any())
        throw Error(ErrorCode::invalid_argument,
                    folder.string() + ": no rank's record can be used: " + reader.first_reason());
    Summary summary = reader.summarise(functions);
    return {std::move(summary), reader.take_skipped()};
}

}  // namespace sluice::report
