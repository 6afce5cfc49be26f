// A change of a policy in a repository of git, and the checkout of its one commit that a job begins with.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createRepository, type TestRepository } from "../../support/repository.ts";
import type { TestServer } from "../api-server.ts";

export interface PolicyChange {
  repository: TestRepository;
  /** folder of the checkout */
  checkout: string;
  /** Commits a policy in which the workflow of releases has this role, and checks it out; returns the hash. */
  propose(role: string, files?: Record<string, string>): string;
  /** A branch of the base with these files. */
  makeBranch(name: string, files: Record<string, string>): void;
}

const policyOf = ({ organization }: Pick<TestServer, "organization">, role: string): string => `
organization: { uid: "${organization}" }
groups: { platform: {} }
identities: { release: { in: platform, github: { repository: acme/images, branch: main } } }
access: { platform: { ${role}: [release] } }
`;

/** The base denies gains of ownership. */
export const createPolicyChange = (api: TestServer, base: Record<string, string> = {}): PolicyChange => {
  const repository = createRepository();
  repository.commit({ "access.yaml": policyOf(api, "viewer"), "review.yaml": "deny: [gains-owner]\n", ...base });
  repository.git("checkout", "--quiet", "-b", "change");
  const checkout = join(repository.root, ".git", "checkout");
  return {
    repository,
    checkout,
    makeBranch: (name, files) => {
      repository.git("checkout", "--quiet", "-B", name, "main");
      repository.commit(files);
      repository.git("checkout", "--quiet", "change");
    },
    propose: (role, files = {}) => {
      const head = repository.commit({ "access.yaml": policyOf(api, role), ...files });
      rmSync(checkout, { recursive: true, force: true });
      const from = `file://${repository.root}`;
      execFileSync("git", ["clone", "--quiet", "--depth=1", "--branch=change", from, checkout]);
      return head;
    },
  };
};
