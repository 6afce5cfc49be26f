// The file of a change: what is written is read, and a bad file is refused in one sentence.
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../access/canonical.ts";
import {
  BYTES_MAX,
  type ChangeContent,
  ChangeError,
  changeText,
  lifeFrom,
  parseChange,
  unusableText,
  WRITES_MAX,
} from "../../../access/change/change.ts";
import { changeRows, rowsApart } from "../../../access/change/rows.ts";
import type { Write } from "../../../access/change/write.ts";

const ORG = "a".repeat(40);
const BOT = `${ORG}/${"2".repeat(16)}`;
const [SERVICE, EVIL] = ["https://irm.example.com", "https://evil.example"];
const NOW = Date.parse("2026-11-28T00:00:00Z");

const create: Write = { n: 1, method: "CreateGroup", parent: ORG, fields: { name: "team" } };
const bind: Write = {
  ...{ n: 2, method: "CreateRoleBinding", parent: { $uid: 1 } },
  fields: { identityUid: BOT, roleUid: "b".repeat(40) },
};
const content: ChangeContent = {
  ...{ version: 1, operation: "up", arguments: [], stack: "access/production", services: [SERVICE], commit: "c0ffee" },
  ...{ ...lifeFrom(NOW), as: BOT, writes: [create, bind] },
  rows: [{ change: "gain", identity: BOT, group: { $uid: 1 }, capability: "repo.list" }],
  ...{ between: [], before: [], after: [{ identity: BOT, access: null }], restored: [] },
};

/** As a forger writes it: with the digest of what it says. */
const forged = (change: object): string => {
  const own = { ...content, ...change };
  return JSON.stringify({ ...own, digest: digestOf(own) });
};
const parsed = (text: string) => parseChange(text, "change.json");
const ADVICE = "; npx pulumi-irm review --out FILE makes a change";

