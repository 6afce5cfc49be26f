// The version of the package, which the build writes into the bundle.
import manifest from "../package.json" with { type: "json" };

export const { version } = manifest;
