// A sealed stack for the tests of one file, with a group of its own for each test, and what people change there by hand.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { SealContent } from "../../../access/seal/seal.ts";
import type { Json } from "../../../schema/index.ts";
import type { Program } from "./program.ts";
import type { Adapter } from "./provider.ts";
import type { Engine } from "./run.ts";
import { openSealed, type Sealed, STACK } from "./sealed.ts";

export const IAM = "/iam/v2beta1";
const CREATES_AND_MORE = /^(Create|Update|Delete|Batch)/;

interface Sent {
  errors: string[];
  /** operations of the API that were called, sorted */
  writes: string[];
}

/** Registers the hooks of the calling file. The fields of the place are set while its tests run. */
export const sealedPlace = (adapter: Adapter = "dynamic") => {
  const at = {} as {
    stack: Sealed;
    /** uid of the role */
    viewer: string;
    /** uid of the role */
    owner: string;
    /** uid of the test's group */
    home: string;
    homeName: string;
  };
  let count = 0;

  const make = async (path: string, body: Json): Promise<string> =>
    (await at.stack.testbed.call("POST", `${IAM}/${path}`, body)).uid as string;
  const builtIn = async (name: string): Promise<string> => {
    const { roles } = await at.stack.testbed.call("GET", `${IAM}/roles?name=${name}&uidp.inRoot=true`);
    return (roles as { uid: string }[])[0]?.uid as string;
  };

  beforeAll(async () => {
    at.stack = await openSealed(adapter, { speed: 20 });
    at.viewer = await builtIn("viewer");
    at.owner = await builtIn("owner");
  });
  afterAll(() => at.stack.close());
  beforeEach(async () => {
    for (const file of [`${STACK}.state.json`, `${STACK}.journal`, "seal.json"])
      rmSync(join(at.stack.testbed.folder, file), { recursive: true, force: true });
    count += 1;
    at.homeName = `home-${count}`;
    at.home = await make(`groups/${at.stack.testbed.home}`, { name: at.homeName });
  });

  const claims = (subject: string): Json => ({ issuer: "https://issuer.example.com", subject });
  const resource = (kind: Program[number]["kind"], name: string, inputs: Json): Program[number] => ({
    ...{ kind, name },
    inputs: { parent: at.home, ...inputs },
  });
  const sent = async (work: () => Promise<{ errors: string[] }>): Promise<Sent> => {
    const { faults } = at.stack.testbed.server;
    faults?.set({});
    const { errors } = await work();
    const writes = faults?.attempts().flatMap(({ operation }) => (CREATES_AND_MORE.test(operation) ? operation : []));
    return { errors, writes: (writes ?? []).toSorted() };
  };
  const up = (program: Program, engine: Engine = at.stack.bound()): Promise<Sent> =>
    sent(() => engine.run("up", program));

  return {
    ...{ at, make, claims, resource, sent, up },
    edit: (path: string, body: Json): Promise<Json> => at.stack.testbed.call("PATCH", `${IAM}/${path}`, body),
    makeIdentity: (name: string): Promise<string> => make(`identities/${at.home}`, { name, claimMatch: claims(name) }),
    makeRole: (name: string, ...capabilities: string[]): Promise<string> =>
      make(`roles/${at.home}`, { name, capabilities }),
    bind: (identityUid: string, roleUid: string, group = at.home): Promise<string> =>
      make(`roleBindings/${group}`, { identityUid, roleUid }),
    binding: (name: string, identity: unknown, role: unknown): Program[number] =>
      resource("roleBinding", name, { identity, role }),
    /** The content of the seal that is written. */
    seal: async (program: Program): Promise<SealContent> => {
      const { seal: content } = await at.stack.review(program);
      // The time of a seal is known to a second.
      at.stack.testbed.advanceClock(1_000);
      at.stack.write(content);
      return content;
    },
    /** Without a seal. */
    apply: async (program: Program): Promise<void> => {
      expect((await up(program, at.stack.engine)).errors).toEqual([]);
    },
    refusal: (...lines: string[]): unknown =>
      expect.stringContaining(
        [`the seal ${at.stack.file} does not contain this, and nothing is sent:`, ...lines].join("\n  - "),
      ),
  };
};
