#include "pipeline/load.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "io/input_file.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "text/printable.hpp"

namespace eckart {
namespace {

class Loader {
 public:
  Loader(const io::Limits& limits, const std::vector<RankPolicy>& ranks, const io::Codec& outputs,
         SkipIfDone skip_if_done, int copies)
      : limits_(limits),
        copies_(std::size_t(copies)),
        ranks_(ranks),
        full_rank_filter_(ranks),
        outputs_(outputs),
        skip_if_done_(std::move(skip_if_done)) {}

  void load(WorkItem& item, const ReserveBytes& reserve) {
    std::optional<io::InputFile> input = open_rooted(item);
    if (skip_if_done_) skip_if_done_(item, input ? &*input : nullptr);
    if (item.outcome.result == ItemResult::skipped) return;
    if (!input) input.emplace(item.file);
    const io::InputFile& file = *input;
    file.check_size(limits_.file_mb);
    const io::Codec& codec = io::detect_codec(io::FileBytes(file));
    const io::Header header = io::admit(codec, io::FileBytes(file), limits_);
    outputs_.check_encodable(header.shape);
    // One reservation for all that the item takes at any time: an item that held some bytes while
    // it waited for more could wait for others that do the same.
    const std::size_t resident_bytes = copies_ * header.shape.bytes() * (1 + ranks_.size());
    item.reservation =
        reserve(std::max(std::size_t(file.size()) + header.max_decode_bytes, resident_bytes));
    if (!item.reservation) return;
    item.task.input = decode(item, file, codec, header);
    item.reservation.shrink_to(resident_bytes);
    const ImageShape& shape = item.task.input.shape();
    log_full_rank(item, shape);
    full_rank_filter_.prepare_task(item);
  }

 private:
  /// The file's bytes are gone afterwards.
  Image decode(WorkItem& item, const io::InputFile& file, const io::Codec& codec,
               const io::Header& header) const {
    const std::vector<std::byte> bytes = file.read_all(limits_.file_mb);
    item.input_bytes = std::int64_t(bytes.size());
    if (item.needs_content_hash)
      item.content_hash = io::content_hash(std::span<const std::byte>(bytes));
    // Bytes were reserved for this header.
    if (io::admit(codec, bytes, limits_) != header)
      throw ItemError(FailureReason::corrupt, "the file changed while it was read");
    return codec.decode(bytes, limits_);
  }

  /// A watch's file: what is read is what was looked at, and what will be taken away.
  static std::optional<io::InputFile> open_rooted(WorkItem& item) {
    if (!item.rooted_file) return std::nullopt;
    io::InputFile input = io::open_input(item.rooted_file);
    item.identity = io::identity_of(input);
    item.state = item.identity.state;
    return input;
  }

  void log_full_rank(const WorkItem& item, const ImageShape& shape) {
    for (const RankPolicy& policy : ranks_) {
      if (policy.k <= std::min(shape.rows, shape.cols) || logged_.exchange(true)) continue;
      spdlog::info(
          "{}: rank {} is above min(rows, cols) = {}; the output is a copy of the input (logged "
          "once)",
          printable(item.file.native()), policy.k, std::min(shape.rows, shape.cols));
    }
  }

  const io::Limits limits_;
  const std::size_t copies_;
  const std::vector<RankPolicy> ranks_;
  const FullRankFilter full_rank_filter_;
  const io::Codec& outputs_;
  const SkipIfDone skip_if_done_;
  std::atomic<bool> logged_{false};
};

}  // namespace

ItemPtr make_work_item(io::SourceItem arrival, const AssignOutputs& assign_outputs) {
  auto item = std::make_unique<WorkItem>();
  item->file = std::move(arrival.file);
  item->relative = std::move(arrival.relative);
  item->outcome = std::move(arrival.outcome);
  item->job = arrival.job;
  item->is_last_attempt = arrival.is_last_attempt;
  item->state = arrival.seen.state;
  item->rooted_file = std::move(arrival.below);
  item->identity = arrival.seen;
  if (item->outcome.ok()) {
    attempt(item->outcome, Stage::source, FailureReason::internal, [&] { assign_outputs(*item); });
  }
  return item;
}

AssignOutputs make_assign_outputs(io::OutputTree& outputs, const io::InputGuard& inputs,
                                  ChooseNaming choose_naming) {
  return [&, choose_naming = std::move(choose_naming)](WorkItem& item) {
    const auto naming = choose_naming ? choose_naming(item) : io::OutputTree::Naming::usual;
    item.outputs = outputs.reserve(item.relative, naming);
    for (const auto& output : item.outputs) inputs.check(item.file, output);
  };
}

LoadItem make_load(const io::Limits& limits, const std::vector<RankPolicy>& ranks,
                   const io::Codec& outputs, SkipIfDone skip_if_done, int copies) {
  return
      [loader = std::make_shared<Loader>(limits, ranks, outputs, std::move(skip_if_done), copies)](
          WorkItem& item, const ReserveBytes& reserve) { loader->load(item, reserve); };
}

}  // namespace eckart
