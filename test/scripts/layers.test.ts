// The table of layers: a wrong import of each kind is found. `npm run check` runs it over the whole clone.
import { expect, test } from "vitest";
import { layerProblems } from "../../scripts/layers.ts";

test.each<[file: string, imported: string, imports: string]>([
  ["schema/address.ts", "client/config.ts", "schema/ imports only itself"],
  ["client/retry.ts", "access/text.ts", "client/ imports only schema"],
  [
    "access/graph/group.ts",
    "access/review/report.ts",
    "access/graph/ imports only schema, client, pulumi, access/*, access/change, access/pattern, access/preset, access/workload",
  ],
  ["access/change/write.ts", "access/graph/group.ts", "access/change/ imports only schema, access/*"],
  ["server/index.ts", "client/client.ts", "server/ imports only schema"],
  [
    "server/caller/caller.ts",
    "server/sts/exchange.ts",
    "server/caller/ imports only schema, server/base, server/store, server/sts/index.ts",
  ],
  [
    "cli/main.ts",
    "test/support/irm.ts",
    "cli/ imports only schema, client, pulumi, access, gate, ci, provider, server, plugin",
  ],
])("%s does not import %s", (file, imported, imports) => {
  expect(layerProblems(file, [imported])).toEqual([`${file}: imports ${imported}, and ${imports}`]);
});

test.each([
  ["server/caller/caller.ts", "server/sts/index.ts"],
  ["access/change/write.ts", "access/canonical.ts"],
])("%s imports %s", (file, imported) => expect(layerProblems(file, [imported])).toEqual([]));

test("a room without a row is named", () => {
  expect(layerProblems("attic/box.ts", [])).toEqual(["attic/box.ts: attic/ has no row in scripts/layers.ts"]);
});
