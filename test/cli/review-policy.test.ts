// `irm review --policy`, with a program in place of the engine; test/lifecycle/action.test.ts has a real one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { text } from "node:stream/consumers";
import { beforeEach, expect, test, vi } from "vitest";
import { MAIN, type TemporaryFolder, temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";
import { useRepository } from "../support/repository.ts";

const POLICY = "organization: { name: acme }\ninclude: [teams/a.yaml]\n";
const BASE = {
  "Pulumi.yaml": "name: access\nruntime: nodejs\n",
  "Pulumi.prod.yaml": "config: {}\n",
  "index.ts": "base\n",
  "package.json": "{}",
  "package-lock.json": "{}",
  ".gitignore": "node_modules\n",
  "access.yaml": POLICY,
  "teams/a.yaml": "groups: { a: {} }\n",
  "lib/key.bin": "\u0000\u0001",
};

const repository = useRepository(BASE);
let place: TemporaryFolder;
beforeEach(() => {
  place = temporaryFolder();
  // In each program's folder, they write down what they find there.
  const seen = 'for one in $(find . -type f -o -type l | sort); do echo "== $one"; cat $one; done';
  place.write(
    "bin/pulumi",
    `#!/bin/sh\n(pwd; ls -ld . | cut -c1-10; ${seen}) > ${place.path("seen")} 2>&1\n\${SLOW:-exit 9}\n`,
  );
  place.write(
    "bin/npm",
    `#!/bin/sh\necho "$PWD: $*" > ${place.path("npm")}\nmkdir node_modules; echo installed > node_modules/one\n`,
  );
  for (const name of ["pulumi", "npm"]) chmodSync(place.path(`bin/${name}`), 0o755);
  vi.stubEnv("PATH", `${place.path("bin")}:${process.env.PATH}`);
  vi.stubEnv("XDG_CACHE_HOME", place.path("cache"));
  return () => {
    vi.unstubAllEnvs();
    place.remove();
  };
});

const at = (name: string) => repository.at(name);
const textOf = (name: string): string | undefined =>
  existsSync(place.path(name)) ? readFileSync(place.path(name), "utf8") : undefined;

const run = async (...flags: string[]) => {
  const policy = flags.includes("--policy") ? [] : ["--policy", at("access.yaml")];
  const all = ["review", ...policy, "--base", "main", "--stack", "prod", ...flags];
  const { code, stderr } = await runIrm(...all);
  const [folder = "", mode, ...lines] = textOf("seen")?.trimEnd().split("\n") ?? [];
  expect(existsSync(place.path("cache/pulumi-irm")) ? readdirSync(place.path("cache/pulumi-irm")) : []).toEqual([]);
  return { code, stderr, folder, mode, files: lines.join("\n"), npm: textOf("npm") };
};

test("the project that runs is the base's with the change's policy, for this user alone, and goes", async () => {
  repository.write({
    "index.ts": "theirs\n",
    "Pulumi.yaml": "name: access\nruntime: nodejs\nmain: elsewhere\n",
    "Pulumi.prod.yaml": "config: { a: b }\n",
    "access.yaml": POLICY.replace("a.yaml]", "b.yaml]"),
    "teams/b.yaml": "groups: { b: {} }\n",
    "adopt.json": "{}",
    "notes.txt": "new\n",
  });
  unlinkSync(at("teams/a.yaml"));
  const { code, stderr, folder, mode, files, npm } = await run();
  expect(code).toBe(1);
  expect(stderr).toContain("irm review: not part of this review: Pulumi.prod.yaml, Pulumi.yaml, index.ts, notes.txt\n");
  expect(stderr).toContain("the preview ended with 9");
  expect(folder).toMatch(/\/cache\/pulumi-irm\/review-\w+$/);
  expect(mode).toBe("drwx------");
  for (const [name, text] of Object.entries({
    ...{ "index.ts": "base\n", "Pulumi.yaml": BASE["Pulumi.yaml"], "lib/key.bin": BASE["lib/key.bin"] },
    ...{ "Pulumi.prod.yaml": "config: {}\n", "teams/b.yaml": "groups: { b: {} }\n" },
    "access.yaml": "organization: { name: acme }\ninclude: [teams/b.yaml]\n",
  }))
    expect(files).toContain(`== ./${name}\n${text}`.trimEnd());
  expect(files).toContain("== ./adopt.json\n{}");
  for (const name of ["teams/a.yaml", "notes.txt"]) expect(files).not.toContain(name);
  expect(npm).toBe(`${folder}: ci --ignore-scripts --no-audit --no-fund\n`);
});

test("the project that runs has no policy where the change removes it, and none of the change elsewhere", async () => {
  unlinkSync(at("access.yaml"));
  repository.commit({ "teams/a.yaml": "groups: { theirs: {} }\n" });
  const { files, stderr } = await run();
  expect(files).not.toContain("access.yaml");
  // The policy of the base includes it.
  expect(files).toContain("theirs");
  expect(stderr).not.toContain("not part");
});

test("the project that runs is that of a folder below the top level, with files of the base above it", async () => {
  repository.onMain({
    "infra/Pulumi.yaml": "name: infra\nruntime: yaml\n",
    "infra/access.yaml": "organization: acme\n",
  });
  repository.write({ "infra/access.yaml": "organization: { name: other }\n", "index.ts": "theirs\n" });
  repository.workIn("infra");
  const { folder, files, stderr, npm } = await run("--policy", at("infra/access.yaml"));
  expect(folder).toMatch(/\/infra$/);
  expect(files).toContain("organization: { name: other }");
  expect(stderr).toContain("not part of this review: index.ts\n");
  expect(npm).toBeUndefined();
});

test("the project that runs goes when the command is interrupted, after the engine has ended", async () => {
  vi.stubEnv("SLOW", "exec sleep 30");
  const flags = ["--policy", "access.yaml", "--base", "main", "--stack", "prod"];
  const child = spawn(process.execPath, [MAIN, "review", ...flags], {
    cwd: repository.root,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said, ended] = [text(child.stderr), once(child, "close")];
  await vi.waitFor(() => expect(textOf("seen")).toContain("== ./teams/a.yaml"), 20_000);
  child.kill("SIGINT");
  expect(await ended).toEqual([1, null]);
  expect(await said).toContain("irm review: it was interrupted; nothing was changed");
  expect(readdirSync(place.path("cache/pulumi-irm"))).toEqual([]);
});

const install = (): void =>
  repository.write({ "node_modules/@scope/.keep": "", "node_modules/one": "of the work tree\n" });

test("packages are those of the work tree where the change edits nothing that decides them", async () => {
  install();
  repository.write({ "index.ts": "theirs\n" });
  symlinkSync(place.path("bin"), at("node_modules/@scope/elsewhere"));
  const { files, npm } = await run();
  expect(npm).toBeUndefined();
  expect(files).toContain("== ./node_modules\n");
});

test.each<[string, () => void]>([
  ["the lock file", () => repository.write({ "package-lock.json": "{ }" })],
  ["a package that npm unpacks", () => repository.write({ "vendor/one.tgz": "theirs" })],
  [
    "packages that the change brings",
    () => {
      repository.git("add", "--force", "node_modules");
      repository.commit();
    },
  ],
  ["packages above, which it brings", () => repository.write({ ".gitignore": "", "lib/node_modules/x": "" })],
  ["a package that is a folder of the work tree", () => symlinkSync(at("lib"), at("node_modules/@scope/lib"))],
  [
    "packages by a link",
    () => {
      rmSync(at("node_modules"), { recursive: true });
      symlinkSync(at("lib"), at("node_modules"));
    },
  ],
])("packages are installed by the base's lock file after a change of %s", async (_, change) => {
  install();
  change();
  const { files, npm } = await run();
  expect(npm).toContain(": ci --ignore-scripts ");
  expect(files).toContain("== ./node_modules/one\ninstalled");
});

test("packages are installed where scripts of the project would have run in the work tree", async () => {
  repository.onMain({ "package.json": '{ "scripts": { "postinstall": "node index.ts" } }' });
  install();
  expect((await run()).npm).toContain(": ci --ignore-scripts ");
});

test("packages of Python are those of the machine", async () => {
  repository.onMain({ "Pulumi.yaml": "name: access\nruntime: { name: python, options: { virtualenv: venv } }\n" });
  repository.write({ "venv/.keep": "" });
  const { code, stderr, files } = await run();
  expect({ code, files }).toEqual({ code: 1, files: "" });
  expect(stderr).toContain("the program at main takes its packages from venv, which is not in that commit");
});

test("is refused without a base, a stack, or beside another operation, with all that is wrong", async () => {
  const { code, stderr } = await runIrm("review", "--policy", at("access.yaml"), "--destroy");
  expect(code).toBe(2);
  expect(stderr).toContain(
    "--policy needs --base REF: the program comes from there, and the policy from the work tree.",
  );
  expect(stderr).toContain("Without a program, npx pulumi-irm check and npx pulumi-irm test read a policy");
  expect(stderr).toContain("--policy needs --stack NAME");
  expect(stderr).toContain("--policy and --destroy cannot be combined");
  expect((await runIrm("review", place.path("change.json"), "--policy", "x", "--base", "main")).code).toBe(2);
  expect(textOf("seen")).toBeUndefined();
});

const OTHER = "organization: { name: acme }\n";
const edited = (files: Record<string, string>, policy = "access.yaml") => {
  repository.write(files);
  return at(policy);
};
const ofProgram = (name: string): [string, () => string, string] => [
  `one that includes ${name}, which would decide what runs`,
  () => edited({ "access.yaml": `organization: { name: acme }\ninclude: [${name}]\n`, [name]: "{}" }),
  `${name} is a file of the program or its packages, and no policy`,
];
test.each<[string, () => string, string]>([
  ["one that is not there", () => at("acess.yaml"), "--policy: there is no acess.yaml at main, nor in the work tree"],
  ["one of another place", () => place.write("access.yaml", POLICY), "access.yaml is not a file of the repository"],
  [
    "one with mistakes that hide what it includes",
    () => edited({ "access.yaml": "include: [teams/gone.yaml]\n  x" }),
    "the policy has mistakes, so there is no review:\n",
  ],
  ...["Pulumi.prod.yaml", "pulumi.yaml", "PACKAGE-LOCK.JSON", "tsconfig.json"].map(ofProgram),
  [
    "one that includes what is no policy",
    () => edited({ "access.yaml": POLICY.replace("teams/a", "teams/b"), "teams/b.yaml": "runtime: nodejs\n" }),
    "teams/b.yaml:1:1: runtime: there is no such field here",
  ],
  [
    "one through a link",
    () => {
      unlinkSync(at("teams/a.yaml"));
      symlinkSync("../package-lock.json", at("teams/a.yaml"));
      return at("access.yaml");
    },
    "teams/a.yaml is a symbolic link, or is reached through one, so there is no review",
  ],
  [
    "one beside a program that the base does not have",
    () => {
      repository.workIn("new");
      return edited({ "new/Pulumi.yaml": "name: new\nruntime: yaml\n", "new/access.yaml": OTHER }, "new/access.yaml");
    },
    "it is not clear which program reads the policy",
  ],
])("is refused before anything runs: %s", async (_, change, message) => {
  const { code, stderr, files } = await run("--policy", change());
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(message);
  expect(files).toBe("");
});
