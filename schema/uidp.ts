// The uid of a record: 40 hexadecimal digits, then a segment of 16 for each level below (docs/internals/contract.md#uids). It begins
// with the uid of its parent, so the uid alone shows the hierarchy.
import { matching } from "./text.ts";

/** Most levels of groups below an organization: `ancestorsOf` is quadratic in the levels. */
export const GROUP_LEVELS_MAX = 100;

// The lowest group may hold a repo, and the repo a tag.
const UIDP = new RegExp(`^[0-9a-f]{40}(?:\\/[0-9a-f]{16}){0,${GROUP_LEVELS_MAX + 2}}$`);

export const UIDP_TEXT = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";

export const uidp = matching(UIDP, UIDP_TEXT).meta({
  example: "3f0c9a1be27d4856a0c1d2e3f405162738495a6b/9b1deb4d3b7d4bad",
});

export const isUidp = (value: unknown): value is string => typeof value === "string" && UIDP.test(value);

/** uid of the record one level up; the empty string for a root record. */
export const parentOf = (uid: string): string => uid.slice(0, Math.max(0, uid.lastIndexOf("/")));

/** uid of the organization: the first segment. */
export const rootOf = (uid: string): string => uid.split("/", 1)[0] as string;

export const isRoot = (uid: string): boolean => !uid.includes("/");

/** How many levels below its organization a record is. */
export const levelOf = (uid: string): number => uid.split("/").length - 1;

/** Whether `ancestor` is above `uid`, and not `uid` itself (docs/internals/contract.md#uids). */
export const isAncestor = (ancestor: string, uid: string): boolean => uid.startsWith(`${ancestor}/`);

export const isAncestorOrSelf = (ancestor: string, uid: string): boolean =>
  ancestor === uid || isAncestor(ancestor, uid);

/** Every uid above `uid`, the root first. */
export const ancestorsOf = (uid: string): string[] => {
  const segments = uid.split("/");
  return segments.slice(1).map((_, i) => segments.slice(0, i + 1).join("/"));
};
