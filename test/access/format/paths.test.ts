// Paths that a change opens and closes, in each format of a review.
import { expect, test } from "vitest";
import { pathGraph } from "../../../access/format/document/html.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import type { GraphBuilder, IdentityNode } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import { proposalBetween } from "../graphs.ts";
import { CI, grant, HELPER, MIRROR, PARTNER, partners } from "../paths/graph.ts";
import { asText, inEveryFormat } from "./reviews.ts";

const ATTACK = "helper </svg><script>alert(1)</script>";

const OPTIONS = { deny: [], allow: [], notVisible: [], nowMs: 0, service: "https://irm.example" };
const reviewed = (before: GraphBuilder, after: GraphBuilder) => reviewOf(proposalBetween(before, after), OPTIONS);

const rename = ({ identities }: GraphBuilder, id: string, name: string) =>
  identities.set(id, { ...(identities.get(id) as IdentityNode), name });

const leading = (name = ATTACK): GraphBuilder => {
  const graph = partners();
  rename(graph, HELPER, name);
  grant(graph, HELPER, PARTNER, "identity.update");
  return graph;
};

const [opens, closes] = [reviewed(partners(), leading()), reviewed(leading(), partners())];
const request = `PATCH /iam/v2beta1/identities/${MIRROR}?updateMask=claimMatch`;

test("a path that opens or closes is in every format, and one that opens in the headline and with its requests", () => {
  const [text, markdown] = inEveryFormat(opens);
  expect(text.split("\n")[0]).toContain("1 path to more access opens");
  for (const shown of [text, markdown]) {
    expect(shown).toContain("Opens: paths to more access, by requests that were not possible before");
    expect(shown).toContain(request);
    expect(shown).toContain("the workload assumes identity mirror");
  }
  expect(opens.report.opens).toMatchObject([{ assumes: "strict", from: { identity: HELPER, name: ATTACK } }]);
  expect(opens.report.closes).toEqual([]);
  expect(closes.report).toMatchObject({ opens: [], closes: [{ assumes: "strict" }] });
  for (const shown of inEveryFormat(closes)) expect(shown).toContain("Closes: paths to more access that end");
});

test.each([2, 21])("a path has one blank line between it and the next, of %i", (count) => {
  const many = Array.from({ length: count }, () => opens.report.opens).flat();
  const text = asText({ ...opens.report, opens: many, closes: many });
  expect(text.match(/(?<=\n\n|\n(Opens|Closes): .*\n).* could come to hold {2}/g)).toHaveLength(
    2 * Math.min(count, 20),
  );
  expect(text).not.toContain("\n\n\n");
});

test("a path is a graph on the page, without a script, and names cannot add to it", () => {
  const page = reviewAsHtml(opens);
  const [graph = ""] = /<svg.*?<\/svg>/s.exec(page) ?? [];
  expect(graph).toMatch(
    /^<svg class="path strict" viewBox="0 0 340 \d+" width="340" height="\d+" role="img" aria-label="1 /,
  );
  expect(graph.match(/<rect /g)).toHaveLength(4);
  expect(graph).toContain("helper &lt;/svg&gt;");
  expect(graph).not.toContain("<script");
  expect(graph).not.toMatch(/ style=| on[a-z]+=/);
  expect(page).toContain("@media (prefers-color-scheme: dark)");
  for (const use of ["svg.path rect", "svg.path text"]) expect(page).toMatch(new RegExp(`${use} \\{[^}]*var\\(--`));
  expect(page).toMatch(/svg\.path \{[^}]*max-width: 100%/);
});

test("a path has a box on the page for each identity, whatever their names, and also where two share one", () => {
  const goal = "1 capability at registry";
  for (const name of ["helper", "its workload", "identity mirror", goal]) {
    const [before, after] = [partners(), leading(name)];
    rename(before, HELPER, name);
    const [graph = ""] = /<svg.*?<\/svg>/s.exec(reviewAsHtml(reviewed(before, after))) ?? [];
    const boxes = [...graph.matchAll(/<text x="10"[^>]*>([^<]*)/g)].map(([, text = ""]) => text);
    expect(boxes).toEqual([name, "identity mirror", "its workload", goal]);
  }
  const step = { request: "", body: "", why: "" };
  const graph = pathGraph({
    ...{ from: "bot", fromId: HELPER, assumes: "strict", gains: [], assumptions: [] },
    steps: [
      { ...step, by: "bot", byId: HELPER, target: "identity bot", targetId: MIRROR },
      { ...step, by: "bot", byId: MIRROR, target: "identity bot", targetId: CI },
    ],
  });
  expect(graph.text.match(/<rect /g)).toHaveLength(5);
});
