// SPDX-License-Identifier: BSD-3-Clause
#include "record/record_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sluice::record {

namespace {

// Each record begins on a page of its own.
constexpr std::size_t k_record_room = sizeof(RankRecord);
static_assert(k_record_room % 4096 == 0);

// Jobs with the same name may follow one another or be nested (MPI_Comm_spawn).
constexpr int k_jobs_of_a_name = 100;

/// "node-a.sluice", "node-a-2.sluice", …
std::string next_name(std::string const& path, int number) {
    std::size_t const dot = path.rfind('.');
    return path.substr(0, dot) + "-" + std::to_string(number) + path.substr(dot);
}

/// Holds the file open and locked against the other ranks of the node that are claiming a record.
class LockedFile {
  public:
    explicit LockedFile(std::string const& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno != ENOSYS && errno != ENOTSUP) {
            close(file_);
            file_ = -1;
        }
    }
    LockedFile(LockedFile const&) = delete;
    LockedFile& operator=(LockedFile const&) = delete;
    ~LockedFile() {
        if (file_ < 0) return;
        flock(file_, LOCK_UN);  // closing does not unlock a file that stays mapped
        close(file_);
    }
    int number() const noexcept { return file_; }

  private:
    int file_;
};

/// True if the first rank that claimed a record has ended and no rank decided: its job ended inside MPI_Init.
bool is_abandoned(int file, NodeHeader const& node) {
    kernel::ProcessMark first;
    auto const at = static_cast<off_t>(sizeof(NodeHeader) + offsetof(RankRecord, head) + offsetof(RankHead, process));
    return node.claimed > 0 && pread(file, &first, sizeof first, at) == static_cast<ssize_t>(sizeof first) &&
           kernel::life_of(first) == kernel::Life::gone;
}

void* map_shared(int file, std::size_t offset, std::size_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

std::string folder_of_jobs() {
    char const* const temporary = std::getenv("TMPDIR");
    return std::string(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") + "/sluice-" +
           std::to_string(getuid());
}

RecordFile::RecordFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) {
        why_ = "no file was requested";
        map_private();
        return;
    }
    std::string const first = path_;
    Mapped mapped = map_file();
    for (int next = 2; mapped == Mapped::is_another_job && next < k_jobs_of_a_name; ++next) {
        path_ = next_name(first, next);
        mapped = map_file();
    }
    in_file_ = mapped == Mapped::yes;
    if (mapped == Mapped::is_another_job) why_ = path_ + ": it belongs to another job";
    if (!in_file_) map_private();
}

RecordFile::Mapped RecordFile::no_file(int error) {
    why_ = path_ + ": " + std::strerror(error);
    return Mapped::no;
}

RecordFile::Mapped RecordFile::map_file() {
    LockedFile const file(path_);
    struct stat status {};
    if (file.number() < 0 || fstat(file.number(), &status) != 0) return no_file(errno);
    if (status.st_nlink == 0) return Mapped::is_another_job;  // it was removed between our open and our lock
    bool const fresh = status.st_size < static_cast<off_t>(sizeof(NodeHeader));
    if (int const error = posix_fallocate(file.number(), 0, sizeof(NodeHeader)); fresh && error != 0)
        return no_file(error);
    auto* const node = static_cast<NodeHeader*>(map_shared(file.number(), 0, sizeof(NodeHeader)));
    if (node == nullptr) return no_file(errno);
    if (fresh) {
        node->format = k_format;
        node->record_bytes = static_cast<std::uint32_t>(k_record_room);
        node->magic = k_magic;
    }
    std::size_t const offset = sizeof(NodeHeader) + node->claimed * k_record_room;
    bool const usable = node->magic == k_magic && node->format == k_format && node->record_bytes == k_record_room;
    // Ranks claim their records before MPI_Init and decide after it: a file with a decision belongs to another job.
    bool const decided = usable && (std::atomic_ref(node->decision).load() != 0 || is_abandoned(file.number(), *node));
    if (decided) {
        munmap(node, sizeof(NodeHeader));
        return Mapped::is_another_job;
    }
    int const refused = usable ? posix_fallocate(file.number(), static_cast<off_t>(offset), k_record_room) : EEXIST;
    void* const record = refused == 0 ? map_shared(file.number(), offset, k_record_room) : nullptr;
    if (record == nullptr) {
        int const error = refused != 0 ? refused : errno;
        munmap(node, sizeof(NodeHeader));
        return no_file(error);
    }
    node_ = node;
    record_ = new (record) RankRecord();
    record_->head.process = kernel::this_process();
    made_ = fresh;
    std::atomic_ref(node_->claimed).fetch_add(1, std::memory_order_release);
    return Mapped::yes;
}

void RecordFile::map_private() {
    void* const at =
        mmap(nullptr, sizeof(NodeHeader) + k_record_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    node_ = new (at) NodeHeader();
    record_ = new (static_cast<std::byte*>(at) + sizeof(NodeHeader)) RankRecord();
}

RecordFile::~RecordFile() {
    if (in_file_) {
        munmap(record_, k_record_room);
        munmap(node_, sizeof(NodeHeader));
    } else {
        munmap(node_, sizeof(NodeHeader) + k_record_room);
    }
}

}  // namespace sluice::record
