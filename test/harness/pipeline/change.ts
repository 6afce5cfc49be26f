// A change of a program in a repository of git, the checkout that a job begins with, and the requests that another job left.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeText } from "../../../access/change/change.ts";
import { createRecord } from "../../../client/records.ts";
import { resources } from "../../../schema/index.ts";
import { createRepository } from "../../support/repository.ts";
import type { TestServer } from "../api-server.ts";
import { grant, makeChange } from "../change-file.ts";

/** The base denies gains of ownership. */
export const createProgramChange = (api: TestServer, base: Record<string, string> = {}) => {
  const repository = createRepository();
  repository.commit({ "index.ts": "// nothing\n", "review.yaml": "deny: [gains-owner]\n", ...base });
  repository.git("checkout", "--quiet", "-b", "change");
  const folder = join(repository.root, ".git");
  const [checkout, file] = [join(folder, "checkout"), join(folder, "change.json")];
  return {
    repository,
    /** the folder, and the file of the requests */
    ...{ checkout, file },
    /** A branch of the base with these files. */
    makeBranch: (name: string, files: Record<string, string>) => {
      repository.git("checkout", "--quiet", "-B", name, "main");
      repository.commit(files);
      repository.git("checkout", "--quiet", "change");
    },
    /** Commits a program in which the workflow of releases has this built-in role, and checks it out; returns the hash. */
    propose: async (role: string, files: Record<string, string> = {}): Promise<string> => {
      const head = repository.commit({ "index.ts": `// release is ${role}\n`, ...files });
      rmSync(checkout, { recursive: true, force: true });
      const from = `file://${repository.root}`;
      execFileSync("git", ["clone", "--quiet", "--depth=1", "--branch=change", from, checkout]);
      writeFileSync(file, await requestsOf(api, role));
      return head;
    },
  };
};

const requestsOf = async (api: TestServer, role: string): Promise<string> => {
  const { digest: _, ...content } = await makeChange(api, async (client) => {
    const { uid: platform } = await createRecord(client, resources.group, api.organization, { name: "platform" });
    const claimMatch = { issuer: "https://issuer.example", subject: "release" };
    const release = await createRecord(client, resources.identity, String(platform), { name: "release", claimMatch });
    await grant(api, String(platform), String(release.uid), role)(client);
  });
  return changeText({ ...content, stack: "access/production" });
};
