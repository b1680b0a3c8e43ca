#include "app/service.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <latch>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

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

}  // namespace
}  // namespace eckart::app
