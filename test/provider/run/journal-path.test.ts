// The path of a stack's journal: two stacks of one name never share a file, and one stack always finds its own.
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalFolder, journalPath } from "../../../provider/run/journal-path.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

const STACK = "organization/access/production";
const config = { baseUrl: "https://api.example.com", authUrl: "https://api.example.com", requestTimeoutMs: 60_000 };
const pathIn = (cwd: string, env = {}, stack = STACK, own = config) => journalPath(stack, own, env, cwd);

describe("the folder", () => {
  it.each([
    ["is the configured one", "/srv/journal", { XDG_STATE_HOME: "/state" }, "/srv/journal"],
    ["is below XDG_STATE_HOME", undefined, { XDG_STATE_HOME: "/state" }, "/state/pulumi-irm"],
    ["is below the user's state folder", undefined, {}, join(homedir(), ".local/state/pulumi-irm")],
  ])("%s", (_, configured, env, expected) => expect(journalFolder(configured, env)).toBe(expected));

  it("holds the journal of each stack under its name", () => {
    const path = pathIn(folder.path("."), { XDG_STATE_HOME: "/state" });
    expect(dirname(path)).toBe("/state/pulumi-irm");
    expect(basename(path)).toMatch(/^organization\.access\.production\.[0-9a-f]{12}\.jsonl$/);
  });
});

describe("another file", () => {
  const project = (name: string, yaml: string): string => {
    mkdirSync(folder.path(`${name}/src`), { recursive: true });
    writeFileSync(folder.path(`${name}/Pulumi.yaml`), yaml);
    return folder.path(`${name}/src`);
  };
  const login = (name: string, current: string) => {
    mkdirSync(folder.path(name));
    writeFileSync(folder.path(`${name}/credentials.json`), JSON.stringify({ current }));
    return { PULUMI_HOME: folder.path(name) };
  };
  const plain = project("plain", "name: access\nruntime: nodejs\n");
  const none = { PULUMI_HOME: folder.path("nowhere") };
  const base = pathIn(plain, none);

  it.each([
    ["for another stack", () => pathIn(plain, none, "organization/access/staging")],
    ["for another address", () => pathIn(plain, none, STACK, { ...config, baseUrl: "https://other.example.com" })],
    ["for a backend in the environment", () => pathIn(plain, { ...none, PULUMI_BACKEND_URL: "file:///a" })],
    [
      "for a backend in the project's file, above the working folder",
      () => pathIn(project("own", "name: access\nbackend: { url: file:///a }\n"), none),
    ],
    ["for another login", () => pathIn(plain, login("home", "https://api.example.org"))],
  ])("%s", (_, path) => expect(path()).not.toBe(base));

  it("is not used for the same stack, whatever its checkout folder and the rest of its project file", () => {
    const otherProject = project("elsewhere", "name: access\ndescription: our backend\nruntime: nodejs\n");
    expect(pathIn(otherProject, none)).toBe(base);
    expect(pathIn(project("broken", "backend: { url: [\n"), none)).toBe(base);
  });

  it("is the environment's, then the project's, then that of the login", () => {
    const own = project("first", "backend: { url: file:///b }\n");
    const home = login("second", "file:///c");
    const at = (url: string) => pathIn(plain, { ...none, PULUMI_BACKEND_URL: url });
    expect(pathIn(own, { ...home, PULUMI_BACKEND_URL: "file:///a" })).toBe(at("file:///a"));
    expect(pathIn(own, home)).toBe(at("file:///b"));
    expect(pathIn(plain, home)).toBe(at("file:///c"));
  });
});
