# variants.py - the ways of running a program: bare, with seep, with its peers.
# SPDX-License-Identifier: Apache-2.0
"""A variant is an environment, a command prefix and a directory for litter.

`pace` says how dear it is: FULL runs every round; SCALE three micro rounds and
each program once: one run is enough to tell x30 from x1.3.
"""
import glob
import os
import re
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
METER = os.path.join(BUILD, "bench", "meter")
SEEP_COMMAND = os.path.join(BUILD, "seep")
COLLECTOR = os.path.join(BUILD, "libseep.so")
SAMPLE_BYTES = 524288

FULL, SCALE = "full", "scale"


def library(name):
    dirs = ["/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib"]
    dirs += glob.glob("/usr/lib/*-linux-gnu") + glob.glob("/lib/*-linux-gnu")
    found = [os.path.join(d, name) for d in dirs if os.path.exists(os.path.join(d, name))]
    return found[0] if found else None


def clean_environment():
    strip = ("SEEP_", "LD_", "HEAP", "MALLOC_", "GLIBC_TUNABLES", "PYTHON", "METER_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(strip)}
    env["LC_ALL"] = "C"
    return env


class Variant:
    def __init__(self, name, what, pace=FULL, preload=None, env=None, prefix=None, missing=None, only=None, drained=False):
        self.name = name
        self.what = what
        self.pace = pace
        self.preload = preload
        self.extra = env or {}
        self.prefix = prefix or []
        self.missing = missing  # why it cannot run here, or None
        self.only = only  # the one group it takes part in, or None
        self.drained = drained  # by bench/programs/drain.c
        self.dir = None
        self.is_seep = name.startswith("seep") or name.startswith("also:")
        self.records = self.is_seep or name in ("heaptrack", "heaptrack-r")

    def settle(self, work):
        self.dir = os.path.join(work, re.sub(r"\W", "_", self.name))
        os.mkdir(self.dir, 0o700)

    def fill(self, text):
        return text.replace("{dir}", self.dir)

    def env(self):
        env = clean_environment()
        env.update({k: self.fill(v) for k, v in self.extra.items()})
        if self.is_seep:
            env["SEEP_DIR"] = self.dir
        if self.preload:
            env["METER_PRELOAD"] = self.preload
        return env

    def command(self, argv):
        return [self.fill(p) for p in self.prefix] + argv

    def files(self):
        return [os.path.join(self.dir, name) for name in os.listdir(self.dir)]

    def clean(self):
        for path in self.files():
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def jemalloc_profiles(path):
    """Some distributions build it without: then it says so and goes on."""
    if not path:
        return "no libjemalloc.so.2 here"
    env = dict(clean_environment(), LD_PRELOAD=path, MALLOC_CONF="prof:true,prof_active:true")
    said = subprocess.run(["true"], env=env, stderr=subprocess.PIPE, text=True).stderr
    return "this jemalloc was built without prof" if "Invalid conf" in said else None


def knows_sampling(path):
    with open(path, "rb") as lib:
        return b"SEEP_SAMPLE" in lib.read()


def lacks(command):
    return None if shutil.which(command) else f"no {command} here"


def all_variants(also):
    jemalloc, tcmalloc = library("libjemalloc.so.2"), library("libtcmalloc.so.4")
    lsan = library("liblsan.so.0")
    no_prof = jemalloc_profiles(jemalloc)
    no_gperf = None if tcmalloc else "no libtcmalloc.so.4 here"
    # heaptrack 1.4's interpreter can grow without end (19 GB for a million live
    # blocks here): better it fails than the machine
    bound = ["prlimit", f"--as={6 << 30}"] if shutil.which("prlimit") else []
    every = [
        Variant("native", "the program alone"),
        Variant("floor", "bare interposition: forwards, counts in one word", preload=os.path.join(BUILD, "bench", "floor.so")),
        Variant("seep", "seep, every allocation", preload=COLLECTOR),
        Variant("seep-sampled", "seep, one sample per 512 KiB", preload=COLLECTOR, env={"SEEP_SAMPLE": str(SAMPLE_BYTES)},
                missing=None if knows_sampling(COLLECTOR) else "this build of seep does not sample yet"),
        Variant("seep-dormant", "seep, preloaded but off", preload=COLLECTOR, env={"SEEP_MODE": "dormant"}),
        Variant("seep-log", "seep, every event in a log; a process beside it reads every word and keeps nothing", preload=COLLECTOR,
                env={"SEEP_LOG": "1"}, only="log", drained=True),
        Variant("seep-log-empty", "seep, with a log that nobody reads: its pool is used up at once", preload=COLLECTOR,
                env={"SEEP_LOG": "1", "SEEP_LOG_POOL": "256KiB"}, only="log"),
        Variant("seep-last", "seep, with the flight recorder", preload=COLLECTOR, env={"SEEP_LOG": "last"}, only="log"),
        Variant("seep-again", "exact mode once more, as a control for the log", preload=COLLECTOR, only="log"),
        Variant("seep-no-guess", "seep, stacks end at code without unwind information", preload=COLLECTOR, env={"SEEP_GUESS": "0"},
                only="guess"),
        Variant("seep-no-guess-again", "the same once more, as a control", preload=COLLECTOR, env={"SEEP_GUESS": "0"}, only="guess"),
    ]
    for spec in also:
        name, _, path = spec.partition("=")
        every.append(Variant(f"also:{name}", "another libseep.so", preload=os.path.abspath(path)))
    every += [
        Variant("heaptrack", "as people run it: a second process resolves symbols meanwhile",
                prefix=bound + ["heaptrack", "-o", "{dir}/out"], missing=lacks("heaptrack")),
        Variant("heaptrack-r", "heaptrack --raw: no second process but a compressor",
                prefix=bound + ["heaptrack", "-r", "-o", "{dir}/out"], missing=lacks("heaptrack")),
        Variant("unwind", "stand-in: unw_backtrace() at each malloc and a hash, no more",
                preload=os.path.join(BUILD, "bench", "unwind.so")),
        Variant("jemalloc", "another allocator, no profiling: what jemalloc prof must be held against",
                preload=jemalloc, missing=None if jemalloc else "no libjemalloc.so.2 here"),
        Variant("jemalloc-512k", "jemalloc prof, one sample per 512 KiB", preload=jemalloc,
                env={"MALLOC_CONF": "prof:true,lg_prof_sample:19,prof_prefix:{dir}/jeprof"}, missing=no_prof),
        Variant("jemalloc-all", "jemalloc prof, every allocation", SCALE, preload=jemalloc,
                env={"MALLOC_CONF": "prof:true,lg_prof_sample:0,prof_prefix:{dir}/jeprof"}, missing=no_prof),
        Variant("gperftools", "tcmalloc with the heap profiler", SCALE, preload=tcmalloc,
                env={"HEAPPROFILE": "{dir}/heap", "HEAP_PROFILE_ALLOCATION_INTERVAL": "0"}, missing=no_gperf),
        Variant("lsan", "LeakSanitizer of gcc, preloaded", preload=lsan, env={"LSAN_OPTIONS": "exitcode=0"},
                missing=None if lsan else "no liblsan.so.0 here"),
        Variant("memcheck", "valgrind --leak-check=full", SCALE, missing=lacks("valgrind"),
                prefix=["valgrind", "-q", "--leak-check=full", "--log-file={dir}/memcheck.out"]),
        Variant("massif", "valgrind --tool=massif", SCALE, missing=lacks("valgrind"),
                prefix=["valgrind", "-q", "--tool=massif", "--massif-out-file={dir}/massif.out"]),
        Variant("dhat", "valgrind --tool=dhat", SCALE, missing=lacks("valgrind"),
                prefix=["valgrind", "-q", "--tool=dhat", "--dhat-out-file={dir}/dhat.out"]),
    ]
    return every
