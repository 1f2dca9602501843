// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text/trimmed.hpp"
#include "sluice/error.hpp"

namespace sluice::base {

namespace {

constexpr std::size_t k_most_bytes = std::size_t{64} << 10;

[[noreturn]] void refuse_file(std::string const& path, std::string const& why) {
    throw Error(ErrorCode::invalid_argument, "settings file " + path + ": " + why);
}

class OpenFile {
  public:
    /// Does not block at a FIFO, which is refused afterwards.
    explicit OpenFile(std::string const& path)
        : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

std::string bytes_of(std::string const& path) {
    OpenFile const file(path);
    if (file.descriptor() < 0) refuse_file(path, std::strerror(errno));
    struct stat status {};
    if (fstat(file.descriptor(), &status) != 0) refuse_file(path, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) refuse_file(path, "it is not a regular file");
    std::string text;
    std::array<char, 4096> part{};
    for (;;) {
        ssize_t const got = ::read(file.descriptor(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_file(path, std::strerror(errno));
        if (got == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(got));
        if (text.size() > k_most_bytes) refuse_file(path, "it is larger than 64 KiB");
    }
}

/// A variable that is set, even if it is empty. A program with another user's rights has none.
std::optional<std::string> variable(char const* name) {
    char const* const text = secure_getenv(name);
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

/// The file of the user's configuration folder, if there is one.
std::string usual_path() {
    std::string folder = variable("XDG_CONFIG_HOME").value_or("");
    if (!folder.starts_with('/')) {  // the XDG specification ignores relative folders
        std::string const home = variable("HOME").value_or("");
        if (home.empty()) return {};
        folder = home + "/.config";
    }
    std::string path = folder + "/sluice/settings";
    return access(path.c_str(), F_OK) == 0 ? path : std::string{};
}

}  // namespace

SettingsFile read_settings_file(std::string const& path) {
    SettingsFile file{path, {}};
    std::string const text = bytes_of(path);
    std::string_view rest = text;
    for (int line = 1; !rest.empty(); ++line) {
        std::string_view const whole = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
        std::string_view const entry = trimmed(whole);
        if (entry.empty() || entry.starts_with('#')) continue;
        std::size_t const equals = entry.find('=');
        std::string_view const name = trimmed(entry.substr(0, equals));
        if (equals == std::string_view::npos || name.empty())
            refuse_file(path, "line " + std::to_string(line) + " is not 'name = value': '" + std::string(entry) + "'");
        file.entries.push_back({std::string(name), std::string(trimmed(entry.substr(equals + 1))), line});
    }
    return file;
}

SettingsFile const& settings_file() {
    static SettingsFile const file = [] {
        std::optional<std::string> const named = variable(k_settings_file_variable);
        std::string const path = named ? *named : usual_path();
        return path.empty() ? SettingsFile{} : read_settings_file(path);
    }();
    return file;
}

}  // namespace sluice::base
