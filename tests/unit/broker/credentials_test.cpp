#include "broker/credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::broker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CredentialsFileTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& text, mode_t mode = 0600) const {
    const std::filesystem::path file = folder_.path() / "credentials";
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
    return file;
  }

  /// The exit code and the message of the error.
  static std::pair<ExitCode, std::string> error_of(const std::filesystem::path& file) {
    try {
      read_credentials(file);
      return {ExitCode::ok, ""};
    } catch (const FatalError& error) {
      return {error.code(), error.what()};
    }
  }

  const test::TempFolder folder_;
};

TEST_F(CredentialsFileTest, has_two_lines) {
  const Credentials expected{"worker", "s3 cret:"};
  EXPECT_EQ(read_credentials(write("worker\ns3 cret:\n")), expected);
  EXPECT_EQ(read_credentials(write("worker\ns3 cret:")), expected);
  EXPECT_EQ(read_credentials(write("worker\r\ns3 cret:\r\n")), expected);
}

TEST_F(CredentialsFileTest, is_refused_if_others_may_read_or_write_it) {
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0644}) {
    const auto [code, message] = error_of(write("worker\nsecret\n", mode));
    EXPECT_EQ(code, ExitCode::no_permission) << std::oct << mode;
    EXPECT_THAT(message, HasSubstr("chmod 600 " + folder_.path().native()));
  }
  EXPECT_EQ(error_of(write("worker\nsecret\n", 0400)).first, ExitCode::ok);
}

TEST_F(CredentialsFileTest, is_refused_without_printing_it) {
  for (const std::string& text :
       {std::string(), std::string("secret"), std::string("secret\n\n"), std::string("\nsecret\n"),
        std::string("worker\nsecret\nmore\n"), std::string("worker\nse\0cret\n", 15),
        "worker\n" + std::string(5000, 's')}) {
    const auto [code, message] = error_of(write(text));
    EXPECT_EQ(code, ExitCode::configuration) << text;
    EXPECT_THAT(message, Not(HasSubstr("secret")));
  }
}

TEST_F(CredentialsFileTest, is_refused_if_it_is_no_regular_file) {
  EXPECT_EQ(error_of(folder_.path() / "none").first, ExitCode::no_input);
  EXPECT_EQ(error_of(folder_.path()).first, ExitCode::configuration);
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe).first, ExitCode::configuration) << "does not wait for a writer";
}

TEST_F(CredentialsFileTest, comes_before_the_environment_and_that_before_the_url) {
  CredentialSources sources{.url = {"url", "1"}, .user = "environment", .password = "2"};
  sources.file = write("file\n3\n");
  EXPECT_EQ(choose_credentials(sources), (Credentials{"file", "3"}));
  sources.file.clear();
  EXPECT_EQ(choose_credentials(sources), (Credentials{"environment", "2"}));
  sources.user = sources.password = std::nullopt;
  EXPECT_EQ(choose_credentials(sources), (Credentials{"url", "1"}));
  sources.url = {};
  EXPECT_EQ(choose_credentials(sources), (Credentials{"guest", "guest"}));
}

TEST_F(CredentialsFileTest, is_not_replaced_by_half_of_the_environment) {
  const CredentialSources only_user{.url = {"url", "1"}, .user = "environment"};
  EXPECT_THROW(choose_credentials(only_user), FatalError);
  const CredentialSources only_password{.url = {"url", "1"}, .password = "secret"};
  try {
    choose_credentials(only_password);
    ADD_FAILURE();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace eckart::broker
