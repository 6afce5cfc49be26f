// The option replaceOnChanges, which the engine does not apply to dynamic resources: the diff does.
import { expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { diff } from "../../../provider/reconcile/index.ts";
import { REPLACE_ON } from "../../../provider/record/state.ts";
import { GROUP, IDENTITY, ORG, ROLE } from "../../support/scripted.ts";

const { identity, roleBinding } = kindRecords;

const claimMatch = { issuer: "https://a.example.com", subject: "old", claims: { team: "a" } };
const observed = { uid: IDENTITY, name: "ci", claimMatch };
const desired = { parent: GROUP, name: "other", claimMatch: { ...claimMatch, subject: "new" } };

it.each([
  ["a field that changes", ["name"], ["name"]],
  ["a member of a message that changes", ["claimMatch.subject"], ["claimMatch"]],
  ["the same in brackets", ['claimMatch["subject"]'], ["claimMatch"]],
  ["a message with a member that changes", ["claimMatch"], ["claimMatch"]],
  ["everything", ["*"], ["claimMatch", "name"]],
  ["a member that does not change", ["claimMatch.issuer", "claimMatch.subjectPattern", "names"], []],
  ["nothing", undefined, []],
])("%s replaces the record", (_what, option, replaces) => {
  const news = { ...desired, ...(option && { [REPLACE_ON]: option }) };
  expect(diff(identity, IDENTITY, observed, news)).toEqual({ changes: true, replaces });
});

it("an unchanged record stays", () => {
  const news = { ...observed, uid: undefined, parent: GROUP, [REPLACE_ON]: ["*"] };
  expect(diff(identity, IDENTITY, observed, news)).toEqual({ changes: false, replaces: [] });
});

it("a reference has the name of the program's argument", () => {
  const olds = { uid: `${ORG}/1111111111111111`, identityUid: IDENTITY, roleUid: ROLE };
  const news = { parent: ORG, identityUid: IDENTITY, roleUid: `${ORG}/2222222222222222`, [REPLACE_ON]: ["role"] };
  expect(diff(roleBinding, olds.uid, olds, news)).toEqual({ changes: true, replaces: ["role"] });
});
