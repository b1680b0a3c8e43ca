#include "pipeline/load.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/content_hash.hpp"
#include "io/input_file.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/full_rank.hpp"

namespace eckart {
namespace {

class Loader {
 public:
  Loader(const io::Limits& limits, const std::vector<RankPolicy>& ranks, const io::Codec& outputs,
         CheckDone check_done)
      : limits_(limits),
        ranks_(ranks),
        full_ranks_(ranks),
        outputs_(outputs),
        check_done_(std::move(check_done)) {}

  void load(WorkItem& item, const Reserve& reserve) {
    std::optional<io::InputFile> input = open_below(item);
    if (check_done_) check_done_(item, input ? &*input : nullptr);
    if (item.outcome.result == Result::skipped) return;
    if (!input) input.emplace(item.file);
    const io::InputFile& file = *input;
    file.check_size(limits_.file_mb);
    const io::Codec& codec = io::codec_of(io::FileBytes(file));
    const io::Header header = io::admit(codec, io::FileBytes(file), limits_);
    outputs_.check_encodable(header.shape);
    // One reservation for all that the item takes at any time: an item that held some bytes while
    // it waited for more could wait for others that do the same.
    const std::size_t kept = header.shape.bytes() * (1 + ranks_.size());
    item.bytes = reserve(std::max(std::size_t(file.size()) + header.max_decode_bytes, kept));
    if (!item.bytes) return;
    item.task.input = decode(item, file, codec, header);
    item.bytes.shrink_to(kept);
    const ImageShape& shape = item.task.input.shape();
    note_full_rank(item, shape);
    full_ranks_.fill_in(item);
  }

 private:
  /// The file's bytes are gone afterwards.
  Image decode(WorkItem& item, const io::InputFile& file, const io::Codec& codec,
               const io::Header& header) const {
    const std::vector<std::byte> bytes = file.read_all(limits_.file_mb);
    item.input_bytes = std::int64_t(bytes.size());
    if (item.wants_content) item.content = io::content_hash(std::span<const std::byte>(bytes));
    // Bytes were reserved for this header.
    if (io::admit(codec, bytes, limits_) != header)
      throw ItemError(Reason::corrupt, "was changed while it was read");
    return codec.decode(bytes, limits_);
  }

  /// A watch's file: what is read is what was looked at, and what will be taken away.
  static std::optional<io::InputFile> open_below(WorkItem& item) {
    if (!item.below) return std::nullopt;
    io::InputFile input = io::open_input(item.below);
    item.identity = io::identity_of(input);
    item.state = item.identity.state;
    return input;
  }

  void note_full_rank(const WorkItem& item, const ImageShape& shape) {
    for (const RankPolicy& policy : ranks_) {
      if (policy.k <= std::min(shape.rows, shape.cols) || noted_.exchange(true)) continue;
      spdlog::info(
          "{}: rank {} is above min(rows, cols) = {}: the output of this image, and of others "
          "like it, is the image itself",
          printable(item.file.native()), policy.k, std::min(shape.rows, shape.cols));
    }
  }

  const io::Limits limits_;
  const std::vector<RankPolicy> ranks_;
  const FullRanks full_ranks_;
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
  item->state = arrival.seen.state;
  item->below = std::move(arrival.below);
  item->identity = arrival.seen;
  if (item->outcome.ok()) {
    attempt(item->outcome, Stage::source, Reason::internal, [&] { claim(*item); });
  }
  return item;
}

ClaimOutputs make_claim(io::OutputTree& outputs, const io::InputGuard& inputs,
                        ChooseNaming choose_naming) {
  return [&, choose_naming = std::move(choose_naming)](WorkItem& item) {
    const auto naming = choose_naming ? choose_naming(item) : io::OutputTree::Naming::usual;
    item.outputs = outputs.claim(item.relative, naming);
    for (const auto& output : item.outputs) inputs.check(item.file, output);
  };
}

LoadItem make_load(const io::Limits& limits, const std::vector<RankPolicy>& ranks,
                   const io::Codec& outputs, CheckDone check_done) {
  return [loader = std::make_shared<Loader>(limits, ranks, outputs, std::move(check_done))](
             WorkItem& item, const Reserve& reserve) { loader->load(item, reserve); };
}

}  // namespace eckart
