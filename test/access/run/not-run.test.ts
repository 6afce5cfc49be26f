// Steps that a run leaves out, since they need a value of another provider: what may stand behind each.
import { expect, test } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { unknownOf } from "../../../access/run/not-run.ts";
import { parsePreview } from "../../../pulumi/preview.ts";
import type { Json } from "../../../schema/index.ts";
import { addRole, ROOT, uidIn } from "../graphs.ts";

const CI = uidIn(ROOT, 2);
const graph = newGraph();
const viewer = addRole(graph, "viewer", ["repo.list"]);
const WHY = "it waits for bucket, which another provider changes";

const hiddenBy = (type: string, inputs: Json, { op = "create", id = "" } = {}) => {
  const token = type.includes(":") ? type : `irm:index:${type}`;
  const urn = `urn:pulumi:dev::acme::${token}::one`;
  const state = { urn, type: token, inputs };
  const step = { op, urn, newState: state, ...(id && { oldState: { ...state, id } }) };
  const { steps } = parsePreview(JSON.stringify({ steps: [step] }), "test");
  const found = unknownOf({ urn, op, why: WHY }, steps, graph);
  for (const { subject, message } of found)
    expect([subject, message]).toEqual(["one", expect.stringMatching(/^[a-z ]+ one: it waits for bucket/)]);
  return found.map(({ hides }) => hides);
};

const [inRoot, at, matched] = [{ parent: ROOT }, { group: ROOT }, { parent: ROOT, adopt: "match" }];

test.each<[string, Json, unknown[]]>([
  ["RoleBinding", { ...inRoot, identity: CI, role: "viewer" }, [{ of: "binding", identity: CI, role: viewer, ...at }]],
  ["RoleBinding", { parent: ROOT, role: "two of a name" }, [{ of: "binding", group: ROOT }]],
  ["RoleBindingSet", { parent: ROOT }, [{ of: "bindings", group: ROOT }]],
  ["RoleBindingSet", {}, [{ of: "bindings" }]],
  ["IdentityProvider", { parent: ROOT }, [{ of: "people", group: ROOT }, { of: "issuer" }]],
  ["GroupInvite", { parent: ROOT }, [{ of: "people", group: ROOT }]],
  ["ExternalGroupRoleMapping", {}, [{ of: "people" }]],
  ["Identity", { adopt: "not known" }, [{ of: "takeover", kind: "identity", inputs: { adopt: "not known" } }]],
  ["Group", matched, [{ of: "takeover", kind: "group", inputs: matched }]],
  ["Group", { parent: ROOT }, [undefined]],
  ["other:index:Thing", {}, [undefined]],
])("%s %j", (type, inputs, hidden) => {
  expect(hiddenBy(type, inputs)).toEqual(hidden);
});

test("a record that exists is named, and a deletion gives nothing", () => {
  expect(hiddenBy("Identity", {}, { op: "update", id: CI })).toEqual([{ of: "assumable", identity: CI }]);
  expect(hiddenBy("Role", {}, { op: "update", id: viewer })).toEqual([{ of: "capabilities", role: viewer }]);
  expect(hiddenBy("RoleBinding", {}, { op: "delete", id: CI })).toEqual([undefined]);
});
