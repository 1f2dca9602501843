// SPDX-License-Identifier: BSD-3-Clause
#include "base/c_boundary.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using sluice::Error;
using sluice::ErrorCode;
using sluice::base::c_boundary;
using sluice::base::last_error_text;

int code_of(ErrorCode code) {
    return static_cast<int>(code);
}

TEST(CBoundary, what_does_not_throw_succeeds_and_leaves_the_last_error) {
    EXPECT_EQ(c_boundary([] { throw Error(ErrorCode::mpi, "the message before"); }), code_of(ErrorCode::mpi));
    EXPECT_EQ(c_boundary([] {}), code_of(ErrorCode::success));
    EXPECT_STREQ(last_error_text(), "the message before");
}

TEST(CBoundary, each_exception_becomes_a_code_and_a_text) {
    for (ErrorCode const code : {ErrorCode::invalid_argument, ErrorCode::out_of_memory, ErrorCode::mpi,
                                 ErrorCode::unsupported, ErrorCode::internal}) {
        EXPECT_EQ(c_boundary([&] { throw Error(code, "because " + std::to_string(code_of(code))); }), code_of(code));
        EXPECT_EQ(last_error_text(), "because " + std::to_string(code_of(code)));
    }
    EXPECT_EQ(c_boundary([] { throw std::bad_alloc(); }), code_of(ErrorCode::out_of_memory));
    EXPECT_STREQ(last_error_text(), "an allocation failed");
    EXPECT_EQ(c_boundary([] { throw std::logic_error("a defect"); }), code_of(ErrorCode::internal));
    EXPECT_STREQ(last_error_text(), "a defect");
    EXPECT_EQ(c_boundary([] { throw 42; }), code_of(ErrorCode::internal));
    EXPECT_STREQ(last_error_text(), "an exception of unknown type");
}

TEST(CBoundary, a_list_that_no_memory_can_hold_is_a_lack_of_memory) {
    std::vector<double> list;
    EXPECT_EQ(c_boundary([&] { list.reserve(list.max_size() + 1); }), code_of(ErrorCode::out_of_memory));
    EXPECT_STREQ(last_error_text(), "a list would be longer than any memory");
}

TEST(CBoundary, a_long_text_is_cut) {
    EXPECT_NE(c_boundary([] { throw Error(ErrorCode::internal, std::string(5000, 'x')); }), 0);
    EXPECT_EQ(last_error_text(), std::string(2000, 'x'));
}

TEST(CBoundary, each_thread_has_its_own_last_error) {
    EXPECT_NE(c_boundary([] { throw Error(ErrorCode::internal, "of the first thread"); }), 0);
    std::thread([] {
        EXPECT_STREQ(last_error_text(), "");
        EXPECT_NE(c_boundary([] { throw Error(ErrorCode::internal, "of the second thread"); }), 0);
        EXPECT_STREQ(last_error_text(), "of the second thread");
    }).join();
    EXPECT_STREQ(last_error_text(), "of the first thread");
}

}  // namespace
