#include "pipeline/load.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/rank_spec.hpp"
#include "io/content_hash.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {

ItemPtr make_work_item(io::SourceItem arrival) {
  auto item = std::make_unique<WorkItem>();
  item->file = std::move(arrival.file);
  item->relative = std::move(arrival.relative);
  item->outcome = std::move(arrival.outcome);
  item->job = arrival.job;
  item->attempt = arrival.attempt;
  item->is_last_attempt = arrival.is_last_attempt;
  item->file_state = arrival.identity.state;
  item->rooted_file = std::move(arrival.rooted_file);
  item->identity = arrival.identity;
  return item;
}

/// Records the identity of the opened file, so that the file that is checked, read and later
/// removed is the same.
std::optional<io::InputFile> open_watched_file(WorkItem& item) {
  if (!item.rooted_file) return std::nullopt;
  io::InputFile input = io::open_input(item.rooted_file);
  item.identity = io::identity_of(input);
  item.file_state = item.identity.state;
  return input;
}

Loader::Loader(const ImageLimits& limits, std::vector<RankPolicy> ranks, const io::Codec& outputs,
               int copies, Decoder decoder)
    : limits_(limits),
      ranks_(std::move(ranks)),
      outputs_(outputs),
      copies_(std::size_t(copies)),
      decoder_(decoder) {}

void Loader::load(WorkItem& item, std::optional<io::InputFile> open, ItemMemory& memory) {
  if (!open) open.emplace(item.file);
  const io::InputFile& file = *open;
  file.check_size(limits_.file_mb);
  const io::Codec& codec = io::detect_codec(io::FileBytes(file), decoder_);
  const io::Header header = io::admit(codec, io::FileBytes(file), limits_);
  outputs_.check_encodable(header.shape);
  // One reservation covers everything the item needs. If items held some bytes while they waited
  // for more, they could deadlock.
  const std::size_t resident_bytes = copies_ * header.shape.bytes() * (1 + ranks_.size());
  item.reservation =
      memory.reserve(std::max(std::size_t(file.size()) + header.max_decode_bytes, resident_bytes) +
                     header.max_metadata_bytes);
  if (!item.reservation) return;
  Picture picture = decode(item, file, codec, header);
  item.task.input = std::move(picture.pixels);
  item.alpha = std::move(picture.alpha);
  item.metadata = std::move(picture.metadata);
  item.reservation.shrink_to(resident_bytes + item.metadata.bytes());
  if (!item.metadata.dropped.empty())
    spdlog::warn("{}: metadata dropped: {}", text::printable(item.file.native()),
                 item.metadata.dropped);
  log_full_rank(item, item.task.input.shape());
  prepare_task(item, ranks_);
}

/// Frees the file's bytes before it returns.
Picture Loader::decode(WorkItem& item, const io::InputFile& file, const io::Codec& codec,
                       const io::Header& header) const {
  const std::vector<std::byte> bytes = file.read_all(limits_.file_mb);
  item.input_bytes = std::int64_t(bytes.size());
  if (item.needs_content_hash)
    item.content_hash = io::content_hash(std::span<const std::byte>(bytes));
  // The reservation was made for this header.
  if (io::admit(codec, bytes, limits_) != header)
    throw ItemError(FailureReason::corrupt, "the file changed while it was read");
  return codec.decode(bytes, limits_);
}

void Loader::log_full_rank(const WorkItem& item, const ImageShape& shape) {
  for (const RankPolicy& policy : ranks_) {
    const int full = std::min(shape.rows, shape.cols);
    const bool is_above = policy.kind == RankPolicy::Kind::rank && policy.value > full;
    if (!is_above || logged_.exchange(true)) continue;
    spdlog::info(
        "{}: rank {} is above min(rows, cols) = {}; the output is a copy of the input (logged "
        "once)",
        text::printable(item.file.native()), to_string(policy), full);
  }
}

}  // namespace eckart::pipeline
