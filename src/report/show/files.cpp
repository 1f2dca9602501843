// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/files.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <streambuf>
#include <system_error>
#include <utility>

#include "kernel/files/folder.hpp"
#include "kernel/files/without_signals.hpp"
#include "report/show/page.hpp"
#include "report/show/trace.hpp"
#include "report/summary/summary_json.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_bytes = std::uint64_t{256} << 20;

[[noreturn]] void fail(std::string const& path, std::string const& reason) {
    throw Error(ErrorCode::unsupported, "cannot write " + path + ": " + reason);
}

[[noreturn]] void fail(std::string const& path, int reason) {
    fail(path, kernel::why_not_written(reason));
}

/// A temporary file that is removed unless it is kept; a stream buffer that remembers why a write failed.
class TemporaryFile : public std::streambuf {
  public:
    TemporaryFile(kernel::Folder const& folder, std::string const& name) : folder_(folder), name_(name) {
        kernel::Opened opened = folder.make_new(name + ".part-", temporary_);
        if (!opened) fail(path(), opened.why);
        file_ = std::move(opened.file);
        setp(buffer_.data(), buffer_.data() + buffer_.size());
    }
    TemporaryFile(TemporaryFile const&) = delete;
    TemporaryFile& operator=(TemporaryFile const&) = delete;
    ~TemporaryFile() override {
        if (!kept_) folder_.remove(temporary_);
    }

    void keep() {
        flush();
        if (reason_ == 0 && fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) reason_ = errno;
        if (reason_ == 0) reason_ = folder_.rename(temporary_, name_);
        if (reason_ != 0) fail(path(), reason_);
        kept_ = true;
    }

  protected:
    int_type overflow(int_type c) override {
        if (!flush()) return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) {
            *pptr() = traits_type::to_char_type(c);
            pbump(1);
        }
        return traits_type::not_eof(c);
    }
    int sync() override { return flush() ? 0 : -1; }

  private:
    bool flush() {
        kernel::WithoutFileSignals const quiet;
        for (char const* next = pbase(); next < pptr() && reason_ == 0;) {
            ssize_t const written = ::write(file_.get(), next, static_cast<std::size_t>(pptr() - next));
            if (written >= 0)
                next += written;
            else if (errno != EINTR)
                reason_ = errno;
        }
        setp(buffer_.data(), buffer_.data() + buffer_.size());
        return reason_ == 0;
    }

    std::string path() const { return folder_.path_of(name_); }

    kernel::Folder const& folder_;
    std::string name_;
    std::string temporary_;
    kernel::Descriptor file_;
    int reason_ = 0;
    bool kept_ = false;
    std::array<char, 1 << 16> buffer_{};
};

}  // namespace

void write_whole(kernel::Folder const& folder, std::string const& name,
                 std::function<void(std::ostream&)> const& write) {
    TemporaryFile file(folder, name);
    std::ostream out(&file);
    write(out);
    out.flush();
    file.keep();
}

void write_whole(fs::path const& path, std::function<void(std::ostream&)> const& write) {
    std::error_code unseen;
    fs::file_status const there = fs::status(path, unseen);
    if (fs::is_other(there)) fail(path.string(), "it is not a regular file");
    kernel::Folder const folder = kernel::Folder::named(path.has_parent_path() ? path.parent_path().string() : ".");
    if (!folder.is_open()) fail(path.string(), folder.why());
    write_whole(folder, path.filename(), write);
}

void write_report(fs::path const& path, Summary const& summary, fs::path const& page_template) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw Error(ErrorCode::unsupported, "cannot make the folder " + path.string() + ": " + error.message());
    kernel::Folder const folder = kernel::Folder::named(path);
    if (!folder.is_open()) throw Error(ErrorCode::unsupported, path.string() + ": " + folder.why());
    write_whole(folder, "report.json", [&](std::ostream& out) { out << to_text(summary); });
    write_whole(folder, "trace.json", [&](std::ostream& out) { write_trace(summary, out); });
    if (page_template.empty()) return;
    write_whole(folder, "report.html", page_of(page_template, {&summary, 1}));
}

Summary read_report(fs::path const& path) {
    auto const refuse = [&](std::string const& why) {
        return Error(ErrorCode::invalid_argument, path.string() + ": it cannot be read: " + why);
    };
    kernel::Folder const folder = kernel::Folder::named(path.has_parent_path() ? path.parent_path().string() : ".");
    if (!folder.is_open()) throw refuse(folder.why());
    kernel::Opened const opened = folder.open_to_read(path.filename());
    if (!opened) throw refuse(opened.why);
    if (static_cast<std::uint64_t>(opened.status.st_size) > k_most_bytes)
        throw refuse("it has " + std::to_string(opened.status.st_size) + " bytes, and no report has more than " +
                     std::to_string(k_most_bytes));
    std::string text(static_cast<std::size_t>(opened.status.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        ssize_t const got = ::read(opened.file.get(), text.data() + done, text.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw refuse(std::generic_category().message(errno));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return from_text(text, path.string());
}

}  // namespace sluice::report
