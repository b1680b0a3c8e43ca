"""Writes valid and malformed PNG and JPEG files, and reads the PNG files that eckart writes.

A file is an ordered dict of its pieces, so that a case can omit, replace or insert one.
"""
import random
import struct
import zlib
from dataclasses import dataclass
from typing import Optional

GRAY, RGB, PALETTE, GRAY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6  # color types of PNG
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGB_ALPHA: 4}
SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass
class Picture:
    """An expected output. `samples` are rows, with the channels of a pixel side by side; None: not checked."""

    cols: int
    rows: int
    channels: int = 1
    bits: int = 8
    samples: Optional[list] = None


def join(pieces):
    return b"".join(pieces.values())


def without(pieces, *names):
    return {name: piece for name, piece in pieces.items() if name not in names}


def before(pieces, name, new):
    """Inserts bytes before the piece of this name."""
    return {**pieces, name: new + pieces[name]}


def five_rows(cols, rows, channels=1, bits=8, values=None, seed=1):
    """Returns samples of rank 5 at most, whose reconstruction at rank 5 is identical."""
    rng = random.Random(f"{cols} {rows} {channels} {bits} {seed}")
    different_rows = [[rng.randrange(values or 1 << bits) for _ in range(cols * channels)] for _ in range(5)]
    return [different_rows[row % 5] for row in range(rows)]


def zlib_of_zeros(count):
    """Returns a zlib stream of `count` zeros, about a thousandth of that size."""
    block = 1 << 20
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    whole = deflate.compress(bytes(block)) + deflate.flush(zlib.Z_FULL_FLUSH)
    last = deflate.compress(bytes(count % block)) + deflate.flush()
    return b"\x78\xda" + whole * (count // block) + last + struct.pack(">I", count % 65521 << 16 | 1)


# PNG: ISO/IEC 15948


def chunk(kind, data=b"", crc_change=0):
    crc = zlib.crc32(kind + data) ^ crc_change
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def ihdr(cols, rows, bits=8, color=GRAY, interlace=0, compression=0, filters=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, bits, color, compression, filters, interlace))


def packed(samples, bits):
    if bits == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    if bits == 8:
        return bytes(samples)
    text = "".join(f"{sample:0{bits}b}" for sample in samples)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big")


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def predictions(kind, line, above, step):
    """Yields the prediction of filter `kind` for each byte of `line`, from the bytes before it."""
    for i in range(len(above)):
        left, corner = (line[i - step], above[i - step]) if i >= step else (0, 0)
        yield (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]


def filtered(lines, step):
    """Applies the five filters alternately."""
    out, above = b"", None
    for row, line in enumerate(lines):
        above = above or bytes(len(line))
        kind = (row + 1) % 5
        out += bytes([kind]) + bytes((a - b) & 255 for a, b in zip(line, predictions(kind, line, above, step)))
        above = line
    return out


PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def scanlines(samples, bits, color, interlace):
    channels = CHANNELS[color]
    step = max(1, channels * bits // 8)
    if not interlace:
        return filtered([packed(row, bits) for row in samples], step)
    out = b""
    for x, y, dx, dy in PASSES:
        parts = [[row[i : i + channels] for i in range(0, len(row), channels)][x::dx] for row in samples[y::dy]]
        if parts and parts[0]:
            out += filtered([packed(sum(part, []), bits) for part in parts], step)
    return out


def png(samples, bits=8, color=GRAY, interlace=0, palette=b"", cols=None, rows=None):
    """Returns the pieces signature, IHDR, PLTE (if there is a palette), IDAT and IEND."""
    cols, rows = cols or len(samples[0]) // CHANNELS[color], rows or len(samples)
    pieces = {"signature": SIGNATURE, "IHDR": ihdr(cols, rows, bits, color, interlace)}
    if palette:
        pieces["PLTE"] = chunk(b"PLTE", palette)
    pieces["IDAT"] = chunk(b"IDAT", zlib.compress(scanlines(samples, bits, color, interlace), 9))
    return {**pieces, "IEND": chunk(b"IEND")}


def zeros_png(cols, rows, bits=8, color=GRAY):
    stride = 1 + (cols * bits * CHANNELS[color] + 7) // 8
    idat = chunk(b"IDAT", zlib_of_zeros(stride * rows))
    return SIGNATURE + ihdr(cols, rows, bits, color) + idat + chunk(b"IEND")


def expected_picture(samples, bits=8, color=GRAY, palette=b""):
    """Returns the Picture to expect of such a PNG."""
    channels = 1 if color == GRAY else 3
    if color == PALETTE:
        samples = [[value for i in row for value in palette[3 * i : 3 * i + 3]] for row in samples]
    elif bits < 8:
        samples = [[value * 255 // ((1 << bits) - 1) for value in row] for row in samples]
    return Picture(len(samples[0]) // channels, len(samples), channels, 16 if bits == 16 else 8, samples)


def read_png(file):
    """Returns the Picture of a PNG that eckart wrote, with samples only if it is small. Raises ValueError."""
    if not file.startswith(SIGNATURE):
        raise ValueError("is not a PNG")
    at, idat, header = len(SIGNATURE), zlib.decompressobj(), None
    raw, size = [], 0
    while True:
        if len(file) - at < 12:
            raise ValueError("is truncated")
        length, kind = struct.unpack(">I4s", file[at : at + 8])
        data = file[at + 8 : at + 8 + length]
        if file[at : at + 12 + length] != chunk(kind, data):
            raise ValueError(f"has a damaged chunk {kind}")
        at += 12 + length
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", data)
        elif kind == b"IDAT":
            while data:
                part = idat.decompress(data, 1 << 20)
                data = idat.unconsumed_tail
                size += len(part)
                if size < 1 << 20:
                    raw.append(part)
        elif kind == b"IEND":
            break
    cols, rows, bits, color, *_ = header
    step = CHANNELS[color] * bits // 8
    stride = cols * step
    if at != len(file) or not idat.eof or size != rows * (1 + stride):
        raise ValueError("does not match its header")
    picture = Picture(cols, rows, CHANNELS[color], bits)
    if size < 1 << 20:
        picture.samples = unfiltered(b"".join(raw), rows, stride, step, bits)
    return picture


def unfiltered(raw, rows, stride, step, bits):
    samples, above = [], bytes(stride)
    for row in range(rows):
        kind, *line = raw[row * (1 + stride) : (row + 1) * (1 + stride)]
        if kind:
            for i, prediction in enumerate(predictions(kind, line, above, step)):
                line[i] = (line[i] + prediction) & 255
        samples.append(line if bits == 8 else list(struct.unpack(f">{stride // 2}H", bytes(line))))
        above = line
    return samples


# JPEG: ITU-T T.81. Blocks are flat: a DC code for the brightness, followed by an end of block.

SOI, EOI = b"\xff\xd8", b"\xff\xd9"


def segment(marker, data=b""):
    return struct.pack(">BBH", 0xFF, marker, 2 + len(data)) + data


def dqt(step=8):
    return segment(0xDB, b"\0" + bytes([step]) * 64)


def dht(table, counts, symbols):
    """`counts`: {number of bits: number of symbols with codes of this length}."""
    return segment(0xC4, bytes([table]) + bytes(counts.get(bits, 0) for bits in range(1, 17)) + bytes(symbols))


# DC codes: 0 is no change, others start at 10000. AC codes: 0 is the end of a block, 01111 + n that of 2^n blocks.
TABLES = dht(0x00, {1: 1, 5: 8}, range(9)) + dht(0x10, {1: 1, 5: 14}, [n << 4 for n in range(15)])


def sof(cols, rows, components=1, marker=0xC0, bits=8, sampling=0x11):
    parts = b"".join(bytes([i + 1, sampling, 0]) for i in range(components))
    return segment(marker, struct.pack(">BHHB", bits, rows, cols, components) + parts)


def sos(components=(1,), first=0, last=63, high=0, low=0):
    parts = b"".join(bytes([i, 0]) for i in components)
    return segment(0xDA, bytes([len(components)]) + parts + bytes([first, last, high << 4 | low]))


def coded(bits):
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0") if bits else b""


DC_CODES = ["0"] + [f"{0b01111 + size:05b}" for size in range(1, 9)]
ANNEX_K_DC_CODES = ["00", "010", "011", "100", "101", "110", "1110", "11110", "111110"]
ANNEX_K_END_OF_BLOCK = "1010"


def dc_code(change, codes):
    size = abs(change).bit_length()
    return codes[size] + (f"{change if change > 0 else change + (1 << size) - 1:0{size}b}" if size else "")


def end_of_blocks(count):
    """Returns the AC codes of a scan with zero coefficients in all blocks."""
    code = ""
    while count:
        size = min(count.bit_length() - 1, 14)
        code += f"{0b01111 + size:05b}{0:0{size}b}" if size else "0"
        count -= 1 << size
    return coded(code)


def dc_scan(levels, others=0, shift=0, after="0", restart=0, codes=DC_CODES):
    """Returns the flat blocks of the first component, each with `others` gray ones. `after` follows each DC code."""
    out, code, last = b"", "", 0
    flat = [level - 128 >> shift for row in levels for level in row]
    for i, dc in enumerate(flat):
        code += dc_code(dc - last, codes) + after + ("0" + after) * others
        last = dc
        if restart and (i + 1) % restart == 0 and i + 1 < len(flat):
            out += coded(code) + bytes([0xFF, 0xD0 + i // restart % 8])
            code, last = "", 0
    return out + coded(code)


LEVELS = [[20, 250, 90], [200, 60, 130]]


def jpeg(levels=None, components=1, restart=0):
    """Returns the pieces of a baseline JPEG: SOI, DQT, SOF, DHT, SOS, scan, EOI. `levels`: one for each block of 8 x 8."""
    levels = levels or LEVELS
    rate = segment(0xDD, struct.pack(">H", restart)) if restart else b""
    return {
        "SOI": SOI,
        "DQT": dqt(),
        "SOF": sof(8 * len(levels[0]), 8 * len(levels), components),
        "DHT": TABLES + rate,
        "SOS": sos(range(1, components + 1)),
        "scan": dc_scan(levels, components - 1, restart=restart),
        "EOI": EOI,
    }


def progressive(levels=None, ac_scans=None):
    """Returns the pieces of a progressive JPEG. SOS: the brightness without its last bit; refinement: that bit; ac: a scan of
    zeros for each (coefficient, high, low) of `ac_scans`."""
    levels = levels or LEVELS
    blocks = len(levels) * len(levels[0])
    pieces = {**without(jpeg(levels), "EOI"), "SOF": sof(8 * len(levels[0]), 8 * len(levels), marker=0xC2)}
    pieces["SOS"] = sos(last=0, low=1)
    pieces["scan"] = dc_scan(levels, shift=1, after="")
    bits = coded("".join(str(level - 128 & 1) for row in levels for level in row))
    pieces["refinement"] = sos(last=0, high=1) + bits
    scans = [(1, 63, 0, 0)] if ac_scans is None else [(k, k, high, low) for k, high, low in ac_scans]
    pieces["ac"] = b"".join(sos((1,), *scan) + end_of_blocks(blocks) for scan in scans)
    return {**pieces, "EOI": EOI}


def tiny_scans(count):
    """Returns up to 630 scans, the maximum of T.81: each coefficient without its last 9 bits, then bit by bit."""
    scans = [(k, 0, 9) for k in range(1, 64)]
    scans += [(k, low + 1, low) for low in range(8, -1, -1) for k in range(1, 64)]
    return scans[:count]


def zeros_jpeg(side, ac_scans=None):
    """Returns a gray JPEG (128) with 2 bits for each block, or with the scans `ac_scans`."""
    blocks = ((side + 7) // 8) ** 2
    if ac_scans is None:
        return join({**jpeg(), "SOF": sof(side, side), "scan": bytes(blocks // 4) + b"\x3f" * (blocks % 4 > 0)})
    pieces = {**progressive([[128]]), "SOF": sof(side, side, marker=0xC2), "scan": bytes((blocks + 7) // 8)}
    pieces["refinement"] = sos(last=0, high=1) + bytes((blocks + 7) // 8)
    run = end_of_blocks(blocks)
    pieces["ac"] = b"".join(sos((1,), k, k, high, low) + run for k, high, low in ac_scans)
    return join(pieces)


def expected_blocks(levels=None, channels=1, cols=None, rows=None):
    levels = levels or LEVELS
    samples = [[level for level in row for _ in range(8 * channels)] for row in levels for _ in range(8)]
    samples = [row[: cols and cols * channels] for row in samples[:rows]]
    return Picture(len(samples[0]) // channels, len(samples), channels, 8, samples)


# EXIF


def tiff(orientation, order="MM", kind=3, count=1, directory=8, entries=1, magic=42, following=0):
    """Returns the contents of a PNG eXIf chunk, which follow Exif\\0\\0 in APP1 of a JPEG."""
    end = {"MM": ">", "II": "<"}.get(order, ">")
    value = struct.pack(end + "I", orientation) if kind == 4 else struct.pack(end + "HH", orientation, 0)
    entry = struct.pack(end + "HHI", 0x0112, kind, count) + value
    head = order.encode() + struct.pack(end + "HI", magic, directory)
    return head + struct.pack(end + "H", entries) + entry + struct.pack(end + "I", following)


def exif_segment(data):
    return segment(0xE1, b"Exif\0\0" + data)


def oriented(picture, orientation):
    """Returns a picture of one channel with the EXIF orientation applied."""
    rows = picture.samples
    if orientation > 4:
        rows = [list(column) for column in zip(*rows)]
    if orientation in (3, 4, 7, 8):
        rows = rows[::-1]
    if orientation in (2, 3, 6, 7):
        rows = [row[::-1] for row in rows]
    return Picture(len(rows[0]), len(rows), 1, picture.bits, rows)
