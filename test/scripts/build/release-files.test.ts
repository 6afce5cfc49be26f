// The files of a release, as they are written without Python, Go or tar.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gunzipSync, strFromU8, unzipSync } from "fflate";
import { parseTar } from "nanotar";
import { afterAll, expect, test } from "vitest";
import { REPOSITORY } from "../../../plugin/schema/language.ts";
import { writeGoTarball, writeWheel } from "../../../scripts/build/release-files.ts";
import { root } from "../../harness/api-process.ts";
import { temporaryFolder } from "../../support/command.ts";

const folder = temporaryFolder();
afterAll(folder.remove);
const { version, keywords } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));

const name = await writeWheel(folder.path(""));
const files = new Map(Object.entries(unzipSync(readFileSync(folder.path(name)))));
const textOf = (path: string): string => strFromU8(files.get(path) ?? new Uint8Array());
const info = `pulumi_irm-${version}.dist-info`;

test("the Python package is a wheel for any Python 3, of the version of the package", () => {
  expect(name).toBe(`pulumi_irm-${version}-py3-none-any.whl`);
  expect(textOf(`${info}/WHEEL`)).toContain("Wheel-Version: 1.0\n");
  const [head = "", readme] = textOf(`${info}/METADATA`).split("\n\n# ");
  expect(head.split("\n")).toEqual([
    "Metadata-Version: 2.1",
    "Name: pulumi_irm",
    `Version: ${version}`,
    expect.stringMatching(/^Summary: Access as code/),
    `Keywords: ${keywords.join(",")}`,
    `Project-URL: Repository, ${REPOSITORY}`,
    "License: Apache-2.0",
    "Requires-Python: >=3.9",
    "Requires-Dist: parver>=0.2.1",
    "Requires-Dist: pulumi>=3.231.0,<4.0.0",
    "Requires-Dist: semver>=2.8.1",
    'Requires-Dist: typing-extensions>=4.11,<5; python_version < "3.11"',
    "Description-Content-Type: text/markdown",
  ]);
  expect(readme).toContain("import pulumi_irm as irm");
  expect(textOf(`${info}/LICENSE`)).toContain("Apache License");
});

test("the Python package records the size and the hash of each file but the record itself", () => {
  const lines = textOf(`${info}/RECORD`).trimEnd().split("\n");
  expect(lines.pop()).toBe(`${info}/RECORD,,`);
  const expected = [...files].flatMap(([path, data]) => {
    const hash = createHash("sha256").update(data).digest("base64url");
    return path.endsWith("/RECORD") ? [] : [`${path},sha256=${hash},${data.length}`];
  });
  expect(lines.toSorted()).toEqual(expected.toSorted());
  expect(files.has("pulumi_irm/py.typed")).toBe(true);
  expect(JSON.parse(textOf("pulumi_irm/pulumi-plugin.json"))).toEqual({ resource: true, name: "irm", version });
});

test("the Python package passes the organization of the stack with each resource, declared or got by its uid", () => {
  const types = Object.keys(JSON.parse(readFileSync(`${root}/plugin/generated/schema.json`, "utf8")).resources);
  const line = '__props__.__dict__["__organization"] = pulumi.get_organization()\n';
  const passing = [...files].filter(([, data]) => strFromU8(data).split(line).length === 3);
  expect(passing.map(([path]) => path.replace(/^pulumi_irm\/|\.py$|_/g, "")).toSorted()).toEqual(
    types
      // The engine's request for a component has the organization.
      .filter((token) => token !== "irm:index:AccessPolicy")
      .map((token) => token.replace("irm:index:", "").toLowerCase())
      .toSorted(),
  );
});

const sdk = "sdk/go/irm";
const some = ["go.mod", "go.sum", "pulumi-plugin.json", "accessPolicy.go", "internal/pulumiUtilities.go"];
const tarballName = await writeGoTarball(version, folder.path(""));
const tarball = readFileSync(folder.path(tarballName));
const entries = new Map(parseTar(gunzipSync(tarball)).map((one) => [one.name, one]));
const goTextOf = (path: string): string | undefined => entries.get(`pulumi-irm-go/${path}`)?.text;

test("the file of the package for Go has all files of the folder of the clone below one folder, and nothing else", () => {
  expect(tarballName).toBe(`pulumi-irm-go-v${version}.tar.gz`);
  const files = readdirSync(`${root}/${sdk}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(root, sdk), join(entry.parentPath, entry.name)));
  expect([...entries.keys()].toSorted()).toEqual(files.map((file) => `pulumi-irm-go/${file}`).toSorted());
  for (const file of [...some, "README.md"])
    expect(goTextOf(file), file).toBe(readFileSync(`${root}/${sdk}/${file}`, "utf8"));
  expect(JSON.parse(goTextOf("pulumi-plugin.json") ?? "")).toEqual({ resource: true, name: "irm", version });
  expect(new Set([...entries.values()].map(({ attrs }) => attrs?.mode?.slice(-3)))).toEqual(new Set(["644"]));
});

test("the file of the package for Go is the same from each build, as the wheel is", async () => {
  const wheel = folder.path(await writeWheel(folder.path("")));
  const before = readFileSync(wheel);
  await writeWheel(folder.path(""));
  expect(readFileSync(wheel).equals(before)).toBe(true);
  await writeGoTarball(version, folder.path(""));
  expect(readFileSync(folder.path(tarballName)).equals(tarball)).toBe(true);
});
