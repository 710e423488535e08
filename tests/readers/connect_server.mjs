// connect_server.mjs - a server of push.proto with the libraries of Connect.
// SPDX-License-Identifier: Apache-2.0
//
// usage: node connect_server.mjs NODE_MODULES OUT
//
// Takes pushes on a free port of 127.0.0.1, which is written to OUT/port; unknown
// fields are refused. Each sample becomes OUT/N.pb.gz, its series OUT/N.json. Ends
// with its standard input.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modules, out] = process.argv.slice(2);
const require = createRequire(path.join(modules, "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { createFileRegistry, fromJson } = await load("@bufbuild/protobuf");
const { FileDescriptorSetSchema } = await load("@bufbuild/protobuf/wkt");
const { ConnectError, Code } = await load("@connectrpc/connect");
const { connectNodeAdapter } = await load("@connectrpc/connect-node");

// The few constructs that push.proto has, as a descriptor.
const text = fs.readFileSync(fileURLToPath(new URL("push.proto", import.meta.url)), "utf8");
const file = { name: "push.proto", package: /^package (.*);/m.exec(text)[1], syntax: "proto3" };
const full = (name) => `.${file.package}.${name}`;
const kinds = { string: "TYPE_STRING", bytes: "TYPE_BYTES" };
file.messageType = [...text.matchAll(/^message (\w+) \{([^}]*)\}/gm)].map(([, name, body]) => ({
  name,
  field: [...body.matchAll(/(repeated )?(\w+) (\w+) = (\d+);/g)].map(([, many, type, field, number]) => ({
    name: field,
    number: Number(number),
    label: many ? "LABEL_REPEATED" : "LABEL_OPTIONAL",
    ...(kinds[type] ? { type: kinds[type] } : { type: "TYPE_MESSAGE", typeName: full(type) }),
  })),
}));
file.service = [...text.matchAll(/^service (\w+) \{([^}]*\}[^}]*)\}/gm)].map(([, name, body]) => ({
  name,
  method: [...body.matchAll(/rpc (\w+)\((\w+)\) returns \((\w+)\)/g)].map(([, method, input, output]) => ({
    name: method,
    inputType: full(input),
    outputType: full(output),
  })),
}));
const registry = createFileRegistry(fromJson(FileDescriptorSetSchema, { file: [file] }));

function refuseUnknown(message) {
  if (message.$unknown?.length) throw new ConnectError("unknown fields", Code.InvalidArgument);
  for (const value of Object.values(message))
    for (const inner of Array.isArray(value) ? value : [])
      if (inner?.$typeName) refuseUnknown(inner);
}

let count = 0;
function push(request, context) {
  refuseUnknown(request);
  for (const series of request.series)
    for (const sample of series.samples) {
      const name = path.join(out, String(++count));
      const field = "ID" in sample ? "ID" : "iD";
      fs.writeFileSync(name + ".pb.gz", sample.rawProfile);
      const about = {
        labels: Object.fromEntries(series.labels.map((l) => [l.name, l.value])),
        names: series.labels.map((l) => l.name),
        id: sample[field],
        headers: Object.fromEntries(context.requestHeader),
        protocol: context.protocolName,
      };
      fs.writeFileSync(name + ".new", JSON.stringify(about));
      fs.renameSync(name + ".new", name + ".json");
    }
  return {};
}

const routes = (router) => router.service(registry.getService("push.v1.PusherService"), { push });
const server = http.createServer(connectNodeAdapter({ routes, requireConnectProtocolHeader: true }));
server.listen(0, "127.0.0.1", () => {
  fs.writeFileSync(path.join(out, "port.new"), String(server.address().port));
  fs.renameSync(path.join(out, "port.new"), path.join(out, "port"));
});
process.stdin.on("end", () => process.exit(0)).resume();
