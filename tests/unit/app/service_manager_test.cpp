#include "app/service_manager.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <ctime>
#include <string>

#include "files/file_descriptor.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

/// Receives what is sent to systemd.
class SystemdServiceManagerTest : public testing::Test {
 protected:
  SystemdServiceManagerTest() {
    const std::string path = (folder_.path() / "notify").native();
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~SystemdServiceManagerTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  SystemdServiceManagerTest(const SystemdServiceManagerTest&) = delete;
  SystemdServiceManagerTest& operator=(const SystemdServiceManagerTest&) = delete;

  std::string received() const {
    std::array<char, 1000> text{};
    const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(text.data(), std::size_t(size));
  }

  const test::TempFolder folder_;
  const files::FileDescriptor socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  SystemdServiceManager manager_;
};

TEST_F(SystemdServiceManagerTest, sends_each_state_in_the_words_of_systemd) {
  manager_.notify_ready();
  EXPECT_EQ(received(), "READY=1");
  manager_.notify_stopping();
  EXPECT_EQ(received(), "STOPPING=1");
  manager_.notify_watchdog();
  EXPECT_EQ(received(), "WATCHDOG=1");
  manager_.notify_status("3 done, 0 failed");
  EXPECT_EQ(received(), "STATUS=3 done, 0 failed");
  EXPECT_EQ(received(), "nothing");
}

TEST_F(SystemdServiceManagerTest, sends_the_time_of_a_reload) {
  const auto now_us = [] {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
  };
  const std::int64_t before = now_us();
  manager_.notify_reloading();
  const std::string text = received(), prefix = "RELOADING=1\nMONOTONIC_USEC=";
  ASSERT_EQ(text.substr(0, prefix.size()), prefix);
  const std::int64_t sent = std::stoll(text.substr(prefix.size()));
  EXPECT_GE(sent, before);
  EXPECT_LE(sent, now_us());
}

TEST_F(SystemdServiceManagerTest, has_a_third_of_the_watchdog_timeout_as_interval) {
  EXPECT_EQ(manager_.watchdog_interval().count(), 0) << "no watchdog";
  ::setenv("WATCHDOG_USEC", "120000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(manager_.watchdog_interval().count(), 40000);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(manager_.watchdog_interval().count(), 0) << "that of another process";
}

}  // namespace
}  // namespace eckart::app
