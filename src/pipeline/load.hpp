#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/rank_policy.hpp"
#include "io/codec.hpp"
#include "io/input_file.hpp"
#include "io/source.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// The item of one arrival; failed if finding the file has failed.
ItemPtr make_work_item(io::SourceItem arrival);

/// Waits for bytes of the budget; returns an empty reservation when the run is aborted.
using ReserveBytes = std::function<flow::Budget::Reservation(std::size_t bytes)>;

/// Opens a watched file, and notes which file that is; nothing for other items. Throws ItemError.
std::optional<io::InputFile> open_watched_file(WorkItem& item);

/// Turns files into tasks. Thread-safe. Must outlive the items, whose ranks it keeps.
class Loader {
 public:
  /// `outputs`: the codec of the outputs. `copies`: how often the backend holds the pixels, the
  /// task's own included. `decoder`: of the inputs.
  Loader(const ImageLimits& limits, std::vector<RankPolicy> ranks, const io::Codec& outputs,
         int copies = 1, Decoder decoder = Decoder::strict);

  /// Fills in the item's task from `open`, or from its file if that is not open yet. Checks the
  /// header against the limits and against what the output format can hold. Reserves, at once, what
  /// file and decoder take or what the pixels of input and outputs take, whichever is more; after
  /// decoding it gives back what the pixels do not take. Throws ItemError.
  void load(WorkItem& item, std::optional<io::InputFile> open, const ReserveBytes& reserve);

 private:
  Image decode(WorkItem& item, const io::InputFile& file, const io::Codec& codec,
               const io::Header& header) const;
  void log_full_rank(const WorkItem& item, const ImageShape& shape);

  const ImageLimits limits_;
  const std::vector<RankPolicy> ranks_;
  const FullRankFilter full_rank_filter_;
  const io::Codec& outputs_;
  const std::size_t copies_;
  const Decoder decoder_;
  std::atomic<bool> logged_{false};
};

}  // namespace eckart
