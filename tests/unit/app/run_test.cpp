#include "app/run.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

TEST(Run, knows_its_total_before_the_first_image_is_done) {
  const test::TempFolder folder;
  for (const char* name : {"a.png", "b.png", "c.txt"}) std::ofstream(folder.path() / name) << "x";
  const test::TempFolder out;
  RunRequest request;
  request.inputs = {folder.path()};
  request.output = out.path();
  request.count_ahead = true;
  const app::Run run(std::move(request), std::chrono::steady_clock::now());
  while (!run.progress().total_is_final) std::this_thread::yield();
  EXPECT_EQ(run.progress().total, 2);
  EXPECT_EQ(run.progress().done, 0);
}

}  // namespace
}  // namespace eckart::app
