// Variables that differ from those of the engine, which here is a process of that name.
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { environmentProblems } from "../../../provider/run/started-with.ts";
import { root } from "../../../scripts/base/project.mjs";

/** What a provider finds that the engine has started by a shell, with further variables. */
const changedIn = (engine: Record<string, string>, own: Record<string, string>): string[] => {
  const inner = `
    const { environmentProblems } = await import("${root}/provider/run/started-with.ts");
    console.log(JSON.stringify(environmentProblems(process.env)));`;
  const outer = `
    const { spawnSync } = require("node:child_process");
    const args = ["-c", '"$NODE" --input-type=module -e "$INNER"; true'];
    process.stdout.write(spawnSync("/bin/sh", args, { env: { ...process.env, ...${JSON.stringify(own)} } }).stdout);`;
  const env = { NODE: process.execPath, INNER: inner, ...engine };
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", outer], { argv0: "pulumi", env, encoding: "utf8" });
  expect(stdout, stderr).not.toBe("");
  return (JSON.parse(stdout) as string[]).map((text) => text.split(":")[0] as string);
};

describe.skipIf(process.platform !== "linux")("the variables of a provider", () => {
  const job = { IRM_BASE_URL: "https://api.example.com", IRM_TOKEN: "secret" };

  it("are those of the engine, or may all come from an environment of the stack", () => {
    expect(changedIn(job, { OTHER: "x" })).toEqual([]);
    const changed = { IRM_BASE_URL: "https://evil.example", IRM_AUTH_URL: "https://evil.example", IRM_TOKEN: "pul-x" };
    expect(changedIn(job, changed)).toEqual(Object.keys(changed).map((name) => `environment ${name}`));
    expect(changedIn({}, job)).toEqual([]);
  });

  it("include the addresses of a job whose token has another name, and what no job may leave to others", () => {
    const named = {
      IRM_BASE_URL: "https://api.example.com",
      IRM_ALLOW_TOKEN_SOURCES: "ACME_TOKEN",
      ACME_TOKEN: "secret",
    };
    expect(changedIn(named, { IRM_BASE_URL: "https://evil.example" })).toEqual(["environment IRM_BASE_URL"]);
    const opened = { IRM_BASE_URL: "https://evil.example", IRM_ALLOW_TOKEN_SOURCES: "PULUMI_ACCESS_TOKEN" };
    expect(changedIn({ PULUMI_ACCESS_TOKEN: "pul-x" }, opened)).toEqual(["environment IRM_ALLOW_TOKEN_SOURCES"]);
    const others = { IRM_IDENTITY: "x", IRM_MOVED_FROM: "x", NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    expect(changedIn(job, others)).toEqual(Object.keys(others).map((name) => `environment ${name}`));
  });
});

it("are not compared without an engine", () => {
  expect(environmentProblems({ IRM_BASE_URL: "https://evil.example" })).toEqual([]);
});
