// grpcurl (https://github.com/fullstorydev/grpcurl), a gRPC client that the tests run against the server. It is built from
// its Go module into the user's cache folder, once for each version.
import { join } from "node:path";
import { cacheFolder, fillFolder } from "../base/cache-folder.mjs";
import { withLock } from "../base/lock.mjs";
import { findOnPath, isExecutable, log } from "../base/project.mjs";
import { buildGoProgram } from "./go-build.mjs";

/** A change here is a new cache folder. */
export const grpcurlVersion = "v1.9.3";

const build = {
  module: "github.com/fullstorydev/grpcurl",
  version: grpcurlVersion,
  package: "cmd/grpcurl",
  versionVariable: "main.version",
};

/**
 * The path of the program, or the reason why it is missing. A build that fails on a machine with Go is an error.
 * @returns {Promise<{ command: string, reason?: undefined } | { command?: undefined, reason: string }>}
 */
export async function ensureGrpcurl(env = process.env) {
  const folder = join(cacheFolder(env), "grpcurl", grpcurlVersion);
  const command = join(folder, "grpcurl");
  if (await isExecutable(command)) return { command };
  if ((await findOnPath("go", env.PATH)) === undefined)
    return { reason: "there is no `go` on the PATH to build it with" };

  return withLock(
    join(cacheFolder(env), "lock", `grpcurl-${grpcurlVersion}`),
    async () => {
      // Another process may have done it meanwhile.
      if (await isExecutable(command)) return { command };
      log(`building grpcurl ${grpcurlVersion} from its Go module, once per version: about a minute`);
      await fillFolder(folder, (staging) => buildGoProgram(join(staging, "grpcurl"), build));
      log(`grpcurl ${grpcurlVersion} is built`);
      return { command };
    },
    (holder) => log(`waiting for another process that is building grpcurl (${holder})`),
  );
}
