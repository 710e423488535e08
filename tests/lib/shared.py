# shared.py - reads JSON with shared frames as if it were the plain form.
# SPDX-License-Identifier: Apache-2.0
"""
seep report --format json --frames shared has each frame once, and leaves out of a site
what is null or 0 (docs/JSON.md); where sites are many it is a tenth of the plain form.
"""
import json

NUMBERS = ("allocations", "allocated_bytes", "frees", "freed_bytes", "live_blocks",
           "live_bytes", "peak_blocks", "peak_bytes", "samples", "size_min", "size_max",
           "temporary_blocks", "temporary_bytes")
NULLS = ("pool", "error", "live_ages", "live_sizes", "verdict", "series", "suppression",
         "recursion", "first_time", "last_time")
LENGTHS = {"ages": 21, "ages_fine": 5, "live_ages": 21, "live_births": 32, "live_sizes": 32}


def expand_site(site, frames):
    site["frames"] = [frames[n] for n in site["frames"]]
    for name in NUMBERS:
        site.setdefault(name, 0)
    for name in NULLS:
        site.setdefault(name, None)
    for name, length in LENGTHS.items():
        if site.get(name) is not None:
            site[name] += [0] * (length - len(site[name]))


def expand(report):
    """In place. Frames of several sites are one object: they are not to be changed."""
    frames = report.pop("frames", None)
    if frames is not None:
        for part in report["processes"] + [report["merged"] or {}]:
            for site in part.get("sites", ()):
                expand_site(site, frames)
    return report


def load(path):
    """Either form."""
    with open(path, encoding="utf-8") as file:
        return expand(json.load(file))
