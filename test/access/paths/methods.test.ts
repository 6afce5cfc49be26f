// Each method that changes something is classified: a new one must be, before it can be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operations, unservedMethods } from "../../../schema/index.ts";
import { METHODS, STEPS } from "./methods.ts";

test("every served and every published method of access that does not only read is classified, and the exchange by GET", () => {
  const served = Object.entries(operations).flatMap(([name, { method }]) => (method === "GET" ? [] : name));
  const published = unservedMethods
    .filter(({ service, method }) => /^(?:iam|auth)\./.test(service) && method !== "GET")
    .map(({ service, name }) => `${service}/${name}`);
  expect(METHODS.toSorted()).toEqual([...served, ...new Set(published), "ExchangeGet"].toSorted());
});

test("the search sends a request of each method that is a step, and of no other", () => {
  const folder = new URL("../../../access/paths/", import.meta.url);
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  const sent = sources.flatMap((text) => [...text.matchAll(/operation: "([^"]+)"/g)].map(([, name]) => name));
  expect([...new Set(sent)].toSorted()).toEqual(Object.keys(STEPS).toSorted());
});
