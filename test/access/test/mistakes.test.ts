// Mistakes of a test of access are those of its policy.
import { expect, test } from "vitest";
import { parsePolicy } from "../../../access/policy/parse.ts";

const mistakesOf = (...tests: object[]): string[] =>
  parsePolicy({ organization: "acme", tests: tests.map((own) => ({ name: "it", ...own })) }).mistakes.map(
    ({ path, text }) => `${path}: ${text}`,
  );
const [a, cannot] = [{ identity: "a" }, "*"];

test.each<[own: object, mistake: string]>([
  [{ ...a, can: "tag.craete" }, ".can: there is no capability tag.craete; did you mean tag.create"],
  [{ ...a, cannot: ["*.craete"] }, ".cannot[0]: no capability matches *.craete; did you mean *.create?"],
  [a, ": tests nothing: give can, cannot or both"],
  [{ can: "tag.create" }, ": does not say whom it tests: give identity, workload, or capability with only"],
  [{ capability: "tag.create" }, ": needs only: a list of the identities that may have the capability"],
  [{ capability: [], only: [] }, ".capability: must have at least one capability"],
  [
    { ...a, capability: "tag.create", only: [] },
    ".identity: only one of capability, identity and workload may be given",
  ],
  [{ ...a, only: ["b"], can: "tag.create" }, ".only: needs capability: it lists the identities that may have it"],
  [{ capability: "tag.create", only: [], can: "tag.list" }, ".can: belongs to identity or workload"],
  [{ workload: { githb: {} }, cannot }, ".workload.githb: there is no such workload; did you mean github?"],
  [
    { workload: { github: { repo: "a/b" } }, cannot },
    ".workload.github.repo: unknown argument; did you mean repository?",
  ],
  [{ workload: {}, cannot }, ".workload: names no workload that can assume it"],
  [{ workload: "github", cannot }, ".workload: must be a map, such as { github:"],
  [{ ...a, cannot: { capabilty: "*" } }, ".cannot.capabilty: there is no such field here; did you mean capability?"],
  [{ ...a, cannot: [] }, ".cannot: is empty: name what must not be possible"],
  [{ ...a, cannot: { capability: "*", at: 7 } }, ".cannot.at: must be the path of a group"],
  [{ ...a, cann: "*" }, ".cann: there is no such field here; did you mean can?"],
  [{ ...a, name: " ", can: "*" }, ".name: needs a name"],
  [
    { ...a, can: ["tag.create"], ever: true },
    ".ever: is about what must never be possible: give cannot, or capability with only",
  ],
  [{ ...a, cannot: ["tag.create"], ever: "yes" }, ".ever: must be"],
])("%j", (own, mistake) => {
  expect(mistakesOf(own).join("\n")).toContain(`tests[0]${mistake}`);
});

test("and two tests of one name", () => {
  const one = { ...a, can: "*" };
  expect(mistakesOf(one, one)).toEqual(["tests[1].name: tests[0] has this name already; give another"]);
});
