// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <streambuf>
#include <system_error>

#include "report/show/page.hpp"
#include "report/show/trace.hpp"
#include "report/summary/summary_json.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(fs::path const& path, int reason) {
    throw Error(ErrorCode::unsupported,
                "cannot write " + path.string() + ": " + std::generic_category().message(reason));
}

/// A temporary file that is removed unless it is kept; a stream buffer that remembers why a write failed.
class TemporaryFile : public std::streambuf {
  public:
    explicit TemporaryFile(fs::path target)
        : target_(std::move(target)), path_(target_.string() + ".part-" + std::to_string(getpid())) {
        descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (descriptor_ < 0) fail(target_, errno);
        setp(buffer_.data(), buffer_.data() + buffer_.size());
    }
    TemporaryFile(TemporaryFile const&) = delete;
    TemporaryFile& operator=(TemporaryFile const&) = delete;
    ~TemporaryFile() override {
        if (descriptor_ >= 0) close(descriptor_);
        if (!kept_) unlink(path_.c_str());
    }

    void keep() {
        flush();
        if (reason_ == 0 && fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) reason_ = errno;
        int const descriptor = descriptor_;
        descriptor_ = -1;
        if (close(descriptor) != 0 && reason_ == 0) reason_ = errno;
        if (reason_ == 0 && std::rename(path_.c_str(), target_.c_str()) != 0) reason_ = errno;
        if (reason_ != 0) fail(target_, reason_);
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
        for (char const* next = pbase(); next < pptr() && reason_ == 0;) {
            ssize_t const written = ::write(descriptor_, next, static_cast<std::size_t>(pptr() - next));
            if (written >= 0)
                next += written;
            else if (errno != EINTR)
                reason_ = errno;
        }
        setp(buffer_.data(), buffer_.data() + buffer_.size());
        return reason_ == 0;
    }

    fs::path target_;
    fs::path path_;
    int descriptor_ = -1;
    int reason_ = 0;
    bool kept_ = false;
    std::array<char, 1 << 16> buffer_{};
};

}  // namespace

void write_whole(fs::path const& path, std::function<void(std::ostream&)> const& write) {
    TemporaryFile file(path);
    std::ostream out(&file);
    write(out);
    out.flush();
    file.keep();
}

void write_report(fs::path const& folder, Summary const& summary, fs::path const& page_template) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw Error(ErrorCode::unsupported, "cannot make the folder " + folder.string() + ": " + error.message());
    write_whole(folder / "report.json", [&](std::ostream& out) { out << to_text(summary); });
    write_whole(folder / "trace.json", [&](std::ostream& out) { write_trace(summary, out); });
    if (!page_template.empty()) write_page(page_template, {&summary, 1}, folder / "report.html");
}

Summary read_report(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::string const text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file) throw Error(ErrorCode::invalid_argument, path.string() + ": cannot be read");
    return from_text(text, path.string());
}

}  // namespace sluice::report
