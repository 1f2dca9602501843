// SPDX-License-Identifier: BSD-3-Clause
#include "record/record_file.hpp"

#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

#include "base/hash.hpp"
#include "base/units.hpp"
#include "kernel/files/without_signals.hpp"

namespace sluice::record {

namespace {

// Each record begins on a page of its own.
constexpr std::size_t k_record_room = sizeof(RankRecord);
static_assert(k_record_room % 4096 == 0);

// Jobs with the same name may follow one another or be nested (MPI_Comm_spawn).
constexpr int k_names = 99;
constexpr std::string_view k_file_suffix = ".sluice";

/// "node-a.sluice", "node-a-2.sluice", …
std::string name_in_series(std::string const& first, int number) {
    if (number == 1) return first;
    return first.substr(0, first.size() - k_file_suffix.size()) + "-" + std::to_string(number) +
           std::string(k_file_suffix);
}

/// The place of `name` in the series of `first`; 0 if it is of no such series.
int number_in_series(std::string const& first, std::string_view name) {
    if (name == first) return 1;
    name.remove_prefix(std::min(name.size(), first.size() - k_file_suffix.size()));
    if (!name.starts_with('-') || !name.ends_with(k_file_suffix)) return 0;
    std::string_view const digits = name.substr(1, name.size() - 1 - k_file_suffix.size());
    int number = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    bool const whole = error == std::errc{} && end == digits.data() + digits.size() && digits.front() != '0';
    return whole && number >= 2 && number <= k_names ? number : 0;
}

/// A file that was renamed is not that of the job whose name it has now.
std::uint64_t mark_of(std::string const& name) {
    return base::Fnv1a().add(std::string_view(name)).value();
}

/// Holds the lock of a file against the other ranks of the node that are claiming a record.
class LockedFile {
  public:
    explicit LockedFile(int file) noexcept : file_(file) {
        is_locked_ = flock(file_, LOCK_EX) == 0 || errno == ENOSYS || errno == ENOTSUP;
    }
    LockedFile(LockedFile const&) = delete;
    LockedFile& operator=(LockedFile const&) = delete;
    ~LockedFile() { flock(file_, LOCK_UN); }  // closing does not unlock a file that stays mapped
    bool is_locked() const noexcept { return is_locked_; }

  private:
    int file_;
    bool is_locked_;
};

/// True if the first rank that claimed a record has ended and no rank decided: its job ended inside MPI_Init.
bool is_abandoned(NodeHeader const& node) {
    return node.arrived > 0 && kernel::life_of(node.first) == kernel::Life::gone;
}

void* map_shared(int file, std::size_t offset, std::size_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    return at == MAP_FAILED ? nullptr : at;
}

/// Fresh pages hold zeros, which is what the tables of a record begin with, and only the used entries of a table are
/// read. So pages of the record take memory when the rank first writes to them. `used`: another record was there.
RankRecord* begin_record(void* at, bool used) {
    if (used) std::memset(at, 0, sizeof(RankRecord));
    auto* const record = static_cast<RankRecord*>(at);
    new (&record->head) RankHead();
    return record;
}

void* private_pages(std::size_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return at;
}

}  // namespace

RecordFile::RecordFile() : why_("no file was requested") {
    map_private();
}

RecordFile::RecordFile(kernel::Folder const& folder, std::string const& name) : folder_(folder.path()), name_(name) {
    bool claimed = claim_existing(folder, name);
    if (!claimed) {
        kernel::Folder::Turn const turn(folder);
        claimed = claim_existing(folder, name);
        for (int number = 1; !claimed && number <= k_names; ++number) {
            Claim const tried = claim(folder, name_in_series(name, number), kernel::Folder::Missing::is_made);
            if (tried == Claim::no_room) break;
            claimed = tried == Claim::done;
        }
    }
    map_private();
}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      why_(std::move(other.why_)),
      shares_node_(other.shares_node_),
      in_file_(other.in_file_),
      on_disk_(other.on_disk_),
      made_(other.made_),
      status_(other.status_),
      node_(std::exchange(other.node_, nullptr)),
      record_(std::exchange(other.record_, nullptr)),
      number_(other.number_),
      next_head_(std::exchange(other.next_head_, nullptr)) {}

/// Of several reasons the first is kept: it is that of the name which should have been free.
RecordFile::Claim RecordFile::refuse(std::string const& name, std::string const& why) {
    if (why_.empty()) why_ = folder_ + "/" + name + ": " + why;
    return Claim::other_name;
}

/// Claims a record in a file of the job that another rank has made.
bool RecordFile::claim_existing(kernel::Folder const& folder, std::string const& name) {
    std::vector<int> numbers;
    for (std::string const& found : folder.names(name.substr(0, name.size() - k_file_suffix.size())))
        if (int const number = number_in_series(name, found); number > 0) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end());
    return std::any_of(numbers.begin(), numbers.end(), [&](int number) {
        return claim(folder, name_in_series(name, number), kernel::Folder::Missing::stays) == Claim::done;
    });
}

