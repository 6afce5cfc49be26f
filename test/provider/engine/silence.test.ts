// Output of the SDK's dynamic provider that the engine reports too.
import { expect, it } from "vitest";
import { silencing } from "../../../provider/engine/report.ts";

it("an error that the engine reports is not printed twice, and every other text is printed", () => {
  const printed: unknown[][] = [];
  const console = { error: (...texts: unknown[]) => void printed.push(texts) };
  const silence = silencing(console);
  const error = Object.assign(new Error("no address of the API"), { stack: "" });
  silence(error);
  // As @pulumi/pulumi/cmd/dynamic-provider/index.ts prints it.
  console.error(`${error}: ${error.stack}`);
  expect(printed).toEqual([]);
  const others = ["one", "two"].map(() => Object.assign(new Error("for the same reason"), { stack: "" }));
  for (const other of others) silence(other);
  for (const other of [...others, error]) console.error(`${other}: ${other.stack}`);
  expect(printed.splice(0)).toEqual([[`${error}: `]]);
  const defect = new TypeError("x is not a function");
  console.error(`${defect}: ${defect.stack}`);
  console.error("two", "texts");
  expect(printed).toEqual([[`${defect}: ${defect.stack}`], ["two", "texts"]]);
});
