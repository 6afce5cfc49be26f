// The ways to call an operation, with outcomes that can be compared: REST in either spelling, and gRPC.
import { expect } from "vitest";
import {
  codeFromNumber,
  codes,
  type Json,
  messageToJson,
  type Operation,
  type OperationName,
  operations,
} from "../../schema/index.ts";
import { queryText, type TestServer } from "../harness/api-server.ts";
import type { Body } from "./http.ts";
import { restRequest, type Spelling } from "./rest-request.ts";

export interface Outcome {
  code: string;
  message: string;
  details: Body[];
  json: Body;
}

export interface CallOf {
  operation: OperationName;
  request: Json;
  /** null: none */
  token: string | null;
  /** default: the first */
  version?: string;
}

export type Way = (api: TestServer, call: CallOf) => Promise<Outcome>;

const rowOf = (operation: OperationName): Operation => operations[operation];

const rest =
  (spelling: Spelling): Way =>
  async (api, { operation, request, token, version = "v2beta1" }) => {
    const { method, path, query, body } = restRequest(rowOf(operation), version, request, spelling);
    const { status, text, json } = await api.call(method, path + queryText(query), { token, body });
    if (status === 200) return { code: "OK", message: "", details: [], json };
    const code = codeFromNumber(json.code);
    // The one place where the two wires differ: HTTP has a status beside the code.
    if (!code) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    expect(status).toBe(codes[code].http);
    return { code, message: json.message, details: json.details, json: {} };
  };

const grpc: Way = async (api, { operation, request, token, version }) => {
  const { code, message, details, json } = await api.grpc().call(operation, request, {
    token,
    ...(version && { version }),
  });
  if (code !== 0) return { code: codeFromNumber(code) ?? String(code), message, details, json: {} };
  // What is always written over REST is the zero value of protobuf.
  return { code: "OK", message, details, json: messageToJson(rowOf(operation).response, json) };
};

export const WAYS = {
  "REST in lowerCamel": rest("lowerCamel"),
  "REST in snake_case": rest("snake_case"),
  gRPC: grpc,
} as const satisfies Record<string, Way>;
