// proto3 JSON (docs/contract.md#json) of the scalars and maps of the registry and the advisories: bytes, durations, 64-bit
// integers and maps with such keys. Also rules of messages in lists and maps.
import { describe, expect, test } from "vitest";
import {
  AccountAssociation,
  AdvisoryEvent,
  GroupInvite,
  inputViolations,
  messageFromJson,
  messageToJson,
} from "../../schema/index.ts";

const apps = (appInstallations: unknown) => ({ github: { appInstallations } });

describe("reading", () => {
  test.each<[string, unknown, string]>([
    ["standard base64", "+/8=", "+/8="],
    ["base64url", "-_8=", "+/8="],
    ["base64 without padding", "e30", "e30="],
    ["nothing", "", ""],
  ])("reads bytes as %s, and writes them as standard base64", (_, findings, expected) => {
    expect(messageFromJson(AdvisoryEvent, { findings })).toEqual({ value: { findings: expected }, violations: [] });
  });

  test.each<[string, unknown]>([
    ["another alphabet", "a b"],
    ["padding in the middle", "a=b="],
    ["three of padding", "a==="],
    ["a number", 7],
    ["a list of numbers", [1, 2]],
  ])("refuses bytes in %s", (_, findings) => {
    expect(messageFromJson(AdvisoryEvent, { findings }).violations).toEqual([
      { field: "findings", description: "must be base64" },
    ]);
  });

  test.each(["0s", "3600s", "1.5s", "-0.000000001s", "315576000000s"])("accepts the duration %s", (ttl) => {
    expect(messageFromJson(GroupInvite, { ttl })).toEqual({ value: { ttl }, violations: [] });
  });

  test.each(["3600", "1h", "1.0000000001s", "s", "+1s", "1e3s", "315576000001s", 3600, { seconds: 1 }])(
    "refuses the duration %s",
    (ttl) => {
      expect(messageFromJson(GroupInvite, { ttl }).violations).toEqual([
        { field: "ttl", description: 'must be a duration such as "3600s"' },
      ]);
    },
  );

  test.each<[string, string]>([
    ["9007199254740993", "9007199254740993"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["007", "7"],
    ["-0", "0"],
  ])("reads the key %s of a map by 64-bit integers as %s", (given, key) => {
    const { value, violations } = messageFromJson(AccountAssociation, apps({ [given]: { installations: [] } }));
    expect({ value, violations }).toEqual({ value: apps({ [key]: { installations: [] } }), violations: [] });
  });

  test.each(["9223372036854775808", "-9223372036854775809", "1.5", "", "x", "0x7"])(
    "refuses the key %s of such a map, with its path",
    (key) => {
      const [violation] = messageFromJson(AccountAssociation, apps({ [key]: {} })).violations;
      expect(violation).toEqual({ field: `github.appInstallations.${key}`, description: "must be an integer" });
    },
  );

  test("reads the messages in a map in both spellings, and drops unknown fields", () => {
    const json = apps({ 7: { installations: [{ installation_id: 8, colour: "x" }], size: 1 } });
    expect(messageFromJson(AccountAssociation, json).value).toEqual(
      apps({ 7: { installations: [{ installationId: "8" }] } }),
    );
  });
});

describe("writing", () => {
  test("leaves out zeros in the messages of a map, and keeps an empty message", () => {
    const value = apps({ 7: { installations: [{ installationId: "8", name: "" }] }, 8: { installations: [] } });
    expect(messageToJson(AccountAssociation, value)).toEqual(
      apps({ 7: { installations: [{ installationId: "8" }] }, 8: {} }),
    );
  });

  test("keeps an empty message that is the member of a oneof", () => {
    const value = { reviewState: "REVIEW_STATE_PENDING", detection: { manual: {} } };
    expect(messageToJson(AdvisoryEvent, value)).toEqual(value);
  });
});

describe("the rules of a message", () => {
  test("apply in the messages of a map and of a list", () => {
    const github = { appInstallations: { 7: { installations: [{ installationId: "1" }, {}] } } };
    expect(inputViolations(AccountAssociation, { name: "a", github })).toEqual([
      { field: "github.appInstallations.7.installations[1].installationId", description: "is required" },
    ]);
  });

  test("about its oneofs apply below it", () => {
    const event = { author: "a", reviewState: "REVIEW_STATE_PENDING" };
    expect(inputViolations(AdvisoryEvent, { ...event, detection: {} })).toEqual([
      { field: "detection.nvdapi", description: "one of nvdapi, manual, scanv1 must be set" },
    ]);
    expect(inputViolations(AdvisoryEvent, event).map(({ field }) => field)).toEqual(["detection"]);
  });
});
