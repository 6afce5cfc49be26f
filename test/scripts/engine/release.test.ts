import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { downloadEngine } from "../../../scripts/engine/release.mjs";
import { engineVersion } from "../../../scripts/engine/version.mjs";
import { fakeEngine } from "../fake-engine.ts";

const name = `pulumi-v${engineVersion}-linux-x64.tar.gz`;
const pieces = ["pulumi", "pulumi-language-nodejs"];
const linux = { platform: "linux", arch: "x64" } as const;
let folder: string;
let target: string;
let archive: Buffer;
let files: Record<string, string | Buffer>;
let server: Server;
let url: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-irm-release-"));
  target = mkdtempSync(join(folder, "target-"));
  fakeEngine(join(folder, "pulumi"), engineVersion, ["pulumi", "pulumi-language-nodejs", "pulumi-language-go"]);
  execFileSync("tar", ["-czf", join(folder, "release.tar.gz"), "-C", folder, "pulumi"]);
  archive = readFileSync(join(folder, "release.tar.gz"));
  files = { [`/${name}`]: archive, "/SHA512SUMS": sums(archive) };

  server = createServer((request, response) => {
    const body = files[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function sums(content: Buffer): string {
  const hash = createHash("sha512").update(content).digest("hex");
  return `${"0".repeat(128)}  pulumi-v${engineVersion}-darwin-x64.tar.gz\n${hash}  ${name}\n`;
}

describe("the official release", () => {
  test("is unpacked when its checksum is the published one", async () => {
    await downloadEngine(target, pieces, { url, ...linux });
    expect(execFileSync(join(target, "pulumi"), { encoding: "utf8" })).toBe(`v${engineVersion}\n`);
    expect(existsSync(join(target, "pulumi-language-nodejs"))).toBe(true);
    expect(existsSync(join(target, "pulumi-language-go"))).toBe(false);
    expect(existsSync(join(target, name))).toBe(false);
  });

  test("is not unpacked when its checksum is another one", async () => {
    files["/SHA512SUMS"] = sums(Buffer.from("another archive"));
    await expect(downloadEngine(target, pieces, { url, ...linux })).rejects.toThrow(
      /has SHA-512 .* it was not unpacked/,
    );
    expect(existsSync(join(target, "pulumi"))).toBe(false);
  });

  test("is not accepted without a published checksum", async () => {
    files["/SHA512SUMS"] = "";
    await expect(downloadEngine(target, pieces, { url, ...linux })).rejects.toThrow(
      `${url}/SHA512SUMS does not list ${name}`,
    );
  });

  test("that does not exist is an error with the address and the answer", async () => {
    files = {};
    await expect(downloadEngine(target, pieces, { url, ...linux })).rejects.toThrow(`${url}/SHA512SUMS: HTTP 404`);
  });
});