describe("the file of a change", () => {
  test("is read as it was written, and its digest does not depend on how it is spelled", () => {
    const change = parsed(changeText(content));
    expect(change).toEqual({ ...content, digest: digestOf(content) });
    const [{ digest }, reversed] = [change, Object.fromEntries(Object.entries(change).toReversed())];
    expect(parsed(JSON.stringify(reversed)).digest).toBe(digest);
    expect(change.expires).toBe("2026-12-05T00:00:00.000Z");
  });

  const INVALID = "is not a change: ";
  const nested = "[".repeat(33) + "]".repeat(33);
  const bound = (more: object) => ({ n: 1, method: "UpdateGroup", uid: ORG, fields: {}, ...more });
  const accessOf = (one: object) => ({ after: [{ identity: BOT, access: null, ...one }] });
  const shape = "must be a text, { ";

  const expectRefused = (text: string, problem: string): void => {
    let message = "";
    try {
      parsed(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ChangeError);
      ({ message } = error as ChangeError);
    }
    expect(message).toContain(`change.json ${problem}`);
    expect(message.endsWith(ADVICE)).toBe(true);
    expect(message).not.toContain("s3cret");
    expect(message.length).toBeLessThan(400);
  };

  const version = "is a change of version 2, and this version of pulumi-irm reads version 1";
  test.each<[what: string, text: string, problem: string]>([
    ["another file", "{}", "is not a change"],
    ["no JSON, and shows none of it", '{"token": s3cret', "is not JSON"],
    ["a newer version", forged({ version: 2 }), version],
    [
      "a forged digest",
      changeText(content).replace('"team"', '"evil"'),
      "was changed after it was written: its content",
    ],
    ["more than the bytes of a file", " ".repeat(BYTES_MAX + 1), `has more than ${BYTES_MAX} bytes`],
    ["a depth that no change has", `{"writes":${nested}}`, "has more than 32 objects and lists in each other"],
    [
      "too many writes",
      forged({ writes: new Array(WRITES_MAX + 1).fill(0) }),
      "has 10001 writes, and at most 10000 are read",
    ],
  ])("is refused with %s", (_, text, problem) => expectRefused(text, problem));

  test.each<[what: string, change: object, problem: string]>([
    ["a member that no change has", { more: 1 }, 'Unrecognized key: "more"'],
    ["a time of another zone", { expires: "tomorrow" }, "expires: must be an RFC 3339 time in UTC"],
    ["a revoke with a create", { operation: "revoke" }, "write 1: a revoke creates nothing"],
    ["numbers in another order", { writes: [bind, create] }, "write 1 has the number 2"],
    ["a row of no write", { rows: [{ ...content.rows[0], group: { $uid: 3 } }] }, "rows.0.group: refers to write 3"],
    [
      "the access of an identity of no write",
      accessOf({ identity: { $uid: 3 } }),
      "after.0.identity: refers to write 3",
    ],
    ["the access at another service", accessOf({ service: EVIL }), `after.0: "${EVIL}" is none of its services`],
    ["a restored record of no write", { restored: [{ n: 3, uid: BOT }] }, "restored.0: there is no write 3"],
  ])("is refused with %s", (_, change, problem) => expectRefused(forged(change), INVALID + problem));

  /** `bind` is the second write. */
  test.each<[what: string, first: object, problem: string]>([
    [
      "an unknown method",
      { ...create, method: "CreateGruop" },
      'unknown method "CreateGruop"; did you mean CreateGroup?',
    ],
    ["a method that reads", { ...create, method: "ListGroups" }, 'unknown method "ListGroups"'],
    [
      "a reference forward",
      { ...create, parent: { $uid: 2 } },
      "parent: refers to write 2, which does not come before it",
    ],
    [
      "a reference to itself",
      { ...create, parent: { $uid: 1 } },
      "parent: refers to write 1, which does not come before",
    ],
    ["a service that it does not name", { ...create, service: EVIL }, `"${EVIL}" is none of its services`],
    ["a field that the record has not", { ...create, fields: { nam: "x" } }, "nam: there is no such field"],
    ["a field that the service sets", { ...create, fields: { uid: ORG } }, "uid: there is no such field"],
    ["an object for a text", { ...create, fields: { name: { $uid: "1" } } }, `name: ${shape}`],
    ["a long name, which is cut", { ...create, fields: { ["x".repeat(100_000)]: "" } }, "xxx"],
    ["a text in a text", { ...create, fields: { name: { $text: [{ $text: ["a"] }] } } }, `name: ${shape}`],
    ["a parent that is no uid", { ...create, parent: "team" }, "parent: must be a uid"],
    ["a binding without a parent", { ...bind, n: 1, parent: undefined }, "CreateRoleBinding needs parent"],
    ["an update without a mask", bound({}), "UpdateGroup needs mask"],
    ["a path of a mask that is no field", bound({ mask: ["*"] }), 'mask: there is no field "*"'],
    [
      "a delete that sets something",
      bound({ method: "DeleteGroup", fields: { name: "x" } }),
      "DeleteGroup takes no fields",
    ],
  ])("is refused with %s", (_, first, problem) =>
    expectRefused(forged({ writes: [first, bind] }), `${INVALID}write 1: ${problem}`),
  );

  test.each<[what: string, writes: object[], problem: string]>([
    ["a reference to a delete", [bound({ method: "DeleteGroup" }), bind], "refers to write 1, which makes no uid"],
    ["two of ours in one", [create, { ...bind, parent: { $uid: 1, $secret: true } }], shape],
  ])("is refused with %s", (_, writes, problem) =>
    expectRefused(forged({ writes }), `${INVALID}write 2: parent: ${problem}`),
  );

  test("may be as large as the limit, in reasonable time, and hostile texts cost no more", () => {
    const half = BYTES_MAX / 2;
    for (const text of [`"${'\\"'.repeat(half - 1)}`, '"'.repeat(half)])
      expect(() => parsed(text)).toThrow("is not JSON");
    const many = Array.from({ length: WRITES_MAX }, (_, i): Write => ({ ...create, n: i + 1 }));
    expect(parsed(changeText({ ...content, writes: many })).writes).toHaveLength(WRITES_MAX);
    expect(() => changeText({ ...content, writes: [...many, create] })).toThrow(
      "the change has 10001 writes, and a file holds 10000",
    );
    const large = { ...create, fields: { name: "x".repeat(BYTES_MAX) } };
    expect(() => changeText({ ...content, writes: [large] })).toThrow("and a file holds 16777216");
  });

  test("is for its services, until it expires", () => {
    const textOf = (given: string[], nowMs: number) =>
      unusableText(parsed(changeText(content)), { file: "change.json", given, nowMs });
    expect(textOf([SERVICE], NOW)).toBeUndefined();
    expect(textOf(["https://other.example"], NOW)).toBe(
      `change.json is a change for ${SERVICE}, and this is https://other.example`,
    );
    expect(textOf([SERVICE], NOW + 8 * 86_400_000)).toBe(
      "change.json expired at 2026-12-05T00:00:00.000Z; make the change again",
    );
  });
});

test("rows are compared, whatever their order, and each that differs is named", () => {
  const held = (capability: string) => ({ identity: BOT, group: ORG, capability });
  const rowsOf = (...gains: string[]) => changeRows({ gains: gains.map(held), losses: [held("z")] }, (uid) => uid);
  expect(rowsApart(rowsOf("a", "b"), rowsOf("b", "a"))).toEqual([]);
  expect(rowsApart(rowsOf("a", "b"), rowsOf("b", "c")).map(({ row, message }) => [row.capability, message])).toEqual([
    ["c", "the file does not have it"],
    ["a", "only the file has it"],
  ]);
});
