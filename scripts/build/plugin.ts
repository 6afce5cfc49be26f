// The plugin for the engine, as a folder that needs Node and nothing else. It has a bundled module, its parts for later imports, the
// files that start it, and its schema.
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../base/project.mjs";
import { bundleInParts, licensesOf } from "./bundle.ts";
import { compileCache, supportedNode } from "./package.ts";

const EXECUTABLE = "pulumi-resource-irm";
const MODULE = "main.mjs";

/** Codes of gRPC (https://grpc.io/docs/guides/status-codes/). */
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

/** `range` is `engines.node` of package.json: `>=22.19`. */
export async function writePlugin(
  folder: string,
  { version, range }: { version: string; range: string },
): Promise<void> {
  const modules = await bundleInParts(join(root, "plugin", "main.ts"), join(folder, MODULE), version);
  await mkdir(join(folder, "generated"), { recursive: true });
  await copyFile(join(root, "plugin", "generated", "schema.json"), join(folder, "generated", "schema.json"));
  const texts = {
    "LICENSE-third-party.txt": await licensesOf(modules),
    "supported-node.js": supportedNode("pulumi-irm", range),
    "compile-cache.js": compileCache(),
    "start.js": START,
    [`${EXECUTABLE}.cmd`]: '@echo off\r\nnode "%~dp0start.js" %*\r\n',
    [EXECUTABLE]: shellText(range),
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  await chmod(join(folder, EXECUTABLE), 0o755);
}

/**
 * CommonJS that any Node can read. The engine reports a plugin that ends as a bug in the provider, and shows its words last. So under a Node
 * that is too old, a plugin that the engine has started answers the first calls, and refuses its configuration. The engine shows that error
 * alone. GetPluginInfo has to succeed, with an empty message (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
const START = `"use strict";
try {
  require("./supported-node.js");
  require("./compile-cache.js");
  import("./${MODULE}").catch(function (error) {
    console.error(error);
    process.exit(1);
  });
} catch (error) {
  var isStarted = process.argv.slice(2).some(function (argument) {
    return argument[0] !== "-";
  });
  if (isStarted) refuse(error.message);
  else {
    console.error(error.message);
    process.exitCode = 1;
  }
}

function refuse(text) {
  var server = require("http2").createServer();
  server.on("stream", function (stream, headers) {
    var method = headers[":path"].replace(/^.*[/]/, "");
    var head = { ":status": 200, "content-type": "application/grpc" };
    if (method === "GetPluginInfo") {
      stream.on("wantTrailers", function () {
        stream.sendTrailers({ "grpc-status": "0" });
      });
      stream.respond(head, { waitForTrailers: true });
      stream.end(Buffer.alloc(5));
      return;
    }
    var isRefused = ["GetSchema", "CheckConfig", "DiffConfig", "Configure"].indexOf(method) >= 0;
    head["grpc-status"] = isRefused ? "${FAILED_PRECONDITION}" : "${UNIMPLEMENTED}";
    head["grpc-message"] = text;
    stream.respond(head, { endStream: true });
  });
  server.listen(0, "127.0.0.1", function () {
    console.log(server.address().port);
  });
  // The engine holds the other end.
  process.stdin.on("end", function () {
    process.exit(1);
  });
  process.stdin.resume();
}
`;

/** Replaces itself by Node, so that the engine's signals and the end of its stdin arrive there. npm may have made a link to it. */
const shellText = (range: string) => `#!/bin/sh
self=$0
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=$(dirname "$self")/$target ;;
  esac
done
if ! command -v node >/dev/null; then
  echo "${EXECUTABLE}: there is no \\"node\\" on the PATH; install Node ${range.replace(">=", "")} or later" >&2
  exit 1
fi
exec node "$(dirname "$self")/start.js" "$@"
`;
