// SPDX-License-Identifier: BSD-3-Clause
/// The text of any exception.
#pragma once

#include <exception>
#include <string>

namespace sluice::base {

inline std::string text_of(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (std::exception const& known) {
        return known.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

}  // namespace sluice::base
