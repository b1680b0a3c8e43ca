#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "flow/pause.hpp"
#include "io/watch/watch_source.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::io {

/// Watched folders with very short times, so that tests are fast.
class WatchSourceFixture : public testing::Test {
 protected:
  using Names = std::set<std::string>;

  static constexpr auto kDeadline = test::kWaitDeadline;

  static WatchOptions options_for(const std::filesystem::path& root) {
    WatchOptions options;
    options.root = root;
    options.settle_time = std::chrono::milliseconds(10);
    options.retry_timeout = std::chrono::milliseconds(50);
    options.rescan_interval = std::chrono::hours(1);
    options.poll_interval = std::chrono::milliseconds(10);
    options.root_check_interval = std::chrono::milliseconds(5);
    options.initial_backoff = std::chrono::milliseconds(10);
    return options;
  }

  void start(std::vector<WatchSource::Watch> watches) {
    source_ = std::make_unique<WatchSource>(std::move(watches),
                                            [this](int, Severity, const std::string& line) {
                                              const std::lock_guard lock(mutex_);
                                              lines_.push_back(line);
                                            });
  }
  void start() { start({{options_for(root_), {}}}); }

  /// Returns the next item. Adds a test failure and returns nullopt if none arrives.
  std::optional<SourceItem> next() {
    std::stop_source too_late;
    const std::jthread clock([&](const std::stop_token& done) {
      if (flow::pause(kDeadline, done)) too_late.request_stop();
    });
    std::optional<SourceItem> item = source_->next(too_late.get_token());
    EXPECT_TRUE(item) << "no item arrived";
    return item;
  }
  std::string next_name() {
    const std::optional<SourceItem> item = next();
    return item ? item->relative.string() : "";
  }
  void finish_item(const std::string& name, FinishStatus status = FinishStatus::done) {
    source_->finish(0, name, status, "why");
  }
  /// Takes and finishes the next `count` items. Returns their names. Ends if one does not arrive.
  Names take_and_finish(int count) {
    Names names;
    for (int i = 0; i < count; ++i) {
      const std::string name = next_name();
      if (name.empty()) break;
      EXPECT_TRUE(names.insert(name).second) << name << " arrived twice";
      finish_item(name);
    }
    return names;
  }
  static void wait_for(const std::function<bool()>& event) { EXPECT_TRUE(test::wait_for(event)); }
  WatchState state(std::size_t watch = 0) const { return source_->states().at(watch); }
  /// Returns the number of log lines that contain `text`.
  int count_log_lines(const std::string& text) const {
    const std::lock_guard lock(mutex_);
    return int(std::count_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return line.find(text) != line.npos;
    }));
  }

  void write(const std::filesystem::path& name, const std::string& text = "x") const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  /// Creates hard links to one file, because creating many files is slow.
  void write_many(const std::filesystem::path& folder, std::size_t count) const {
    write(folder / "0.png");
    for (std::size_t i = 1; i < count; ++i) {
      const std::string name = std::to_string(i) + ".png";
      std::filesystem::create_hard_link(root_ / folder / "0.png", root_ / folder / name);
    }
  }

  const test::TempFolder folder_;
  const std::filesystem::path root_ = folder_.path() / "root";
  std::unique_ptr<WatchSource> source_;

 private:
  void SetUp() override { std::filesystem::create_directory(root_); }
  void TearDown() override { source_.reset(); }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace eckart::io
