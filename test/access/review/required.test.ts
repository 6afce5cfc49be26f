// What a file of rules requires of an organization after the change.
import { describe, expect, test } from "vitest";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { Required } from "../../../access/review/rules-file.ts";
import { addGroup, addIdentity, addRole, bind, changed, graphOf, ROOT, roleUid, uid } from "../graphs.ts";
import { type Change, findingsOf, give, review } from "./rules.ts";

const [TEAM, BOSS, APPLY, OWNER] = [uid("team"), uid("boss"), uid("team/apply"), roleUid("owner")];
const CLAIMS = { issuer: "https://a.example.com", subject: "x" };

/** Two owners. */
const start = (): GraphBuilder =>
  graphOf({
    groups: ["team"],
    roles: { owner: ["role_bindings.create"] },
    identities: { boss: CLAIMS, "team/apply": CLAIMS },
    access: { "/": { owner: ["boss", "team/apply"] } },
  });
const unbind: Change = (graph) => graph.bindings.delete(`${ROOT}/b ${APPLY} ${OWNER}`);
const own = (id: string, identity: string) => ({ id, uid: null, group: ROOT, identity, role: OWNER });

const found = (required: Required, change: Change = () => {}, before = start(), isHidden = false): string[] => {
  const { report } = review(before, change, { required, hidden: isHidden ? [["roleBinding", ROOT]] : [] });
  return findingsOf(report, "required-owners", "may-own").map(
    ({ rule, subject, message, denied }) => `${denied ? "denied " : ""}${rule} ${subject}: ${message}`,
  );
};

describe("owners", () => {
  const few = `denied required-owners ${ROOT}: 1 identity has the role owner on acme itself after this change; 2 must`;

  test.each<[what: string, change: Change, before: GraphBuilder, expected: string[]]>([
    ["is kept, whatever else changes", () => {}, start(), []],
    ["is broken where fewer are left, and fails the review although no rule is denied", unbind, start(), [few]],
    [
      "counts an owner of the organization itself alone, and each identity once",
      (graph) => {
        unbind(graph);
        give("owner", TEAM, APPLY)(graph);
        graph.bindings.set("twice", own("twice", BOSS));
      },
      start(),
      [few],
    ],
    [
      "does not count a custom role that is called owner, nor an identity that is gone",
      (graph) => {
        unbind(graph);
        bind(graph, ROOT, APPLY, addRole(graph, "owner", ["role_bindings.create"], ROOT));
        graph.bindings.set("gone", own("gone", uid("gone")));
      },
      start(),
      [few],
    ],
    ["holds for a state that the change did not make", () => {}, changed(start(), unbind), [few]],
  ])("%s", (_, change, before, expected) => {
    expect(found({ owners: 2 }, change, before)).toEqual(expected);
  });

  test("is not taken for kept where the bindings cannot be listed", () => {
    expect(found({ owners: 2 }, unbind, start(), true)).toEqual([
      `${few}; you cannot list its role bindings, so there may be others`,
    ]);
  });
});

describe("may-own", () => {
  const createIn =
    (group: string, id: string, name: string, organization: string): Change =>
    (graph) => {
      addIdentity(graph, id, name, group, CLAIMS);
      bind(graph, organization, id, OWNER);
    };
  const replaceApply: Change = (graph) => {
    unbind(graph);
    createIn(TEAM, "urn:next", "next", ROOT)(graph);
  };
  const organization: Change = (graph) => {
    addGroup(graph, "urn:org", "new", null);
    createIn("urn:org", "urn:first", "first", "urn:org")(graph);
  };

  test.each<[what: string, required: Required, change: Change, expected: string[]]>([
    ["is kept by identities by uid and by path", { mayOwn: [BOSS, "team/apply"] }, () => {}, []],
    ["is kept by a path in the organization itself", { mayOwn: ["/boss", "team/apply"] }, () => {}, []],
    [
      "names each owner that it does not list, also one that was there",
      { mayOwn: ["/boss"] },
      () => {},
      [`denied may-own ${APPLY}: has the role owner on acme itself, and may-own does not list it`],
    ],
    [
      "names a new identity, also at a path that it lists",
      { mayOwn: ["/boss", "team/next"] },
      replaceApply,
      [
        "denied may-own next: gets the role owner on acme itself, and may-own does not list it; this identity is new, so no path of may-own names it yet",
      ],
    ],
    ["takes paths of a new organization, in which nothing exists", { owners: 1, mayOwn: ["/first"] }, organization, []],
    [
      "takes no other paths there",
      { mayOwn: ["/boss"] },
      organization,
      [
        "denied may-own first: gets the role owner on new itself, and may-own does not list it; this identity is new, so no path of may-own names it yet",
      ],
    ],
  ])("%s", (_, required, change, expected) => {
    expect(found(required, change)).toEqual(expected);
  });

  test("is not taken for kept where the bindings cannot be listed", () => {
    expect(found({ mayOwn: [BOSS, APPLY] }, undefined, start(), true)).toEqual([
      `denied may-own ${ROOT}: who has the role owner on acme is not visible: you cannot list its role bindings`,
    ]);
  });
});
