// A resource of each kind that faults are tried on, with its parent and references, in one program.
import { type KindName, kindRecords } from "../../provider/kind/index.ts";
import type { Json, OperationName } from "../../schema/index.ts";
import { type Declared, type Program, ref } from "../harness/small-engine/program.ts";

export type Action = "create" | "update" | "delete" | "replace";

/** The kinds that faults are tried on. */
export type SubjectKind = Extract<KindName, "group" | "identity" | "role" | "roleBinding" | "groupInvite" | "tag">;

export interface Subject {
  kind: SubjectKind;
  /** the program before the action, and with it */
  before: Program;
  after: Program;
  /** the request of the action */
  operation: OperationName;
  list: OperationName;
  /** the method of that request */
  method: "POST" | "PATCH" | "DELETE";
}

const claims = (subject: string): Json => ({ issuer: "https://issuer.example.com", subject });

const group = (name: string, parent: unknown, further: Json = {}): Declared => ({
  name,
  kind: "group",
  inputs: { parent, name, ...further },
});

/** The dependencies of the subjects: created before the fault. */
const surroundings = (kind: SubjectKind, home: string): Program => [
  group("team", home),
  group("other-team", home),
  ...(kind === "roleBinding"
    ? [
        identity("who", home, "who"),
        role("what", home, ["CAP_IAM_GROUPS_LIST"]),
        role("what-else", home, ["CAP_IAM_ROLES_LIST"]),
      ]
    : []),
  ...(kind === "tag" ? [repo("team-repo", ref("team")), repo("other-team-repo", ref("other-team"))] : []),
];

const repo = (name: string, parent: unknown): Declared => ({ name, kind: "repo", inputs: { parent, name } });

const identity = (name: string, parent: unknown, subject: string, further: Json = {}): Declared => ({
  name,
  kind: "identity",
  inputs: { parent, name, claimMatch: claims(subject), ...further },
});

const role = (name: string, parent: unknown, capabilities: string[], further: Json = {}): Declared => ({
  name,
  kind: "role",
  inputs: { parent, name, capabilities, ...further },
});

const subjects: Record<SubjectKind, (parent: string, changed: boolean, further: Json) => Declared> = {
  group: (parent, changed, further) =>
    group("subject", ref(parent), { description: changed ? "changed" : "first", ...further }),
  identity: (parent, changed, further) =>
    identity("subject", ref(parent), changed ? "changed" : "first", { description: "d", ...further }),
  role: (parent, changed, further) =>
    role("subject", ref(parent), changed ? ["CAP_IAM_GROUPS_LIST"] : ["CAP_IAM_ROLES_LIST"], further),
  roleBinding: (parent, changed) => ({
    name: "subject",
    kind: "roleBinding",
    inputs: {
      parent: ref(parent),
      identity: ref("who"),
      role: ref(changed ? "what-else" : "what"),
    },
  }),
  groupInvite: (parent, changed) => ({
    name: "subject",
    kind: "groupInvite",
    inputs: { parent: ref(parent), role: "viewer", ttl: changed ? "7200s" : "3600s" },
  }),
  tag: (parent, changed) => ({
    name: "subject",
    kind: "tag",
    inputs: { parent: ref(`${parent}-repo`), name: "subject", digest: `sha256:${(changed ? "b" : "a").repeat(64)}` },
  }),
};

/** A set of two pairs; a change replaces one of them, adds another, and so sends a batch. */
export const setSubject = (action: Exclude<Action, "replace">, home: string): Subject => {
  const base = surroundings("roleBinding", home);
  const pair = (uid: unknown) => ({ identity: ref("who"), role: uid });
  const roles = (names: readonly string[]) => names.map((name) => pair(name === "viewer" ? name : ref(name)));
  const of = (names: readonly string[]): Program => [
    ...base,
    { name: "subject", kind: "roleBindingSet", inputs: { parent: ref("team"), bindings: roles(names) } },
  ];
  const first = of(["what", "what-else"]);
  const changed = of(["what", "viewer", "third"]);
  const third = role("third", home, ["CAP_IAM_GROUPS_LIST"]);
  const common = { kind: "roleBinding", list: "ListRoleBindings" } as const;
  const batch = { ...common, operation: "BatchCreateRoleBindings", method: "POST" } as const;
  if (action === "create") return { ...batch, before: base, after: first };
  if (action === "update") return { ...batch, before: [third, ...first], after: [third, ...changed] };
  return { ...common, operation: "DeleteRoleBinding", method: "DELETE", before: first, after: base };
};

const METHOD = { create: "POST", update: "PATCH", delete: "DELETE", replace: "POST" } as const;

export const subjectOf = (kind: SubjectKind, action: Action, home: string): Subject => {
  const base = surroundings(kind, home);
  const further = action === "replace" && kind !== "roleBinding" ? { allowReplace: true } : {};
  const of = (parent: string, changed: boolean) => [...base, subjects[kind](parent, changed, further)];
  const { operations, list } = kindRecords[kind];
  const common = {
    kind,
    operation: operations[action === "replace" ? "create" : action] as OperationName,
    list: list.operation,
    method: METHOD[action],
  };
  switch (action) {
    case "create":
      return { ...common, before: base, after: of("team", false) };
    case "update":
      return { ...common, before: of("team", false), after: of("team", true) };
    case "delete":
      return { ...common, before: of("team", false), after: base };
    case "replace":
      return { ...common, before: of("team", false), after: of("other-team", false) };
  }
};
