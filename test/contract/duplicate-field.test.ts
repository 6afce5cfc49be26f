// Every REST method refuses a body that gives one field twice, by the same name or in both spellings. Another reader would
// take the other value.
import { describe, expect, test } from "vitest";
import { asMessage, fieldsOf, type Message, type Operation, operations } from "../../schema/index.ts";
import { serve } from "../harness/api-server.ts";
import { badRequest, expectInvalid, expectRefusal } from "../support/refusal.ts";

const api = await serve();

const withBody = Object.entries(operations as Record<string, Operation>).filter(([, row]) => row.body);

const targetOf = ({ path }: Operation) =>
  path.replace("{version}", "v2beta1").replace(/\{[^}]+\}/g, () => api.organization);

/** The body as a message, and a field of it that has two spellings. */
const fieldOf = ({ request, body }: Operation): [name: string, names: string[]] | undefined => {
  const schema = body === "*" ? request : (asMessage(request.shape[body as string] as never) as Message);
  return fieldsOf(schema)
    .map(({ name, spellings }): [string, string[]] => [name, [...spellings]])
    .find(([, names]) => names.length > 1);
};

const domain = ({ service }: Operation) => (service.startsWith("registry.") ? "registry" : "iam");

describe.each(withBody)("%s", (_, row) => {
  test("refuses a duplicate name, known or not, at any depth", async () => {
    const body = '{"x":1,"x":2,"y":[{"z":null,"z":null}]}';
    const answer = await api.call(row.method, targetOf(row), { body });
    const details = [badRequest({ x: "must be given once", "y[0].z": "must be given once" })];
    expectRefusal(answer, "INVALID_ARGUMENT", "x: must be given once", { details, domain: domain(row) });
  });
});

describe.each(withBody.filter(([, row]) => fieldOf(row)))("%s", (_, row) => {
  test("refuses a field in both spellings, also where one is null", async () => {
    const [name, names] = fieldOf(row) as NonNullable<ReturnType<typeof fieldOf>>;
    for (const last of ["null", '"b"']) {
      const body = `{"${names[0]}":null,"${names[1]}":${last}}`;
      const answer = await api.call(row.method, targetOf(row), { body });
      expect(answer.status).toBe(400);
      expect(answer.json.details[1].fieldViolations).toContainEqual({ field: name, description: "must be given once" });
    }
  });
});

test("a body over 64 KiB is refused without the path of the duplicate name", async () => {
  const body = `{"name":"a","name":"b","description":"${"x".repeat(64 * 1024)}"}`;
  const answer = await api.call("POST", `/iam/v2beta1/groups/${api.organization}`, { body });
  expectInvalid(answer, { "": "the body gives a field twice" });
});

test("each service has methods with a body", () => {
  expect(new Set(withBody.map(([, row]) => domain(row)))).toEqual(new Set(["iam", "registry"]));
});
