#include "pipeline/load.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/file.hpp"
#include "pipeline/attempt.hpp"

namespace eckart {
namespace {

class Loader {
 public:
  Loader(const io::Limits& limits, const std::vector<RankPolicy>& ranks, const io::Codec& outputs,
         CheckDone check_done)
      : limits_(limits), ranks_(ranks), outputs_(outputs), check_done_(std::move(check_done)) {}

  void load(WorkItem& item, const Reserve& reserve) {
    if (check_done_) check_done_(item);
    if (item.outcome.result == Result::skipped) return;
    const std::vector<std::byte> file = io::read_file(item.file, limits_.file_mb);
    item.input_bytes = std::int64_t(file.size());
    const io::Codec& codec = io::codec_of(file);
    const ImageShape announced = io::admit(codec, file, limits_);
    outputs_.check_encodable(announced);
    item.bytes = reserve(announced.bytes() * (1 + ranks_.size()));
    if (!item.bytes) return;
    item.task.input = codec.decode(file, limits_);
    const ImageShape& shape = item.task.input.shape();
    note_full_rank(item, shape);
    item.task.ranks = ranks_;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      item.task.outputs.emplace_back(shape);
      item.task.results.emplace_back(std::size_t(shape.channels));
    }
  }

 private:
  void note_full_rank(const WorkItem& item, const ImageShape& shape) {
    for (const RankPolicy& policy : ranks_) {
      if (policy.k <= std::min(shape.rows, shape.cols) || noted_.exchange(true)) continue;
      spdlog::info(
          "{}: rank {} is above min(rows, cols) = {}: this image, and others like it, get full "
          "rank",
          printable(item.file.native()), policy.k, std::min(shape.rows, shape.cols));
    }
  }

  const io::Limits limits_;
  const std::vector<RankPolicy> ranks_;  // the items' tasks refer to them
  const io::Codec& outputs_;
  const CheckDone check_done_;
  std::atomic<bool> noted_{false};
};

}  // namespace

ItemPtr take_in(io::Arrival arrival, const ClaimOutputs& claim) {
  auto item = std::make_unique<WorkItem>();
  item->file = std::move(arrival.file);
  item->relative = std::move(arrival.relative);
  item->outcome = std::move(arrival.outcome);
  item->job = arrival.job;
  item->last_try = arrival.last_try;
  item->state = arrival.state;
  if (item->outcome.ok()) {
    attempt(item->outcome, Stage::source, Reason::internal, [&] { claim(*item); });
  }
  return item;
}

ClaimOutputs make_claim(io::OutputTree& outputs, const io::InputGuard& inputs, WasMade was_made) {
  return [&, was_made = std::move(was_made)](WorkItem& item) {
    item.outputs = outputs.claim(item.relative);
    for (const auto& output : item.outputs)
      inputs.check(item.file, output, [&] { return was_made(item, output); });
  };
}

LoadItem make_load(const io::Limits& limits, const std::vector<RankPolicy>& ranks,
                   const io::Codec& outputs, CheckDone check_done) {
  return [loader = std::make_shared<Loader>(limits, ranks, outputs, std::move(check_done))](
             WorkItem& item, const Reserve& reserve) { loader->load(item, reserve); };
}

}  // namespace eckart
