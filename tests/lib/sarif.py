#!/usr/bin/env python3
# sarif.py - holds a SARIF 2.1.0 log against the rules of its schema.
# SPDX-License-Identifier: Apache-2.0
"""usage: sarif.py FILE: exits 1 with what is wrong. The schema allows no
property it does not name; these are the ones we write, with their types."""
import json
import re
import sys

MESSAGE = {"text!": str}
ARTIFACT = {"uri!": str, "uriBaseId": str}
LOCATION = {
    "physicalLocation": {
        "artifactLocation!": ARTIFACT,
        "region": {"startLine!": int},
    },
    "logicalLocations": [{"fullyQualifiedName!": str, "kind": str}],
}
RULE = {
    "id!": str,
    "shortDescription!": MESSAGE,
    "help": MESSAGE,
    "defaultConfiguration": {"level!": ["none", "note", "warning", "error"]},
}
RESULT = {
    "ruleId!": str,
    "ruleIndex!": int,
    "kind": ["fail"],
    "level!": ["error"],
    "message!": MESSAGE,
    "locations!": [LOCATION],
    "stacks": [{"message": MESSAGE, "frames!": [{"location!": LOCATION, "module": str}]}],
    "partialFingerprints!": dict,
    "properties": dict,
}
LOG = {
    "$schema!": ["https://json.schemastore.org/sarif-2.1.0.json"],
    "version!": ["2.1.0"],
    "runs!": [{
        "tool!": {"driver!": {"name!": str, "version": str, "rules!": [RULE]}},
        "invocations": [{
            "executionSuccessful!": bool,
            "exitCode": int,
            "toolExecutionNotifications": [
                {"level": ["note", "error"], "message!": MESSAGE}],
        }],
        "originalUriBaseIds": dict,
        "results!": [RESULT],
    }],
}
URI = re.compile(r"^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+$")


def fail(where, what):
    sys.exit(f"{where}: {what}")


def walk(value, rule, where):
    if isinstance(rule, dict):
        if not isinstance(value, dict):
            fail(where, "not an object")
        known = {k.rstrip("!"): v for k, v in rule.items()}
        for key in value:
            if key not in known:
                fail(where, f"property {key} is not allowed")
            walk(value[key], known[key], f"{where}.{key}")
        for key in rule:
            if key.endswith("!") and key[:-1] not in value:
                fail(where, f"property {key[:-1]} is missing")
    elif isinstance(rule, list) and isinstance(rule[0], str):
        if value not in rule:
            fail(where, f"{value!r} is none of {rule}")
    elif isinstance(rule, list):
        if not isinstance(value, list):
            fail(where, "not an array")
        for i, item in enumerate(value):
            walk(item, rule[0], f"{where}[{i}]")
    elif not isinstance(value, rule) or (rule is int and isinstance(value, bool)):
        fail(where, f"{value!r} is no {rule.__name__}")


def check(log):
    walk(log, LOG, "log")
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        bases = run.get("originalUriBaseIds", {})
        for base in bases.values():
            if not base["uri"].endswith("/"):
                fail("originalUriBaseIds", "a base ends with /")
        for r in run["results"]:
            if rules[r["ruleIndex"]]["id"] != r["ruleId"]:
                fail("result", "ruleIndex and ruleId differ")
            if not r["locations"]:
                fail("result", "no location")
            if not r["partialFingerprints"]:
                fail("result", "no fingerprint")
            places = list(r["locations"])
            for stack in r.get("stacks", []):
                places += [f["location"] for f in stack["frames"]]
            for place in places:
                artifact = place["physicalLocation"]["artifactLocation"]
                if not URI.match(artifact["uri"]):
                    fail("uri", artifact["uri"])
                if "uriBaseId" in artifact:
                    if artifact["uriBaseId"] not in bases:
                        fail("uriBaseId", artifact["uriBaseId"])
                    if artifact["uri"].startswith("/"):
                        fail("uri", "is to be relative: " + artifact["uri"])
                region = place["physicalLocation"].get("region")
                if region and region["startLine"] < 1:
                    fail("region", "lines begin with 1")


with open(sys.argv[1], encoding="utf-8") as f:
    check(json.load(f))
