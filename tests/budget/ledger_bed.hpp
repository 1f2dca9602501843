// SPDX-License-Identifier: BSD-3-Clause
/// A ledger that several processes join, for tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>

#include "budget/node_ledger.hpp"

namespace sluice::tests {

class NodeLedgerTest : public testing::Test {
  protected:
    std::shared_ptr<budget::NodeLedger> join() const {
        std::string why;
        std::shared_ptr<budget::NodeLedger> ledger = budget::NodeLedger::join(identity_, why);
        EXPECT_TRUE(ledger != nullptr) << why;
        return ledger;
    }
    std::string name() const { return "/sluice-ledger-2-" + std::to_string(geteuid()) + "-" + identity_; }
    bool exists() const { return access(("/dev/shm" + name()).c_str(), F_OK) == 0; }

    std::string const identity_ =
        "test-" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

/// A process of its own; the value that its function returns becomes its exit status.
class Child {
  public:
    explicit Child(std::function<int()> const& body) : process_(fork()) {
        if (process_ == 0) _exit(body());
    }
    Child(Child const&) = delete;
    Child& operator=(Child const&) = delete;
    ~Child() {
        if (process_ > 0) kill_now();
    }
    void kill_now() {
        kill(process_, SIGKILL);
        wait_for();
    }
    int wait_for() {
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    pid_t process_;
};

/// Connects a process and its child in both directions.
class Pipe {
  public:
    Pipe() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
    Pipe(Pipe const&) = delete;
    Pipe& operator=(Pipe const&) = delete;
    ~Pipe() {
        close(ends_[0]);
        close(ends_[1]);
    }
    void say() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
    void hear() const {
        char c = 0;
        EXPECT_EQ(read(ends_[0], &c, 1), 1);
    }

  private:
    int ends_[2]{};
};

}  // namespace sluice::tests
