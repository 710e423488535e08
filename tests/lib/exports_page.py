#!/usr/bin/env python3
# exports_page.py - has a viewer's page open a file by itself.
# SPDX-License-Identifier: Apache-2.0
#
# usage: exports_page.py dhat FILE PAGE.html
#            adds to a copy of dh_view.html what a user would click
#        exports_page.py speedscope FILE SCRIPT.js
#            writes the script that speedscope's own command would write
import base64
import json
import os
import sys

kind, path, result = sys.argv[1:]
with open(path, "rb") as f:
    data = f.read()
if kind == "dhat":
    text = json.dumps(data.decode("utf-8")).replace("<", "\\u003c")
    script = f"""<script>
window.addEventListener("load", () => {{
    const files = new DataTransfer();
    files.items.add(new File([{text}], "file"));
    gInput.files = files.files;
    loadFile();
}});
</script>"""
    with open(result, "a", encoding="utf-8") as f:
        f.write(script)
else:
    with open(result, "w", encoding="utf-8") as f:
        f.write('speedscope.loadFileFromBase64("%s", "%s")' %
                (os.path.basename(path), base64.b64encode(data).decode()))
