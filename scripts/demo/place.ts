// Shared by the demo and its picture: a server process, a stack of the root Pulumi.yaml, and the edit of a pull request.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { root, startServerProcess } from "../../test/harness/api-process.ts";
import { createStack } from "../../test/harness/engine-stack.ts";
import { irmIn } from "../../test/harness/irm-command.ts";

/** The changes of a pull request, as configuration of examples/organization/index.ts. */
const EDIT = {
  platformDescription: "Builds and runs what every team builds on",
  pullRequestsPublish: "true",
  clustersRole: "viewer",
};

export const openPlace = async () => {
  // The configuration of the stack is beside the root Pulumi.yaml meanwhile.
  const name = `demo-${process.pid}`;
  const folder = mkdtempSync(join(tmpdir(), "irm-demo-"));
  const server = await startServerProcess(["--db", join(folder, "irm.db")]);
  const close = async () => {
    await server.stop();
    rmSync(join(root, `Pulumi.${name}.yaml`), { force: true });
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // As in CI: the platform writes the workload's token to a file, and the provider exchanges it for an API token.
    const tokenFile = join(folder, "identity-token");
    writeFileSync(tokenFile, await mintDevToken(server.issuer, { subject: "owner" }), { mode: 0o600 });
    const env = {
      IRM_BASE_URL: server.baseUrl,
      IRM_AUTH_URL: server.authUrl,
      IRM_IDENTITY: server.identity,
      IRM_IDENTITY_TOKEN_FILE: tokenFile,
    };
    const stack = await createStack({ folder, program: root, name, env });
    return {
      server,
      stack,
      /** Makes the edit of a pull request. */
      edit: async () => {
        for (const [key, value] of Object.entries(EDIT)) await stack.must("config", "set", key, value);
      },
      /** stdout of `npx pulumi-irm ARGS` on the stack */
      irm: async (...args: string[]) => {
        const { code, stdout, stderr } = await irmIn({ folder: root, env: stack.env }, [...args, "--stack", name]);
        if (code !== 0) throw new Error(`irm ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
        return stdout;
      },
      /** Leaves nothing behind. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
