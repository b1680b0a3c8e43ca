#!/usr/bin/env python3
"""Baselines: PyTorch's linalg.svd and svd_lowrank on batches on the device.

Float32, rank k, rounding to 8 bits; the same images as the others, raw, one after the other. The
result is one JSON object on stdout. Needs numpy and torch.

  torch_svd.py --raw FILE --side 256 [--rank 20] [--limit 64] [--repeats 10]
"""

import argparse
import json
import statistics
import time

import numpy
import torch


def exact(batch, rank):
    u, s, vh = torch.linalg.svd(batch, full_matrices=False)
    return (u[..., :rank] * s[..., None, :rank]) @ vh[..., :rank, :]


def lowrank(batch, rank):
    u, s, v = torch.svd_lowrank(batch, q=min(2 * rank, batch.shape[-1]), niter=4)
    return (u[..., :rank] * s[..., None, :rank]) @ v[..., :rank].mT


def max_loss_db(batch, rank, approximate):
    """Returns the largest PSNR loss before rounding against the truncated SVD in float64, in dB."""
    error = (approximate(batch, rank).double() - batch.double()).square().sum(dim=(1, 2))
    sigma = torch.linalg.svdvals(batch.double())
    optimum = sigma[:, rank:].square().sum(dim=1)
    floor = 1e-13 * sigma.square().sum(dim=1)
    return float((10 * torch.log10(torch.maximum(error, floor) / torch.maximum(optimum, floor))).max())


def rates(batch, rank, approximate, repeats):
    def once():
        torch.clamp(torch.round(approximate(batch.float(), rank)), 0, 255).to(torch.uint8)
        torch.cuda.synchronize()

    once()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        once()
        found.append(len(batch) / (time.perf_counter() - start))
    return {"median": statistics.median(found), "min": min(found), "max": max(found)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--raw", required=True)
    parser.add_argument("--side", type=int, required=True)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--limit", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=10)
    args = parser.parse_args()
    pixels = numpy.fromfile(args.raw, dtype=numpy.uint8).reshape(-1, args.side, args.side)
    batch = torch.from_numpy(pixels[: args.limit].copy()).cuda()
    torch.backends.cuda.matmul.allow_tf32 = False
    result = {"torch": torch.__version__, "side": args.side, "rank": args.rank, "images": len(batch)}
    for name, approximate in (("linalg_svd", exact), ("svd_lowrank", lowrank)):
        result[name] = {
            "images_per_s": rates(batch, args.rank, approximate, args.repeats),
            "max_loss_db": max_loss_db(batch.float(), args.rank, approximate),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
