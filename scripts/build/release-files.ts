// The files of a release beside the npm package: the plugin for `pulumi plugin install --file`, the Python package for `pip install`, and
// the sources of the module for Go. None needs Python, Go or tar on the machine that builds.
import { createHash } from "node:crypto";
import { glob, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { type Zippable, zipSync } from "fflate";
import { createTar, createTarGzip } from "nanotar";
import { parse } from "smol-toml";
import { root } from "../base/project.mjs";
import { GO_SDK, PYTHON_SDK } from "../generate/sdk-schema.ts";

/** The same bytes from each build: no time, no user. */
const attributes = { uid: 0, gid: 0, mtime: 0 };

/** Writes `pulumi-resource-irm-v1.2.3.tar.gz`, the same for each platform, and returns its name. */
export async function writePluginTarball(plugin: string, version: string, folder: string): Promise<string> {
  return writeTarball(folder, `pulumi-resource-irm-v${version}.tar.gz`, plugin);
}

/** Writes `pulumi-irm-go-v1.2.3.tar.gz`, which unpacks to the folder `pulumi-irm-go`, and returns its name. */
export async function writeGoTarball(version: string, folder: string): Promise<string> {
  return writeTarball(folder, `pulumi-irm-go-v${version}.tar.gz`, join(root, GO_SDK), "pulumi-irm-go/");
}

/** How Pulumi (https://www.pulumi.com/docs/iac/packages-and-automation/pulumi-packages/) and Python name a platform of Node. */
const PLATFORMS: Readonly<Record<string, readonly [pulumi: string, wheel: string]>> = {
  "linux-x64": ["linux-amd64", "manylinux_2_28_x86_64"],
  "linux-arm64": ["linux-arm64", "manylinux_2_28_aarch64"],
  "darwin-x64": ["darwin-amd64", "macosx_13_0_x86_64"],
  "darwin-arm64": ["darwin-arm64", "macosx_13_0_arm64"],
  "win32-x64": ["windows-amd64", "win_amd64"],
};

/**
 * Writes what a release has for one platform, from its folder in `release`: the command and the plugin, each as an archive, and the Python package with
 * both. The engine refuses an archive with links.
 */
export async function writePlatformFiles(platform: string, version: string, release: string): Promise<void> {
  const [pulumi, wheel] = PLATFORMS[platform] ?? [];
  if (pulumi === undefined || wheel === undefined) throw new TypeError(`${platform} is not a platform of a release`);
  const ending = platform.startsWith("win32") ? ".exe" : "";
  const read = async (name: string) => ({ name, data: await readFile(join(release, platform, name)) });
  const licenses = await Promise.all(["LICENSE-node.txt", "LICENSE-third-party.txt"].map(read));
  const { data } = await read(`pulumi-irm${ending}`);
  for (const command of ["pulumi-irm", "pulumi-resource-irm"]) {
    const files = [{ name: command + ending, data }, ...licenses];
    const tar = createTar(
      files.map((file) => ({ ...file, attrs: { ...attributes, mode: file.data === data ? "755" : "644" } })),
    );
    // A tenth larger than at level 6, in a third of the time.
    await writeFile(join(release, `${command}-v${version}-${pulumi}.tar.gz`), gzipSync(tar, { level: 1 }));
  }
  await writeWheel(release, { tag: wheel, executable: data, ending, licenses });
}

async function writeTarball(folder: string, name: string, source: string, prefix = "") {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths.toSorted().map(async (path) => {
    const data = await readFile(path);
    const mode = data.subarray(0, 2).toString() === "#!" ? "755" : "644";
    return { name: prefix + relative(source, path).replaceAll(sep, "/"), data, attrs: { ...attributes, mode } };
  });
  await writeFile(join(folder, name), await createTarGzip(await Promise.all(files)));
  return name;
}

/** The project in the generated pyproject.toml. */
interface Project {
  name: string;
  version: string;
  description: string;
  dependencies: string[];
  "requires-python": string;
  license: { text: string };
  keywords: string[];
  urls: Record<string, string>;
}

interface WheelPlatform {
  tag: string;
  executable: Buffer;
  ending: string;
  licenses: readonly { name: string; data: Buffer }[];
}

/**
 * Writes `pulumi_irm-1.2.3-py3-none-any.whl` (https://packaging.python.org/specifications/binary-distribution-format/). That of a platform installs the
 * command and the plugin beside Python: one file, since the plugin is a script that starts the command under another name. Windows starts no
 * script as a plugin, and twice the executable is more than PyPI's 100 MB.
 */
export async function writeWheel(folder: string, platform?: WheelPlatform): Promise<string> {
  const sdk = join(root, PYTHON_SDK);
  const { project } = parse(await readFile(join(sdk, "pyproject.toml"), "utf8")) as unknown as { project: Project };
  const { name, version } = project;
  const info = `${name}-${version}.dist-info`;
  const files = new Map<string, Uint8Array>();
  for await (const entry of glob(`${name}/**/*`, { cwd: sdk, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !path.includes("__pycache__"))
      files.set(relative(sdk, path).replaceAll(sep, "/"), await readFile(path));
  }
  const sorted = new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const readme = await readFile(join(sdk, "README.md"), "utf8");
  sorted.set(`${info}/LICENSE`, await readFile(join(root, "LICENSE")));
  const scripts = `${name}-${version}.data/scripts`;
  if (platform !== undefined) {
    sorted.set(`${scripts}/pulumi-irm${platform.ending}`, platform.executable);
    if (platform.ending === "") sorted.set(`${scripts}/pulumi-resource-irm`, bytes(PLUGIN_SCRIPT));
    for (const license of platform.licenses) sorted.set(`${info}/${license.name}`, license.data);
  }
  const tag = platform?.tag ?? "any";
  sorted.set(`${info}/METADATA`, bytes(metadataOf(project, readme)));
  sorted.set(
    `${info}/WHEEL`,
    bytes(
      `Wheel-Version: 1.0\nGenerator: pulumi-irm\nRoot-Is-Purelib: ${platform === undefined}\nTag: py3-none-${tag}\n`,
    ),
  );
  sorted.set(`${info}/RECORD`, bytes(recordOf(sorted, `${info}/RECORD`)));
  const file = `${name}-${version}-py3-none-${tag}.whl`;
  await writeFile(
    join(folder, file),
    zipSync(Object.fromEntries([...sorted].map(([path, data]) => [path, zipEntry(data, path.startsWith(scripts))])), {
      level: platform === undefined ? 6 : 1,
    }),
  );
  return file;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A regular file that its owner may write; the first time that a zip file can name. */
const zipEntry = (data: Uint8Array, isScript: boolean): Zippable[string] => [
  data,
  { mtime: "1980-01-01", os: 3, attrs: (isScript ? 0o100755 : 0o100644) << 16 },
];

/** pip writes the path of its Python into the first line. */
const PLUGIN_SCRIPT = `#!python
import os, sys
command = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "pulumi-irm")
os.execv(command, ["pulumi-resource-irm", *sys.argv[1:]])
`;

/** Core metadata 2.1 (https://packaging.python.org/specifications/core-metadata/). */
const metadataOf = (project: Project, readme: string) =>
  [
    "Metadata-Version: 2.1",
    `Name: ${project.name}`,
    `Version: ${project.version}`,
    `Summary: ${project.description}`,
    `Keywords: ${project.keywords.join(",")}`,
    ...Object.entries(project.urls).map(([name, url]) => `Project-URL: ${name}, ${url}`),
    `License: ${project.license.text}`,
    `Requires-Python: ${project["requires-python"]}`,
    ...project.dependencies.map((one) => `Requires-Dist: ${one}`),
    "Description-Content-Type: text/markdown",
    "",
    readme,
  ].join("\n");

const recordOf = (files: ReadonlyMap<string, Uint8Array>, own: string) => {
  const lines = [...files].map(([path, data]) => {
    const hash = createHash("sha256").update(data).digest("base64url");
    return `${path},sha256=${hash},${data.length}`;
  });
  return `${[...lines, `${own},,`].join("\n")}\n`;
};
