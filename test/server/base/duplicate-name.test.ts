// A name that appears twice in one object of JSON, whatever the text around it.
import { expect, it } from "vitest";
import { duplicateNames, hasDuplicateName } from "../../../server/base/duplicate-name.ts";
import { createRandom } from "../../support/random.ts";

const isFound = (text: string) => hasDuplicateName(text, JSON.parse(text));
const long = "x:".repeat(1000);

it.each([
  ["nothing", "{}"],
  ["a text", '"ab"'],
  ["a number", "1"],
  ["null", "null"],
  ["signs in texts", '{"a":"a:b{}[]\\"a\\":","b":"\\\\"}'],
  ["the same name in different objects", '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}'],
  ["names of every object", '{"__proto__":{"a":1},"constructor":1,"toString":{}}'],
  ["long texts and spaces", `{"${long}":"${long}\\"${long}",${" ".repeat(1000)}"b"${" ".repeat(99)}:["${long}"]}`],
  ["other characters", `{"é":"${"\u2028é😀".repeat(100)}:"}`],
  ["thousands of levels", `${'{"a":['.repeat(5000)}1${"]}".repeat(5000)}`],
])("finds none in %s", (_, text) => expect([isFound(text), duplicateNames(text)]).toEqual([false, []]));

it.each([
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":1,"\\u0061":2}', ["a"]],
  ['{"b":[{"c":1},{"a":{},"c":[],"a":1}]}', ["b[1].a"]],
  ['{"a":{"b":1},"a":{"c":2,"c":3}}', ["a", "a.c"]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
  ['[[{"":1,"":2}]]', ["[0][0]."]],
  [`{"${long}":"${long}",${" ".repeat(1000)}"b":1,"b"${" ".repeat(99)}:["${long}"]}`, ["b"]],
  [`${'{"a":['.repeat(3000)}{"b":1,"b":2}${"]}".repeat(3000)}`, [`${"a[0].".repeat(3000)}b`]],
])("finds it in %.60s", (text, paths) => expect([isFound(text), duplicateNames(text)]).toEqual([true, paths]));

it("names at most ten of them", () => {
  const members = Array.from({ length: 30 }, (_, i) => `"k${i % 15}":${i}`);
  expect(duplicateNames(`{${members.join(",")}}`)).toHaveLength(10);
});

it("agrees with a second algorithm on any JSON", () => {
  const random = createRandom(7);
  const texts = ['"a"', '"b"', '"a:\\"{"', `"${"y".repeat(40)}\\\\"`, `"${"z".repeat(70)}"`];
  const value = (depth: number): string => {
    const kind = depth > 4 ? 2 : random.below(4);
    const many = Array.from({ length: kind < 2 ? random.below(4) : 0 }, () => value(depth + 1));
    const space = " ".repeat(random.below(2) * random.below(60));
    if (kind === 0) return `[${many.join(`,${space}`)}]`;
    if (kind === 1) return `{${many.map((own) => `${texts[random.below(5)]}${space}:${own}`).join(",")}}`;
    return kind === 2 ? (texts[random.below(5)] as string) : String(random.below(9));
  };
  const seen = Array.from({ length: 2000 }, () => value(0)).map((text) => {
    expect(isFound(text), text).toBe(duplicateNames(text).length > 0);
    return isFound(text);
  });
  expect(new Set(seen).size).toBe(2);
});
