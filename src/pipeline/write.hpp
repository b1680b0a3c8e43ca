#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "core/factors.hpp"
#include "core/residual_choice.hpp"
#include "pipeline/encoded_file.hpp"
#include "pipeline/measure.hpp"
#include "pipeline/output_owner.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// How outputs are written.
struct WriteOptions {
  EncodeOptions encode{};
  MetadataPolicy metadata = MetadataPolicy::keep;
  bool keeps_times = false;               ///< outputs get the mtime of their input
  ResidualChoice residual{};              ///< of the outputs that are residuals
  FactorType factors = FactorType::none;  ///< of the output that has the factors
  std::string stamp{};                    ///< the program, as in "eckart 1.0"; empty: no stamp
  MeasureOptions measure{};
  io::TemporaryName temporary_name = io::TemporaryName::at_once;
};

/// Encodes the outputs of an item that are not skipped, and adds them to its publication. Measures
/// them. `codec` is that of images; null if only factors are written.
/// Throws ItemError if this item fails, EnvironmentError, FatalError.
void encode_outputs(WorkItem& item, const codec::Codec* codec, const WriteOptions& options);

/// Encodes the same outputs, and measures them, but returns their files instead of writing them:
/// the part of the work that needs no file system. The item must stay.
std::vector<EncodedFile> encode_in_memory(WorkItem& item, const codec::Codec* codec,
                                          const WriteOptions& options);

/// Measures the outputs of an item, which are not written.
void measure_outputs(WorkItem& item, const MeasureOptions& options);

/// Publishes the written outputs of a group, and records those that an earlier call has published:
/// through `owner`, together with the intents of the others. Then each item is
/// ItemState::published or ItemState::recorded; a failed item has its outcome. Deferred items are
/// not published. To be called with the same items, and others, until each is recorded. Throws
/// EnvironmentError; the caller then writes the items again that are not ItemState::published.
void publish_outputs(std::span<ItemPtr> group, OutputOwner& owner, bool durable);

}  // namespace eckart::pipeline
