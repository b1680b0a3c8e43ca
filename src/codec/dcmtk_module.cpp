// The exported functions of libeckart_dcmtk.so, which is loaded when a compressed DICOM file is to
// be decoded. dcmtk and the libraries that it links, ICU among them, take longer to load than all
// others of the program together. src/codec/dicom_frame.cpp loads it.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcdatset.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"
#include "codec/dicom_frame.hpp"

namespace eckart::codec {
namespace {

void check(const OFCondition& condition) {
  if (condition.good()) return;
  if (condition == EC_MemoryExhausted) throw std::bad_alloc();
  throw std::runtime_error(std::string("cannot be decoded by dcmtk: ") + condition.text());
}

/// dcmtk has its decoders and its log in global variables.
void prepare_dcmtk() {
  static std::once_flag once;
  std::call_once(once, [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    DJDecoderRegistration::registerCodecs();
  });
}

void insert(DcmDataset& dataset, const DcmTagKey& tag, int value) {
  check(dataset.putAndInsertUint16(tag, Uint16(value)));
}

E_TransferSyntax process_of(const std::string& syntax) {
  if (syntax == "1.2.840.10008.1.2.4.50") return EXS_JPEGProcess1;
  if (syntax == "1.2.840.10008.1.2.4.51") return EXS_JPEGProcess2_4;
  if (syntax == "1.2.840.10008.1.2.4.57") return EXS_JPEGProcess14;
  return EXS_JPEGProcess14SV1;
}

/// Fills a data set with what the decoder needs.
void fill(DcmDataset& dataset, std::span<const std::byte> frame, const DicomHeader& header) {
  insert(dataset, DCM_SamplesPerPixel, 1);
  insert(dataset, DCM_Rows, header.shape.rows);
  insert(dataset, DCM_Columns, header.shape.cols);
  insert(dataset, DCM_BitsAllocated, header.bits_allocated);
  insert(dataset, DCM_BitsStored, header.bits_stored);
  insert(dataset, DCM_HighBit, header.high_bit);
  insert(dataset, DCM_PixelRepresentation, header.is_signed ? 1 : 0);
  check(dataset.putAndInsertString(DCM_PhotometricInterpretation, "MONOCHROME2"));
  auto sequence = std::make_unique<DcmPixelSequence>(DcmTag(DCM_PixelData, EVR_OB));
  check(sequence->insert(new DcmPixelItem(DcmTag(DCM_Item, EVR_OB))));  // an empty offset table
  DcmOffsetList offsets;
  auto* bytes = const_cast<Uint8*>(reinterpret_cast<const Uint8*>(frame.data()));
  check(sequence->storeCompressedFrame(offsets, bytes, Uint32(frame.size()), 0));
  auto pixels = std::make_unique<DcmPixelData>(DCM_PixelData);
  pixels->putOriginalRepresentation(process_of(header.syntax), nullptr, sequence.release());
  check(dataset.insert(pixels.release(), OFTrue));
}

template <class T>
std::vector<std::uint16_t> copy_samples(const T* stored, unsigned long count, std::size_t samples) {
  if (stored == nullptr || count < samples) throw std::runtime_error("has a frame of another size");
  return {stored, stored + samples};
}

std::vector<std::uint16_t> decode(std::span<const std::byte> frame, const DicomHeader& header) {
  prepare_dcmtk();
  DcmDataset dataset;
  fill(dataset, frame, header);
  check(dataset.chooseRepresentation(EXS_LittleEndianExplicit, nullptr));
  unsigned long count = 0;
  if (header.bits_allocated == 8) {
    const Uint8* bytes = nullptr;
    check(dataset.findAndGetUint8Array(DCM_PixelData, bytes, &count));
    return copy_samples(bytes, count, header.shape.samples());
  }
  const Uint16* words = nullptr;
  check(dataset.findAndGetUint16Array(DCM_PixelData, words, &count));
  return copy_samples(words, count, header.shape.samples());
}

}  // namespace
}  // namespace eckart::codec

ECKART_MODULE_EXPORT const char* eckart_dcmtk_build_id() { return eckart::build_id(); }

ECKART_MODULE_EXPORT void eckart_dcmtk_decode_frame(std::span<const std::byte> frame,
                                                    const eckart::codec::DicomHeader& header,
                                                    std::vector<std::uint16_t>& samples,
                                                    std::string& error) try {
  samples = eckart::codec::decode(frame, header);
} catch (const std::runtime_error& failure) {
  error = failure.what();
}
