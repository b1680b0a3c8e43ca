#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "app/watched_folder.hpp"
#include "codec/codec.hpp"
#include "io/publication.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/attempt.hpp"
#include "tests/pipeline/fake_memory.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::app {

/// A watch of the folder in, which writes to out.
class WatchedFolderTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(at("in")); }

  settings::WatchSettings watch(
      settings::DoneInputAction after = settings::DoneInputAction::keep) const {
    settings::WatchSettings watch;
    watch.input = at("in");
    watch.output = at("out");
    watch.after = after;
    watch.settings.backend = settings::BackendChoice::cpu;
    watch.settings.limits.file_mb = 1;
    watch.location = "test";
    return watch;
  }
  std::filesystem::path at(const std::filesystem::path& name) const {
    return folder_.path() / name;
  }
  /// Returns the item of a file in this input folder, as a watch finds it.
  static pipeline::WorkItem found(const std::filesystem::path& input,
                                  const std::filesystem::path& name) {
    pipeline::WorkItem item;
    item.file = input / name;
    item.relative = name;
    item.rooted_file = io::make_rooted_file(input, name);
    item.identity = io::identity_of(item.rooted_file);
    item.file_state = item.identity.state;
    return item;
  }
  /// Processes a file as the pipeline does, but with outputs that are not computed.
  Outcome process(
      WatchedFolder& folder, const std::filesystem::path& input, const std::filesystem::path& name,
      const std::function<void()>& before_publish = [] {}) const {
    flow::Budget budget(std::size_t(1) << 30);
    auto item = std::make_unique<pipeline::WorkItem>(found(input, name));
    folder.assign_outputs(*item);
    test::FakeMemory memory([&](std::size_t bytes) { return budget.reserve(bytes); });
    pipeline::attempt(item->outcome, Stage::load, FailureReason::internal,
                      [&] { folder.load(*item, memory); });
    if (item->outcome.ok()) {
      item->task.outputs.emplace_back(item->task.input.shape());
      item->task.results.emplace_back(1);
      item->advance(pipeline::ItemState::loaded);
      folder.write(*item);
      if (item->outcome.ok()) item->advance(pipeline::ItemState::written);
    }
    before_publish();
    publish(folder, item);
    item->output_ranks = {};  // these were the ranks of the folder
    return item->outcome;
  }
  void write_image(const std::filesystem::path& path) const {
    io::publish_file(path,
                     codec::codec_for(ImageFormat::png).encode(Image({8, 4, 1, Depth::u8}), {}));
  }
  /// Returns the item of a file that was read and is corrupt.
  pipeline::ItemPtr bad_item(WatchedFolder& folder, const std::filesystem::path& name) const {
    std::ofstream(at("in") / name) << "bad";
    auto item = std::make_unique<pipeline::WorkItem>(found(at("in"), name));
    folder.assign_outputs(*item);
    EXPECT_TRUE(item->outcome.ok()) << item->outcome.detail;
    item->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "why");
    return item;
  }
  /// Returns the inputs that the ledger records as failed.
  std::vector<std::filesystem::path> failed_inputs() const {
    std::vector<std::filesystem::path> inputs;
    const auto ledger = ledger::Ledger::open_read_only(at("out/.eckart/ledger.db"));
    for (const ledger::FailureEntry& failure : ledger->failures(100))
      inputs.emplace_back(failure.input);
    return inputs;
  }
  /// Returns the quarantine record of a file that was kept in place.
  nlohmann::json reason(const std::filesystem::path& name) const {
    return json(at("out/.eckart/quarantine") / (name.native() + ".kept.json"));
  }
  static nlohmann::json json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file, nullptr, false);
  }
  /// Publishes and records one item, as a pipeline does.
  static void record(WatchedFolder& folder, pipeline::ItemPtr& item) {
    while (item->state() < pipeline::ItemState::recorded) folder.publish(std::span(&item, 1));
  }
  /// Does all that a pipeline does with a written item.
  static void publish(WatchedFolder& folder, pipeline::ItemPtr& item) {
    record(folder, item);
    folder.end(*item);
    item->owner.reset();
  }
  static bool needs_processing(WatchedFolder& folder, const pipeline::WorkItem& item) {
    io::SourceItem arrival;
    arrival.file = item.file;
    arrival.relative = item.relative;
    return folder.needs_processing(arrival, item.file_state);
  }

  const test::TempFolder folder_;
};

}  // namespace eckart::app
