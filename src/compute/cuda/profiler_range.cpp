#include "compute/cuda/profiler_range.hpp"

#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace eckart::compute::cuda {
namespace {

/// Null if no profiler is attached.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("eckart");
  return handle;
}

void push(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &attributes);
}

}  // namespace

ProfilerRange::ProfilerRange(const char* name) {
  if (domain()) push(name);
}

ProfilerRange::ProfilerRange(const char* name, PaddedShape shape, int planes) {
  if (!domain()) return;
  char text[96];
  std::snprintf(text, sizeof text, "%s %d x %d, %d planes", name, shape.rows, shape.cols, planes);
  push(text);
}

ProfilerRange::~ProfilerRange() {
  if (domain()) nvtxDomainRangePop(domain());
}

void ProfilerRange::next(const char* name) const {
  if (!domain()) return;
  nvtxDomainRangePop(domain());
  push(name);
}

}  // namespace eckart::compute::cuda
