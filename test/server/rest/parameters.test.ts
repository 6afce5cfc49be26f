// Parameters of a query and of a form (docs/contract.md#parameters): a field that is not a list appears once, in any spelling
// and place. So a proxy between client and server reads the same value as the server.
import { expect, test } from "vitest";
import { serve } from "../../harness/api-server.ts";
import { expectInvalid } from "../../support/refusal.ts";

const api = await serve();

const post = async (query: string, form: string) =>
  api.call("POST", `/sts/exchange?aud=${encodeURIComponent(api.baseUrl)}${query.replace("?", "&")}`, {
    token: await api.identityToken("owner"),
    body: form,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });

test.each([
  ["twice in the query", (own: string) => [`?identity=${own}&identity=${own}`, ""], "identity"],
  ["twice in the form", (own: string) => ["", `identity=${own}&identity=${own}`], "identity"],
  ["in the query and in the form", (own: string) => [`?identity=${own}`, "identity=another"], "identity"],
  [
    "in two spellings",
    (own: string) => ["", `identity=${own}&identityProvider=a&identity_provider=`],
    "identityProvider",
  ],
  ["in two spellings, one each", () => ["?identityProvider=", "identity_provider=a"], "identityProvider"],
] as const)("a field %s is refused", async (_, request, field) => {
  const [query = "", form = ""] = request(api.identity);
  expectInvalid(await post(query, form), { [field]: "must be given once" });
});

test("a list may appear in both, and is the union", async () => {
  const answer = await post(`?identity=${api.identity}&cap=groups.list`, "cap=groups.create");
  const { cap } = JSON.parse(Buffer.from(answer.json.token.split(".")[1], "base64url").toString());
  const alone = await post(`?identity=${api.identity}`, "cap=groups.create&cap=groups.list");
  expect(cap).toEqual(JSON.parse(Buffer.from(alone.json.token.split(".")[1], "base64url").toString()).cap);
  expect(Object.keys(cap)).toEqual([api.organization]);
});
