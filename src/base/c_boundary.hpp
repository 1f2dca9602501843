// SPDX-License-Identifier: BSD-3-Clause
/// The end of C++: exceptions become codes, and their text is kept for sluice_last_error().
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "sluice/error.hpp"

namespace sluice::base {

/// Keeps `text` (its first 2000 letters) as the last error of this thread. Allocates nothing, because the error may be
/// a lack of memory.
void keep_error_text(char const* text) noexcept;
char const* last_error_text() noexcept;

/// Runs `action`; returns 0 or the code of its exception.
template <typename Action>
int c_boundary(Action const& action) noexcept {
    try {
        action();
        return static_cast<int>(ErrorCode::success);
    } catch (Error const& error) {
        keep_error_text(error.what());
        return static_cast<int>(error.code());
    } catch (std::bad_alloc const&) {
        keep_error_text("an allocation failed");
        return static_cast<int>(ErrorCode::out_of_memory);
    } catch (std::length_error const&) {
        keep_error_text("a list would be longer than any memory");
        return static_cast<int>(ErrorCode::out_of_memory);
    } catch (std::exception const& error) {
        keep_error_text(error.what());
    } catch (...) {
        keep_error_text("an exception of unknown type");
    }
    return static_cast<int>(ErrorCode::internal);
}

}  // namespace sluice::base
