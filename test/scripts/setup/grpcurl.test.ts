// grpcurl for the tests: the cached one, or the reason why it is missing.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { ensureGrpcurl, grpcurlVersion } from "../../../scripts/setup/grpcurl.mjs";
import { temporaryFolder } from "../../support/command.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

test("without Go reports a reason, and builds nothing", async () => {
  const env = { XDG_CACHE_HOME: folder.path("empty"), PATH: folder.path("bin") };
  expect(await ensureGrpcurl(env)).toEqual({ reason: "there is no `go` on the PATH to build it with" });
});

test("uses the one of this version in the cache, with or without Go", async () => {
  const own = `${folder.path("cache")}/pulumi-irm/grpcurl/${grpcurlVersion}`;
  mkdirSync(own, { recursive: true });
  writeFileSync(`${own}/grpcurl`, "#!/bin/sh\n");
  chmodSync(`${own}/grpcurl`, 0o755);
  const env = { XDG_CACHE_HOME: folder.path("cache"), PATH: folder.path("bin") };
  expect(await ensureGrpcurl(env)).toEqual({ command: `${own}/grpcurl` });
});