RecordFile::Claim RecordFile::claim(kernel::Folder const& folder, std::string const& name,
                                    kernel::Folder::Missing missing) {
    kernel::Opened opened = folder.open_own(name, missing);
    if (!opened) return refuse(name, opened.why);
    LockedFile const lock(opened.file.get());
    if (!lock.is_locked()) return refuse(name, std::strerror(errno));
    // While this rank waited for the lock, the last rank of an earlier job may have removed the file.
    if (fstat(opened.file.get(), &status_) != 0 || !folder.is_still(name, status_))
        return refuse(name, "it belongs to another job");
    Claim const claimed = claim_in(opened.file.get(), status_.st_size, name);
    // An empty file is of no use to other ranks; the next one that waits for its lock finds that it has gone.
    if (claimed == Claim::no_room) folder.remove(name);
    return claimed;
}

RecordFile::Claim RecordFile::claim_in(int file, off_t bytes, std::string const& name) {
    bool const fresh = bytes == 0;
    if (!fresh && bytes < static_cast<off_t>(sizeof(NodeHeader))) return refuse(name, "it is not a file of Sluice");
    if (int const error = fresh ? kernel::allocate_blocks(file, 0, sizeof(NodeHeader)) : 0; error != 0) {
        refuse(name, kernel::why_not_written(error));
        return Claim::no_room;
    }
    auto* const node = static_cast<NodeHeader*>(map_shared(file, 0, sizeof(NodeHeader)));
    if (node == nullptr) return refuse(name, std::strerror(errno));
    if (fresh) {
        node->format = k_format;
        node->record_bytes = static_cast<std::uint32_t>(k_record_room);
        node->name = mark_of(name);
        node->first = kernel::this_process();
        node->magic = k_magic;
    }
    std::string why;
    if (node->magic != k_magic || node->format != k_format || node->record_bytes != k_record_room)
        why = "it is not a file of this version of Sluice";
    // Ranks claim their records before MPI_Init and decide after it: a file with a decision belongs to another job.
    else if (node->name != mark_of(name) || std::atomic_ref(node->decision).load() != 0 || is_abandoned(*node))
        why = "it belongs to another job";
    if (!why.empty()) {
        munmap(node, sizeof(NodeHeader));
        return refuse(name, why);
    }
    node_ = node;
    name_ = name;
    made_ = fresh;
    shares_node_ = true;
    why_.clear();
    claim_record(file);
    std::atomic_ref(node_->arrived).fetch_add(1, std::memory_order_release);
    return Claim::done;
}

/// The caller holds the file's lock.
void RecordFile::claim_record(int file) {
    std::size_t const offset = offset_of_record(node_->claimed);
    int error = kernel::allocate_blocks(file, static_cast<off_t>(offset), k_record_room);
    void* const record = error == 0 ? map_shared(file, offset, k_record_room) : nullptr;
    if (record == nullptr) {
        if (error == 0) error = errno;
        why_ = path() + ": " + kernel::why_not_written(error) + ", and a record has " +
               base::format_bytes({k_record_room});
        return;
    }
    record_ = begin_record(record, status_.st_size > static_cast<off_t>(offset));
    record_->head.process = kernel::this_process();
    number_ = node_->claimed;
    in_file_ = true;
    struct statfs where {};
    on_disk_ = fstatfs(file, &where) == 0 && where.f_type != TMPFS_MAGIC && where.f_type != RAMFS_MAGIC;
    std::atomic_ref(node_->claimed).fetch_add(1, std::memory_order_release);
}

RankHead* RecordFile::next_head() noexcept {
    std::uint32_t const all = std::atomic_ref(node_->claimed).load(std::memory_order_acquire);
    if (next_head_ != nullptr || !in_file_ || all < 2) return next_head_;
    try {
        kernel::Opened const opened = kernel::Folder::named(folder_).open_own(name_, kernel::Folder::Missing::stays);
        auto const offset = static_cast<off_t>(offset_of_record((number_ + 1) % all));
        bool const same = opened && opened.status.st_dev == status_.st_dev && opened.status.st_ino == status_.st_ino;
        if (same && opened.status.st_size >= offset + static_cast<off_t>(k_record_room))
            next_head_ =
                static_cast<RankHead*>(map_shared(opened.file.get(), static_cast<std::size_t>(offset), k_head_page));
    } catch (std::bad_alloc const&) {  // the rank watches none
    }
    return next_head_;
}

void RecordFile::map_private() {
    if (node_ == nullptr) node_ = new (private_pages(sizeof(NodeHeader))) NodeHeader();
    if (record_ == nullptr) record_ = begin_record(private_pages(k_record_room), false);
}

void RecordFile::remove() const noexcept {
    if (!shares_node_) return;
    kernel::Folder const folder = kernel::Folder::named(folder_);
    if (folder.is_open() && folder.is_still(name_, status_)) folder.remove(name_);
    rmdir(folder_.c_str());
}

RecordFile::~RecordFile() {
    if (next_head_ != nullptr) munmap(next_head_, k_head_page);
    if (record_ != nullptr) munmap(record_, k_record_room);
    if (node_ != nullptr) munmap(node_, sizeof(NodeHeader));
}

}  // namespace sluice::record
