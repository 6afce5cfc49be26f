import { createUid } from "../../harness/records.ts";
import { type Cases, creates, deletes, type Fixture, gets } from "../fixture.ts";
import { repo } from "./repo.ts";

const DIGEST = `sha256:${"b".repeat(64)}`;

const tag = async (fixture: Fixture): Promise<string> =>
  createUid(fixture.api, "tags", await repo(fixture), { name: "t", digest: DIGEST });

export const cases = {
  GetTag: gets("tag", () => ({ name: "latest" })),
  ListTags: {
    request: ({ repo: uid }) => ({
      uidp: { childrenOf: uid },
      updatedSince: "2026-01-01T00:00:00.000Z",
      includeReferrers: true,
      includeDates: true,
      includeEpochs: true,
      digest: `sha256:${"a".repeat(64)}`,
      pageSize: 1,
      orderBy: "name desc",
      skip: 1,
    }),
    answer: () => ({ tags: [{ name: "latest-r1" }], totalCount: "4", skipped: 1 }),
  },
  CreateTag: creates("tag", () => ({ name: "new", digest: DIGEST, deprecated: true, bundles: ["fips"] }), repo),
  DeleteTag: deletes(tag),
} satisfies Cases;
