// The checks of Schemathesis for responses: all of its own, except those listed here with a reason.
import type { Document } from "./narrowed.ts";

// Whether each request that fits the document is accepted: more than a document of this kind can say (a group that is not empty
// is not deleted; a caller grants nothing that it does not hold).
const EXCLUDED = "positive_data_acceptance";

// 413 refuses as well as 400 does; the rest of the lists is the tool's own. Its health checks judge the generator and how
// fast the machine is, not the server.
export const configurationFor = (document: Document): string => `
suppress-health-check = ["all"]
warnings = false
[checks.${EXCLUDED}]
enabled = false
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
[phases.stateful]
max-steps = 12

${withHiddenMethod(document).map(operationOf).join("\n")}`;

const operationOf = (path: string): string => `[[operations]]
include-path = "${path}"
[operations.checks.unsupported_method]
enabled = false
[operations.checks.allow_header_conformance]
enabled = false
`;

// Paths with a method that the document cannot show: the POST of a create whose parent is empty (no path parameter of OpenAPI
// may be), and those of v1, which are answered 501. test/contract/transport.test.ts holds the answers of both.
const withHiddenMethod = ({ paths }: Document): string[] =>
  Object.keys(paths).filter((path) => /^\/(iam|registry)\/v1\//.test(path) || paths[`${path}/{uid}`]?.post);
