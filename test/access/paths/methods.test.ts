// Each method that changes something is classified: a new one must be, before it can be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operations, unservedMethods } from "../../../schema/index.ts";
import { METHODS, UNSERVED } from "./methods.ts";

const changing = Object.entries(operations).filter(([, { method }]) => method !== "GET");

test("every served method that does not only read is classified, and the exchange by GET", () => {
  expect(Object.keys(METHODS).toSorted()).toEqual([...changing.map(([name]) => name), "ExchangeGet"].toSorted());
});

test("every published method of access that is not served and does not only read is classified", () => {
  const published = unservedMethods
    .filter(({ service, method }) => /^(?:iam|auth)\./.test(service) && method !== "GET")
    .map(({ service, name }) => `${service}/${name}`);
  expect(Object.keys(UNSERVED).toSorted()).toEqual([...new Set(published)].toSorted());
});

test("the search sends a request of each method that is a step, and of no other", () => {
  const folder = new URL("../../../access/paths/", import.meta.url);
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  const sent = sources.flatMap((text) => [...text.matchAll(/operation: "([^"]+)"/g)].map(([, name]) => name));
  const steps = Object.entries({ ...METHODS, ...UNSERVED }).flatMap(([name, { part }]) =>
    part === "step" ? [name] : [],
  );
  expect([...new Set(sent)].toSorted()).toEqual(steps.toSorted());
});
