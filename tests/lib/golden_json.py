# golden_json.py - JSON of a report, readable and without what may change.
# SPDX-License-Identifier: Apache-2.0
#
# stdin to stdout. Not jq: it rounds numbers beyond 2^53. The version goes, and
# counts that are 0: a new thing to count is no new report.
import json
import sys

report = json.load(sys.stdin)
report["seep"] = "VERSION"
for process in report.get("processes", []):
    for counts in ("lost", "counts"):
        if counts in process:
            process[counts] = {k: v for k, v in process[counts].items() if v}
print(json.dumps(report, indent=1))
