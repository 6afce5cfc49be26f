// The methods that an earlier version's state names still follow that state and journal.
// test/lifecycle/previous-version.test.ts runs a whole stack of such a version with an engine.
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import { type Methods, methodsWith } from "../../../provider/engine/methods.ts";
import type { KindName } from "../../../provider/kind/index.ts";
import { createServer } from "../../../server/index.ts";
import { manualClock } from "../../harness/clock.ts";
import type { StateResource } from "../../harness/engine-stack.ts";
import { workloadToken } from "../../harness/provider.ts";
import { journalName, readPart, restoreRecords, VERSIONS } from "../../lifecycle/previous/recording.ts";
import { getter, journalFolder } from "../../support/scripted.ts";

const requireFromString = createRequire(createRequire(import.meta.url).resolve("@pulumi/pulumi"))(
  "require-from-string",
);
const BACKEND = "file://~";

describe.each(VERSIONS)("a state of version %s", async (version) => {
  const folder = mkdtempSync(join(journalFolder, "previous-"));
  let messages: string[];

  restoreRecords(version, join(folder, "irm.db"));
  const server = await createServer({ dev: true, store: join(folder, "irm.db") });
  const identityToken: string = await workloadToken(server, "owner");
  const all = JSON.parse(readPart(version, "stack", server.baseUrl)).deployment.resources as StateResource[];
  const resources: Required<StateResource>[] = all.filter(
    ({ outputs }) => outputs?.__provider !== undefined,
  ) as Required<StateResource>[];
  writeFileSync(join(folder, journalName(BACKEND, server.baseUrl)), readPart(version, "journal"));
  afterAll(() => server.close());
  beforeEach(() => {
    messages = [];
  });

  /** A process of this version. */
  const start = async (baseUrl = server.baseUrl): Promise<Record<KindName, Methods>> => {
    const env = {
      PULUMI_BACKEND_URL: BACKEND,
      IRM_JOURNAL: folder,
      IRM_BASE_URL: baseUrl,
      IRM_IDENTITY: server.identity,
      IRM_IDENTITY_TOKEN: identityToken,
    };
    const environment = {
      env,
      clock: manualClock(),
      transport: systemTransport(),
      log: (text: string) => void messages.push(text),
    };
    const kinds = methodsWith(environment);
    for (const methods of Object.values(kinds)) await methods.configure({ config: { get: getter() } });
    return kinds;
  };
  const kindOf = ({ outputs }: Required<StateResource>): KindName =>
    String(outputs.__provider).match(/\.kinds\.(\w+)\[m\]/)?.[1] as KindName;
  const readable = () => resources.filter(({ outputs }) => !JSON.stringify(outputs).includes("ciphertext"));

  it("has handler texts whose kinds and methods still exist", async () => {
    const { kinds } = await import("../../../provider/engine/handler.ts");
    for (const resource of resources) {
      const text = resource.outputs.__provider as string;
      expect(text).toContain('import("pulumi-irm/dynamic")');
      const methods = Object.keys(requireFromString(text).handler());
      expect(methods).toHaveLength(7);
      for (const method of methods) expect(kinds).toHaveProperty(`${kindOf(resource)}.${method}`, expect.any(Function));
    }
  });

  it("is read without drift, and names the journal with the creates whose outcome is unknown", async () => {
    const kinds = await start();
    for (const resource of readable()) {
      const { id, outputs } = resource;
      const { __provider, ...own } = outputs;
      expect((await kinds[kindOf(resource)].read(id, outputs)).props).toMatchObject(own);
    }
    expect(messages).toEqual(
      ["Group::mistaken", "Identity::unanswered"].map((name) => expect.stringMatching(`^[^:]*/${name}: `)),
    );
  });

  it("names its service: no record is read or deleted at another one", async () => {
    const refusal = `wrong service? The records of this stack are at ${server.baseUrl}`;
    for (const resource of readable()) {
      for (const method of ["read", "delete"] as const) {
        const kinds = await start("http://127.0.0.1:1");
        const { id, outputs } = resource;
        await expect(kinds[kindOf(resource)][method](id, outputs)).rejects.toThrow(refusal);
      }
    }
  });
});
