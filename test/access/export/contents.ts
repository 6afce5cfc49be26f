// What an export has read of an organization.
import { hash } from "node:crypto";
import { type Export, exportOf } from "../../../access/export/model.ts";
import { type Contents, type ExportKind, KINDS } from "../../../access/export/read.ts";

export const ORG = "a".repeat(40);
export const [VIEWER, EDITOR] = ["viewer", "editor"].map((name) => hash("sha1", name)) as [string, string];

export type Given = Partial<Record<ExportKind, readonly { uid: string; [field: string]: unknown }[]>>;

/** `acme`, with these records and two built-in roles. */
export const contentsOf = (given: Given, builtIn: [uid: string, name: string][] = []): Contents => {
  const group = [{ uid: ORG, name: "acme" }, ...(given.group ?? [])];
  return {
    top: ORG,
    groupNames: new Map(group.map(({ uid, name }) => [uid, String(name)])),
    builtInRoles: new Map([[VIEWER, "viewer"], [EDITOR, "editor"], ...builtIn]),
    records: Object.fromEntries(KINDS.map((kind) => [kind, kind === "group" ? group : (given[kind] ?? [])])) as never,
    notVisible: [],
  };
};

export const exportedFrom = (contents: Contents): Export => exportOf(contents, { isAdopted: true, nowMs: 0 });
