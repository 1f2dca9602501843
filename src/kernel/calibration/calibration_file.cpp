// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/calibration/calibration_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/hash.hpp"
#include "base/text/printable.hpp"
#include "base/text/trimmed.hpp"
#include "kernel/files/folder.hpp"
#include "kernel/files/read_text.hpp"

namespace sluice::kernel {

namespace {

constexpr std::size_t k_most_bytes = 4096;

/// The value of the first line "NAME : value" of /proc/cpuinfo.
std::string cpuinfo(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        std::size_t const colon = line.find(':');
        if (colon != std::string_view::npos && base::trimmed(line.substr(0, colon)) == name)
            return base::printable(base::trimmed(line.substr(colon + 1)));
    }
    return {};
}

/// Its name where the kernel tells it, else the numbers of the maker and the part.
std::string processor_model() {
    KernelText room;
    std::string_view const text = read_text("/proc/cpuinfo", room);
    std::string model = cpuinfo(text, "model name");
    if (model.empty()) model = cpuinfo(text, "cpu");
    if (model.empty()) model = cpuinfo(text, "CPU implementer") + " " + cpuinfo(text, "CPU part");
    return model == " " ? "unknown" : model;
}

/// The file is read by programs that trust it as their own.
std::string fault_of(struct stat const& status) {
    if (status.st_uid != geteuid()) return "it belongs to user " + std::to_string(status.st_uid);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
    return {};
}

std::string text_of_file(int file) {
    std::array<char, k_most_bytes> room{};
    std::size_t used = 0;
    while (used < room.size()) {
        ssize_t const got = read(file, room.data() + used, room.size() - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += static_cast<std::size_t>(got);
    }
    return {room.data(), used};
}

bool write_whole(int file, std::string_view text) {
    while (!text.empty()) {
        ssize_t const wrote = write(file, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

std::string text_of_error(int error) {
    return std::generic_category().message(error);
}

bool is_there(std::string const& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0;
}

}  // namespace

CalibrationKey calibration_key(std::string const& mpi) {
    long const cores = sysconf(_SC_NPROCESSORS_ONLN);
    return {processor_model(), static_cast<unsigned>(cores > 0 ? cores : 1), base::printable(mpi)};
}

std::string calibration_folder() {
    char const* const cache = secure_getenv("XDG_CACHE_HOME");
    if (cache != nullptr && cache[0] == '/')  // the XDG specification ignores relative folders
        return std::string(cache) + "/sluice";
    char const* const home = secure_getenv("HOME");
    return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/sluice" : std::string();
}

std::string calibration_name(CalibrationKey const& key) {
    base::Fnv1a hash;
    hash.add(key.processor).add(std::uint64_t{key.cores}).add(key.mpi);
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string name = "calibration-";
    for (unsigned shift = 64; shift > 0; shift -= 4)
        name += k_digits[hash.value() >> (shift - 4) & 15];
    return name;
}

ReadCalibration read_calibration(CalibrationKey const& key) {
    std::string const path = calibration_folder();
    std::string const name = calibration_name(key);
    if (path.empty() || !is_there(path + "/" + name)) return {};
    Folder const folder = Folder::own_if_there(path);
    if (!folder.is_open()) return {{}, path + ": " + folder.why()};
    Opened const opened = folder.open_to_read(name);
    std::string why = opened ? fault_of(opened.status) : opened.why;
    Calibration calibration;
    if (why.empty()) why = parse(text_of_file(opened.file.get()), key, calibration);
    if (!why.empty()) return {{}, folder.path_of(name) + ": " + why};
    return {calibration, {}};
}

std::string write_calibration(CalibrationKey const& key, Calibration const& calibration) {
    std::string const path = calibration_folder();
    if (path.empty()) return "neither XDG_CACHE_HOME nor HOME names a folder";
    std::string const above = path.substr(0, path.rfind('/'));
    if (mkdir(above.c_str(), S_IRWXU) != 0 && errno != EEXIST) return above + ": " + text_of_error(errno);
    Folder const folder = Folder::own(path);
    if (!folder.is_open()) return path + ": " + folder.why();
    std::string made;
    Opened const file = folder.make_new(".calibration-", made);
    if (!file) return path + ": " + file.why;
    std::string why;
    if (fchmod(file.file.get(), S_IRUSR | S_IWUSR) != 0 || !write_whole(file.file.get(), text_of(key, calibration)) ||
        fsync(file.file.get()) != 0)
        why = folder.path_of(made) + ": " + text_of_error(errno);
    std::string const name = calibration_name(key);
    if (why.empty())
        if (int const error = folder.rename(made, name); error != 0)
            why = folder.path_of(name) + ": " + text_of_error(error);
    if (!why.empty()) folder.remove(made);
    return why;
}

}  // namespace sluice::kernel
