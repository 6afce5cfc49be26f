// The arguments of AccessPolicy, and the mistakes of a policy: all at once, before anything is created. The engine is a mock.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AccessPolicy, type AccessPolicyArgs } from "../../../provider/index.ts";
import { root } from "../../harness/api-process.ts";
import { document, made, release, startEngine } from "./policy-engine.ts";

beforeEach(startEngine);

describe("the arguments of AccessPolicy", () => {
  const folder = mkdtempSync(join(tmpdir(), "irm-policy-"));
  const failure = (args: unknown): string => {
    try {
      new AccessPolicy("acme", args as AccessPolicyArgs);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };

  it.each([
    [
      "with their places",
      [
        "identities:",
        "  release: { in: platfrm, github: { repository: acme/images, branch: main } }",
        "access:",
        "  platform: { editor: [release], viewer: [relaese] }",
      ],
      [
        "4:18: identities.release.in: there is no group platfrm; did you mean platform?",
        "6:43: access.platform.viewer[0]: there is no identity relaese; did you mean release?",
      ],
    ],
    [
      "and a default role of people, which is the identity provider's own",
      ["people: { sso: { defaultRole: viewer, externalGroups: {}, groups: {} } }"],
      [
        "3:18: people.sso.defaultRole: AccessPolicy changes no identity provider, and so not its default role; set defaultRole where the IdentityProvider is declared, and remove it here",
        "3:59: people.sso.groups: there is no such field here; did you mean externalGroups?",
      ],
    ],
  ])("report all mistakes of the file at once, %s, and nothing is created", (_, lines, mistakes) => {
    writeFileSync(join(folder, "access.yaml"), ["organization: acme", "groups: { platform: }", ...lines].join("\n"));
    const file = relative(root, join(folder, "access.yaml"));
    expect(failure({ file })).toBe(
      ["AccessPolicy acme: the policy has 2 mistakes:", ...mistakes.map((one) => `${file}:${one}`)].join("\n  - "),
    );
    expect(made).toEqual([]);
  });

  it("find the file from the folder of the project, also where the program is in another", () => {
    writeFileSync(join(folder, "Pulumi.yaml"), "name: project\n");
    mkdirSync(join(folder, "source", "program"), { recursive: true });
    const working = vi.spyOn(process, "cwd").mockReturnValue(join(folder, "source", "program"));
    expect(failure({ file: "policy/access.yaml" })).toMatch(/ there is no file \.\.\/\.\.\/policy\/access\.yaml$/);
    working.mockRestore();
  });

  it("refuse an identity provider that people does not name", () => {
    const people = { "acme-sso": { externalGroups: { SRE: ["viewer"] } } };
    expect(failure({ policy: { organization: "acme", people }, identityProviders: { "acme-ssso": "x" } })).toBe(
      "AccessPolicy acme:\n  - identityProviders.acme-ssso: people does not name it; did you mean acme-sso?",
    );
  });

  it("report the mistakes of an object, and arguments that do not exist", () => {
    expect(failure({ policy: { organization: "acme", identitys: {} } })).toMatch(
      /^AccessPolicy acme: the policy has a mistake:\n {2}- identitys: there is no such field here; did you mean identities\?$/,
    );
    expect(failure({ adopt: "all", exlusive: true })).toBe(
      [
        "AccessPolicy acme:",
        "exlusive: unknown argument; did you mean exclusive?",
        "exactly one of file and policy is required",
        'adopt: must be "match", or { file } with the name of a file of uids',
      ].join("\n  - "),
    );
  });

  it("report every mistake of the file of uids", () => {
    const policy = { organization: "acme" };
    const file = relative(root, join(folder, "adopt.json"));
    const adopting = () => failure({ policy, adopt: { file } });
    expect(adopting()).toContain(`AccessPolicy acme: adopt: ${file}:\n  - ENOENT`);
    writeFileSync(join(folder, "adopt.json"), "[]");
    expect(adopting()).toContain("must be { groups, identities, roles, resources }, each with uids by key");
    writeFileSync(join(folder, "adopt.json"), `{ "groups": { "a\\u001b": "b" }, "identities": [], "people": {} }`);
    expect(adopting()).toBe(
      [
        `AccessPolicy acme: adopt: ${file}:`,
        "people: there is no such section; there are groups, identities, roles, resources",
        "groups.a\\u001b: must be a uid",
        "identities: must be uids by key",
      ].join("\n  - "),
    );
  });

  it("are checked by the compiler: an object has the shape of the file", () => {
    const types = () => {
      // @ts-expect-error either a file or an object
      new AccessPolicy("both", { file: "access.yaml", policy: document });
      // @ts-expect-error a misspelt section
      new AccessPolicy("section", { policy: { organization: "acme", identitys: {} } });
      const { github } = release;
      const google = { serviceAccount: "a@b.iam.gserviceaccount.com" };
      // @ts-expect-error the default role is the identity provider's own
      new AccessPolicy("people", { policy: { organization: "acme", people: { sso: { defaultRole: "viewer" } } } });
      // @ts-expect-error one relationship
      new AccessPolicy("two", { policy: { organization: "acme", identities: { a: { github, google } } } });
    };
    expect(types).toBeTypeOf("function");
  });
});
