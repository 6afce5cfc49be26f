// Each row of the table of errors (docs/contract.md#errors) as it leaves through both wires of a real port: number, HTTP
// status, text, reason, domain and details. The forms of the details are copied from the published documents, and the rows are in
// test/schema/error.test.ts.
import { describe, expect, test } from "vitest";
import type { Detail } from "../../schema/error.ts";
import { ApiError, type Code, codes, retryInfo } from "../../schema/index.ts";
import { createMetrics } from "../../server/base/metrics.ts";
import { createBounds } from "../../server/connection/bounds.ts";
import type { Pipeline } from "../../server/pipeline/pipeline.ts";
import { createPort, type Port } from "../../server/port/port.ts";
import { createRouter } from "../../server/rest/route.ts";
import { atEnd, IAM, openGrpc, openHttp } from "../harness/api-server.ts";
import { START_MS } from "../harness/clock.ts";
import { listen } from "../support/listen.ts";

const type = <Name extends string>(name: Name) => `type.googleapis.com/google.rpc.${name}` as const;

// One of each that is published.
const DETAILS: Detail[] = [
  {
    "@type": type("BadRequest"),
    fieldViolations: [
      { field: "name", description: "é 😀 \n %" },
      { field: "claimMatch.issuer", description: "two" },
    ],
  },
  { "@type": type("ResourceInfo"), resourceType: "Group", resourceName: "0".repeat(40) },
  {
    "@type": type("PreconditionFailure"),
    violations: [{ type: "RESOURCE_NOT_EMPTY", subject: "s", description: "cannot delete group with child repos" }],
  },
  retryInfo(1500),
];

describe("through a port whose service throws it,", async () => {
  let thrown: unknown;
  const pipeline: Pipeline = () => Promise.reject(thrown);
  const log = () => {};
  const bounds = createBounds({}, log);
  const shared = {
    pipeline,
    metrics: createMetrics(bounds),
    isDraining: () => false,
    isServing: () => true,
    strictBodies: false,
    log,
  };
  const http = { router: createRouter("both"), pages: async () => undefined, clock: () => START_MS };
  const port: Port = createPort("both", Promise.resolve({ ...shared, ...http }), undefined, bounds);
  const baseUrl = `http://127.0.0.1:${await listen(port.listener)}`;
  const rest = openHttp(baseUrl);
  const grpc = openGrpc(baseUrl);
  atEnd(() => port.close());

  const calls = [
    ["iam.chainguard.dev", `${IAM}/groups`, "ListGroups"],
    ["registry.chainguard.dev", "/registry/v2beta1/repos", "ListRepos"],
    ["vulnerabilities.chainguard.dev", "/vulnerabilities/v2beta1/advisories", "ListAdvisories"],
  ] as const;

  const both = async (target: string, operation: (typeof calls)[number][2]) => {
    const { status, json } = await rest.send({ method: "GET", target });
    const { code, message, details } = await grpc.call(operation, {});
    return { status, rest: json, grpc: { code, message, details } };
  };

  describe.each(Object.entries(codes))("%s, with its number and HTTP status,", (code, { number, http }) => {
    test.each(calls)("with all of its details, in the domain %s", async (domain, target, operation) => {
      const message = "any text: é 😀 % \n end";
      thrown = new ApiError(code as Code, message, { details: DETAILS });
      const info = { "@type": type("ErrorInfo"), reason: code, domain };
      const body = { code: number, message, details: [info, ...DETAILS] };
      expect(await both(target, operation)).toEqual({ status: http, rest: body, grpc: body });
    });
  });

  test("an error from outside the API is INTERNAL, with a text that reveals nothing of it", async () => {
    thrown = new TypeError("the dog ate the key");
    const message = "Internal: the server failed to answer; its log says why";
    const details = [{ "@type": type("ErrorInfo"), reason: "INTERNAL", domain: "iam.chainguard.dev" }];
    const body = { code: 13, message, details };
    expect(await both(`${IAM}/groups`, "ListGroups")).toEqual({ status: 500, rest: body, grpc: body });
  });
});
