#!/usr/bin/env node
// `irm`: hands its command line to `program.ts`.
import { setFlagsFromString } from "node:v8";

// The commands import node:sqlite and more, so an older Node would fail with a stack trace.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`irm: Node ${process.versions.node} is too old; Node 22.19 or later is required\n`);
  process.exit(1);
}
// A reader such as head may close the pipe early. That is not a failure, so the exit code stays.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
// A server has many short-lived objects. The other commands hold large documents, and take a third less memory where V8 keeps
// its young generation small (`npm run bench:access`).
if (process.argv[2] !== "serve") setFlagsFromString("--semi-space-growth-factor=1");
void import("./program.ts").then(async ({ irm }) => {
  process.exitCode = await irm(process.argv.slice(2));
});
