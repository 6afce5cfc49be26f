// The Pulumi engine of this project: the only place that names versions. A change here is a new cache folder.

/** The version to download or build for a machine without an engine. */
export const engineVersion = "3.259.0";

/** The oldest `pulumi` on the PATH that is accepted. */
export const oldestEngine = "3.200.0";

// Of each Go build, the newest version that the Go module proxy serves in a form that builds outside its own tree.

const versionVariable = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

// Later language hosts are separate modules, which the proxy does not serve.
const sdk = {
  module: "github.com/pulumi/pulumi/sdk/v3",
  version: "v3.68.0",
  replace: "golang.org/x/text => golang.org/x/text v0.3.6",
  versionVariable,
};

/** @type {Record<string, import("../setup/go-build.mjs").GoBuild>} */
const nodejsBuilds = {
  pulumi: {
    module: "github.com/pulumi/pulumi/pkg/v3",
    version: `v${engineVersion}`,
    package: "cmd/pulumi",
    // A replace of the engine's own go.mod, which does not count when it is built as a dependency.
    replace: "github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e",
    // Without a version the Automation API refuses to refresh and to destroy.
    versionVariable,
  },
  "pulumi-language-nodejs": { ...sdk, package: "nodejs/cmd/pulumi-language-nodejs" },
};

/** @type {Record<string, import("../setup/go-build.mjs").GoBuild>} */
const furtherBuilds = {
  "pulumi-language-yaml": {
    module: "github.com/pulumi/pulumi-yaml",
    version: "v1.12.0",
    package: "cmd/pulumi-language-yaml",
    versionVariable: "github.com/pulumi/pulumi-yaml/pkg/version.Version",
  },
  "pulumi-language-python": {
    ...sdk,
    package: "python/cmd/pulumi-language-python",
    // The host runs this script, which it looks for beside itself.
    scripts: ["python/cmd/pulumi-language-python-exec"],
  },
};

/** @type {Record<string, import("../setup/go-build.mjs").GoBuild>} */
const goBuilds = {
  // The next version of the SDK that the proxy serves is without it.
  "pulumi-language-go": { ...sdk, version: "v3.62.0", package: "go/pulumi-language-go" },
};

/**
 * @typedef {object} Edition an engine, and the language hosts beside it
 * @property {string} name of its folder in the cache
 * @property {string[]} pieces its files: the engine looks for the others beside its own
 * @property {Record<string, import("../setup/go-build.mjs").GoBuild>} builds the commands that are built
 */

const nodejsPieces = ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

/** The engine's version, and that of each further host. @param {Edition["builds"]} builds */
const nameWith = (builds) =>
  [engineVersion, ...Object.entries(builds).map(([name, { version }]) => `${name.split("-").at(-1)}-${version}`)].join(
    "-",
  );

/** For programs in TypeScript. @type {Edition} */
export const nodejsEdition = { name: engineVersion, pieces: nodejsPieces, builds: nodejsBuilds };

/** For those in YAML and Python too, which a few tests have. @type {Edition} */
export const languagesEdition = {
  name: nameWith(furtherBuilds),
  pieces: [...nodejsPieces, "pulumi-language-yaml", "pulumi-language-python", "pulumi-language-python-exec"],
  builds: { ...nodejsBuilds, ...furtherBuilds },
};

/** For those in Go, which a long proof has. @type {Edition} */
export const goEdition = {
  name: nameWith(goBuilds),
  pieces: [...nodejsPieces, "pulumi-language-go"],
  builds: { ...nodejsBuilds, ...goBuilds },
};

export const editions = [nodejsEdition, languagesEdition, goEdition];

/**
 * The numbers of a version such as `v3.259.0`, `3.101.0-dev.1+dirty`; undefined when the text has none.
 * @returns {[number, number, number] | undefined}
 */
export function parseVersion(/** @type {string} */ text) {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(text.trim());
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** Whether a version is another one or later; a pre-release counts as its release. */
export function isAtLeast(/** @type {string} */ version, /** @type {string} */ oldest) {
  const left = parseVersion(version);
  const right = parseVersion(oldest);
  if (left === undefined || right === undefined) return false;
  for (const [index, part] of left.entries()) {
    const other = right[index] ?? 0;
    if (part !== other) return part > other;
  }
  return true;
}
