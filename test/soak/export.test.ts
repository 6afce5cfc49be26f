// The quick part of the proof of `irm export`; `npm run soak -- --only exports` is the long one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Contents, readContents } from "../../access/export/read.ts";
import type { Json } from "../../schema/index.ts";
import { createRandom } from "../support/random.ts";
import { mapRecords } from "./export/exported.ts";
import { differencesBetween } from "./export/likeness.ts";
import { type Service, startService } from "./export/service.ts";
import { exports } from "./export.ts";
import { growOrganization } from "./random-organization.ts";

test("4 random organizations are taken over without a write, and are alike on a fresh service", async () => {
  const { figures, failures } = await exports({ seed: 1, rounds: 4 });
  expect(failures).toEqual([]);
  expect(figures["records that a resource took over"]).toBeGreaterThan(50);
  expect(figures["resources created on a fresh service"]).toBeGreaterThan(50);
});

describe("two organizations are alike", () => {
  let service: Service;
  let records: Contents["records"];
  beforeAll(async () => {
    service = await startService();
    const { organization } = service;
    await growOrganization(createRandom(1), service, { organization, nowMs: Date.now() });
    ({ records } = await readContents(service.client(), organization));
    for (const kind of ["group", "identity", "role", "roleBinding"] as const)
      expect(records[kind].length).toBeGreaterThan(1);
  });
  afterAll(() => service.close());

  const changed = (kind: keyof Contents["records"], change: (record: Json) => Json): Contents["records"] =>
    mapRecords(records, (own, list) =>
      own === kind ? list.map((one, i) => (i === 1 ? (change(one) as typeof one) : one)) : list,
    );
  const other = (kind: keyof Contents["records"], uid: unknown): string =>
    records[kind].find((one) => one.uid !== uid)?.uid as string;

  test("whatever their uids and the order of their lists", () => {
    const renumbered = JSON.parse(JSON.stringify(records).replaceAll(service.organization, "f".repeat(40)));
    expect(
      differencesBetween(
        records,
        mapRecords(renumbered, (_, own) => own.toReversed()),
      ),
    ).toEqual([]);
  });

  test.each<[string, keyof Contents["records"], (record: Json) => Json]>([
    ["the name of a group", "group", (one) => ({ ...one, name: "other" })],
    ["the description of an identity", "identity", (one) => ({ ...one, description: "other" })],
    ["what a role grants", "role", (one) => ({ ...one, capabilities: ["CAP_TAG_CREATE"] })],
    [
      "who has a role",
      "roleBinding",
      (one) => ({ ...one, identity: { uid: other("identity", (one.identity as Json).uid) } }),
    ],
    ["which role it is", "roleBinding", (one) => ({ ...one, role: { uid: "e".repeat(40) } })],
    [
      "where it is",
      "roleBinding",
      (one) => ({ ...one, uid: `${other("group", String(one.uid).slice(0, -17))}/${"a".repeat(16)}` }),
    ],
  ])("but not where one differs in %s", (_, kind, change) => {
    expect(differencesBetween(records, changed(kind, change))).not.toEqual([]);
  });
});
