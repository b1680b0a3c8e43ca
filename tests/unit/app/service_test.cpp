#include "app/service.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <latch>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

/// A service whose images are being loaded until end_loading().
class LoadingService : public Service {
 public:
  using Service::Service;
  void wait_until_loading() { loading_.wait(); }
  void end_loading() { may_end_.count_down(); }

 private:
  void load(pipeline::WorkItem&, pipeline::LoadContext&) override {
    loading_.count_down();
    may_end_.wait();
    throw ItemError(FailureReason::corrupt, "for tests");
  }

  std::latch loading_{1}, may_end_{1};
};

/// The watches share the threads that load images.
TEST(Service, allows_each_image_the_longest_decode_limit_of_all_watches) {
  const test::TempFolder folder;
  const auto at = [&](const char* name) { return (folder.path() / name).native(); };
  for (const char* name : {"a", "b"}) fs::create_directory(at(name));
  std::ofstream(at("a/1.png")) << "x";
  std::ofstream(at("eckart.yaml"))
      << "backend: cpu\ntimeouts: {stall_s: 100}\nwatches:\n"
      << "- {input: " << at("a") << ", output: " << at("out_a") << ", limits: {decode_s: 5000}}\n"
      << "- {input: " << at("b") << ", output: " << at("out_b") << ", limits: {decode_s: 50}}\n";
  LoadingService service(settings::load_configuration(at("eckart.yaml")));
  const auto run = std::async(std::launch::async, [&] { service.execute([] {}); });
  service.wait_until_loading();
  Instant now = Clock::now();
  const auto stalls_within = [&](seconds time) {
    for (const Instant end = now + time; now < end; now += seconds(5)) {
      if (service.activity().check(now)) return true;
    }
    return false;
  };
  EXPECT_FALSE(stalls_within(seconds(5000)));
  EXPECT_TRUE(stalls_within(seconds(200)));
  service.request_stop();
  service.end_loading();
}

class ServiceStateTest : public testing::Test {
 protected:
  std::string at(const char* name) const { return (folder_.path() / name).native(); }
  settings::Configuration configuration(const std::string& watches) const {
    std::ofstream(at("eckart.yaml")) << "backend: cpu\nwatches:\n" << watches;
    return settings::load_configuration(at("eckart.yaml"));
  }
  std::string watch(const char* input, const char* output, const std::string& more = "") const {
    return "- {input: " + at(input) + ", output: " + at(output) + more + "}\n";
  }

  const test::TempFolder folder_;
};

TEST_F(ServiceStateTest, is_refused_without_a_watch_or_if_watches_conflict) {
  const auto error = [&](const std::string& watches) -> std::string {
    for (const bool is_check : {true, false}) {
      try {
        if (is_check) {
          check_configuration(configuration(watches));
        } else {
          const Service service(configuration(watches));
        }
        return "none";
      } catch (const FatalError& fatal) {
        EXPECT_EQ(fatal.code(), ExitCode::configuration);
        if (!is_check) return fatal.what();
      }
    }
    return "none";
  };
  EXPECT_EQ(error("  []\n"),
            "no watches are configured; give eckart watch FOLDER -o FOLDER, or add `watches` to "
            "the file of --config");
  EXPECT_NE(error(watch("a", "out") + watch("b", "out/sub")), "none");
  EXPECT_NE(error(watch("a", "a/out")), "none");
  EXPECT_EQ(error(watch("a", "out")), "none");
}

TEST_F(ServiceStateTest, is_warned_of_folders_that_it_waits_for) {
  fs::create_directory(at("a"));
  const std::vector<std::string> warnings =
      check_configuration(configuration(watch("a", "out_a") + watch("b", "out_b")));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], at("eckart.yaml") + ":4: watches[2]: " + at("b") +
                             " does not exist; the service will wait for it");
}

TEST_F(ServiceStateTest, counts_its_images_and_its_missing_folders) {
  fs::create_directory(at("a"));
  Service service(configuration(watch("a", "out_a", ", settle_ms: 0, retry_timeout_s: 0") +
                                watch("b", "out_b")),
                  17);
  EXPECT_EQ(service.inputs_text(), "2 watches");
  EXPECT_EQ(service.last_done_unix_s(), 17) << "of the service before";
  std::ofstream(at("a/bad.png")) << "bad";
  std::promise<void> ready;
  const auto run =
      std::async(std::launch::async, [&] { return service.execute([&] { ready.set_value(); }); });
  ready.get_future().wait();
  EXPECT_TRUE(test::wait_for([&] {
    return service.status_line() ==
           "0 done, 1 failed, 0 in progress, 0 waiting; 1 of 2 inputs missing";
  })) << service.status_line();
  const std::string text = service.status_text();
  EXPECT_NE(text.find("NOT READY " + at("b") + ": the input folder is missing\n"), text.npos)
      << text;
  EXPECT_EQ(text.find("starting"), text.npos) << text;
  EXPECT_NE(text.find("failed     " + at("a/bad.png") + ": not an image\n"), text.npos) << text;
  EXPECT_FALSE(service.find_stall());
  service.request_stop();
}

}  // namespace
}  // namespace eckart::app
