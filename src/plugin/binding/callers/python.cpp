// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/callers/python.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace sluice::plugin {

namespace {

// CPython 3.11: Include/cpython/pystate.h, Include/internal/pycore_frame.h, Include/cpython/code.h.
constexpr std::uint64_t k_known_version = 0x030b;
constexpr std::size_t k_frames_of_thread = 56;  // PyThreadState.cframe
constexpr std::size_t k_newest_frame = 8;       // _PyCFrame.current_frame
constexpr std::size_t k_code_of_frame = 32;     // _PyInterpreterFrame.f_code
constexpr std::size_t k_older_frame = 48;       // _PyInterpreterFrame.previous
constexpr std::size_t k_instruction = 56;       // _PyInterpreterFrame.prev_instr
constexpr std::size_t k_type_of_object = 8;     // PyObject.ob_type
constexpr std::size_t k_file_of_code = 112;     // PyCodeObject.co_filename
constexpr std::size_t k_name_of_code = 128;     // PyCodeObject.co_qualname
constexpr std::size_t k_begin_of_code = 184;    // PyCodeObject.co_code_adaptive

constexpr int k_most_frames = 64;
constexpr std::ptrdiff_t k_most_characters = 512;

struct Python {
    void* (*thread)() = nullptr;  ///< PyGILState_GetThisThreadState
    int (*line)(void const* code, int at) = nullptr;
    std::ptrdiff_t (*length)(void const* text) = nullptr;
    std::uint32_t (*character)(void const* text, std::ptrdiff_t at) = nullptr;
    void const* type_of_code = nullptr;
    void const* type_of_text = nullptr;
    std::uint64_t some_code = 0;  ///< an address in its text
    std::uint64_t from = 0, to = 0;
};
constinit Python g_python;

/// The folder of mpi4py, with a slash at its end. Its length is written last.
constinit std::array<char, 4096> g_package{};
constinit std::atomic<std::size_t> g_length_of_package = 0;

std::string_view package() noexcept {
    return {g_package.data(), g_length_of_package.load(std::memory_order_acquire)};
}

template <class T>
T find(char const* name) noexcept {
    return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

void const* pointer_at(void const* object, std::size_t offset) noexcept {
    return object == nullptr ? nullptr
                             : *reinterpret_cast<void const* const*>(static_cast<char const*>(object) + offset);
}

void const* newest_frame() noexcept {
    if (g_python.thread == nullptr) return nullptr;
    return pointer_at(pointer_at(g_python.thread(), k_frames_of_thread), k_newest_frame);
}

/// In UTF-8. Empty if this is no text.
std::string text_of(void const* text) {
    if (pointer_at(text, k_type_of_object) != g_python.type_of_text) return {};
    std::string all;
    std::ptrdiff_t const length = std::min(g_python.length(text), k_most_characters);
    for (std::ptrdiff_t i = 0; i < length; ++i) {
        std::uint32_t const c = g_python.character(text, i);
        auto const more = [&](int shift) { all += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
        if (c < 0x80) {
            all += static_cast<char>(c);
        } else if (c < 0x800) {
            all += static_cast<char>(0xc0 | c >> 6);
            more(0);
        } else if (c < 0x10000) {
            all += static_cast<char>(0xe0 | c >> 12);
            more(6), more(0);
        } else {
            all += static_cast<char>(0xf0 | c >> 18);
            more(12), more(6), more(0);
        }
    }
    return all;
}

int line_of(void const* frame, void const* code) noexcept {
    auto const* const instruction = static_cast<char const*>(pointer_at(frame, k_instruction));
    auto const* const begin = static_cast<char const*>(code) + k_begin_of_code;
    return g_python.line(code, static_cast<int>(instruction - begin));
}

}  // namespace

void find_python() noexcept {
    if (g_python.thread != nullptr) return;
    auto const* const version = find<unsigned long const*>("Py_Version");
    Python found;
    if (version != nullptr && *version >> 16 == k_known_version) {
        found.thread = find<void* (*)()>("PyGILState_GetThisThreadState");
        found.line = find<int (*)(void const*, int)>("PyCode_Addr2Line");
        found.length = find<std::ptrdiff_t (*)(void const*)>("PyUnicode_GetLength");
        found.character = find<std::uint32_t (*)(void const*, std::ptrdiff_t)>("PyUnicode_ReadChar");
        found.type_of_code = find<void const*>("PyCode_Type");
        found.type_of_text = find<void const*>("PyUnicode_Type");
        found.some_code = reinterpret_cast<std::uint64_t>(found.line);
    }
    bool const whole = found.thread != nullptr && found.line != nullptr && found.length != nullptr &&
                       found.character != nullptr && found.type_of_code != nullptr && found.type_of_text != nullptr;
    g_python = whole ? found : Python{};
}

void see_interpreter(std::uint64_t from, std::uint64_t to) noexcept {
    if (g_python.some_code < from || g_python.some_code >= to) return;
    g_python.from = from;
    g_python.to = to;
}

bool is_interpreter(std::uint64_t address) noexcept {
    return address >= g_python.from && address < g_python.to;
}

void see_mpi4py(std::string_view file) noexcept {
    std::string_view const folder = file.substr(0, file.rfind('/') + 1);
    if (!package().empty() || folder.size() > g_package.size()) return;
    folder.copy(g_package.data(), folder.size());
    g_length_of_package.store(folder.size(), std::memory_order_release);
}

void const* python_instruction() noexcept {
    return pointer_at(newest_frame(), k_instruction);
}

bool describe_python(std::span<char> text) noexcept {
    try {
        int frames = 0;
        for (void const* frame = newest_frame(); frame != nullptr && ++frames <= k_most_frames;
             frame = pointer_at(frame, k_older_frame)) {
            void const* const code = pointer_at(frame, k_code_of_frame);
            if (pointer_at(code, k_type_of_object) != g_python.type_of_code) return false;
            std::string const path = text_of(pointer_at(code, k_file_of_code));
            bool const is_mpi4py = !package().empty() && path.starts_with(package());
            if (is_mpi4py || path.starts_with("<frozen importlib")) continue;
            std::string const name = text_of(pointer_at(code, k_name_of_code));
            std::snprintf(text.data(), text.size(), "%s@%s:%d (Python)", name.c_str(),
                          path.substr(path.rfind('/') + 1).c_str(), line_of(frame, code));
            return true;
        }
    } catch (...) {
    }
    return false;
}

}  // namespace sluice::plugin
