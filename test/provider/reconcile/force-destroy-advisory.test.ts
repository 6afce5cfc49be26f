// forceDestroy of a group with records that no method deletes.
import { expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";

const { group } = kindRecords;

const SEED = `
organization: { name: acme }
groups:
  - { name: registry }
  - { name: below, parent: registry }
advisories:
  - group: registry/below
    advisoryId: CGA-xvgw-cvr7-9g2q
    author: ann@acme.example
    artifactName: nginx
    artifactType: apk
    artifactArchitecture: x86_64
    componentName: openssl
    componentLocation: ./.PKGINFO
    componentType: apk
    events:
      - { author: ann@acme.example, reviewState: REVIEW_STATE_APPROVED, fixed: { fixedVersion: 1.27.1-r0 } }
`;
const service = await startSharedService(SEED);

it("an advisory below is named and nothing is deleted, since the group would stay", async () => {
  const { call } = service.session;
  const groups = async () => (await call("ListGroups", {})).groups as unknown as Json[];
  const before = await groups();
  const registry = before.find(({ name }) => name === "registry") as Json;
  const { advisories } = await call("ListAdvisories", {});
  const [advisory] = advisories as unknown as Json[];
  const stored = { ...registry, forceDestroy: true };
  await expect(reconcile.remove(group, service.otherSession(), registry.uid as string, stored)).rejects.toThrow(
    "forceDestroy: no method deletes these advisories, so the group would stay; nothing was deleted:\n" +
      `  - advisory ${advisory?.uid}`,
  );
  expect(await groups()).toEqual(before);
  const deletes = service.requests.filter(({ method }) => method === "DELETE").map(({ url }) => url.pathname);
  expect(new Set(deletes)).toEqual(new Set([`/iam/v2beta1/groups/${registry.uid}`]));
});
