// Claims as published: https://cloud.google.com/compute/docs/instances/verifying-instance-identity#payload.
import { describe, expect, test } from "vitest";
import { google } from "../../../access/preset/index.ts";
import { matchesOf } from "./matching.ts";

const published = {
  iss: "https://accounts.google.com",
  iat: 1496953245,
  exp: 1496956845,
  aud: "https://www.example.com",
  sub: "107517467455664443765",
  azp: "107517467455664443765",
  email: "739419398126-compute@developer.gserviceaccount.com",
  email_verified: true,
  google: {
    compute_engine: {
      project_id: "my-project",
      project_number: 739419398126,
      zone: "us-west1-a",
      instance_id: "152986662232938449",
      instance_name: "example",
      instance_creation_timestamp: 1496952205,
      instance_confidentiality: 1,
    },
  },
};

const { email, email_verified: _, ...withoutEmail } = published;
const samples = {
  published,
  "without an address": withoutEmail,
  "unverified address": { ...published, email_verified: false },
  "recycled address": { ...published, sub: "999999999999999999999" },
  "another account": {
    ...published,
    sub: "999999999999999999999",
    email: "x739419398126-compute@developer.gserviceaccount.com",
  },
  "another project": { ...published, sub: "888888888888888888888", email: `${email}.evil.example` },
  "another issuer": { ...published, iss: "accounts.google.com" },
};

describe("google matches the published claims of what it names, and not the neighbour:", () => {
  test.each<[string, Parameters<typeof google>[0], string[]]>([
    ["a unique id", { uniqueId: published.sub }, ["published", "without an address", "unverified address"]],
    ["an address", { email }, ["published", "recycled address"]],
    ["both", { uniqueId: published.sub, email }, ["published"]],
    [
      "addresses by *",
      { email: "*-compute@developer.gserviceaccount.com" },
      ["published", "recycled address", "another account"],
    ],
  ])("%s", (_, args, names) => {
    expect(matchesOf(google(args), samples)).toEqual(names);
  });
});

describe("google refuses, and says what to write instead:", () => {
  test.each<[object, string]>([
    [{}, "one of uniqueId, email is required"],
    [{ uniqueId: "deployer" }, "uniqueId must be the number of the service account: digits alone, in quotes"],
    [{ uniqueId: 1075174674556 }, 'uniqueId must be a string: write "1075174674556", in quotes'],
    [{ email: "deployer" }, "email must be an address such as deployer@acme.iam.gserviceaccount.com"],
    [{ email: "deployer@*" }, "email must name one project: * may stand only before the @"],
  ])("%j", (args, message) => {
    expect(() => google(args as never)).toThrow(`google: ${message}`);
  });
});
