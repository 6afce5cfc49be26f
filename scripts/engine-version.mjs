// Which Pulumi engine this project uses: the only place that names versions. A change here is a new cache folder.

/** What is downloaded or built when the machine has no engine. */
export const engineVersion = "3.259.0";

/** The oldest `pulumi` on the PATH that is accepted. */
export const oldestEngine = "3.200.0";

/** The two Go builds. The newest of each that the Go module proxy serves in a form that builds outside its own tree. */
export const goBuilds = {
  pulumi: {
    module: "github.com/pulumi/pulumi/pkg/v3",
    version: `v${engineVersion}`,
    package: "cmd/pulumi",
    // A replace of the engine's own go.mod, which does not count when it is built as a dependency.
    replace: "github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e",
    // Without a version the Automation API refuses to refresh and to destroy.
    versionVariable: "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version",
  },
  "pulumi-language-nodejs": {
    module: "github.com/pulumi/pulumi/sdk/v3",
    // Later language hosts are a separate module, which the proxy does not serve.
    version: "v3.68.0",
    package: "nodejs/cmd/pulumi-language-nodejs",
    replace: "golang.org/x/text => golang.org/x/text v0.3.6",
    versionVariable: "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version",
  },
};

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
