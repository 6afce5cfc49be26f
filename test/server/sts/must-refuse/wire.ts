// The wires by which the exchange and the API are reached: the same request as REST and as gRPC, the same form of answer.
import { codes, type Message, type OperationName, operations } from "../../../../schema/index.ts";
import { queryText } from "../../../harness/api-server.ts";
import { createGrpcClient, errorInHeaders, grpcMethodOf, toProto } from "../../../support/grpc.ts";
import { type Body, createHttpClient } from "../../../support/http.ts";
import { connectHttp2, rawCall } from "../../../support/http2.ts";
import type { Result } from "./target.ts";

export interface Connection {
  /** Every `authorization` header or metadata entry, unchanged. By default for the API. */
  exchange(authorization: string[], request: Body): Promise<Result>;
  exchangeRefreshToken(authorization: string[], request: Body): Promise<Result>;
  /** a method of the API */
  listGroups(authorization: string[]): Promise<Result>;
  close(): void;
}

export type Wire = (baseUrl: string) => Connection;

const nameOf = (number: number): string =>
  Object.entries(codes).find(([, { number: own }]) => own === number)?.[0] ?? String(number);

const resultOf = (error: { code: number; message: string; details: Body[] }): Result => ({
  code: nameOf(error.code),
  message: error.message,
  details: error.details.map(({ "@type": type, ...detail }) => ({ "@type": type.split("/").at(-1), ...detail })),
  body: {},
});

const rest: Wire = (baseUrl) => {
  const client = createHttpClient(baseUrl);
  const send = async (method: string, target: string, authorization: string[], request: Body): Promise<Result> => {
    const headers: Record<string, string[]> = authorization.length > 0 ? { authorization } : {};
    const { status, json } = await client.send({ method, target: target + queryText(request), headers });
    return status === 200 ? { code: "OK", message: "", details: [], body: json } : resultOf(json as never);
  };
  return {
    exchange: (authorization, request) => send("GET", "/sts/exchange", authorization, { aud: baseUrl, ...request }),
    exchangeRefreshToken: (authorization, request) =>
      send("POST", "/sts/exchange_refresh_token", authorization, { aud: baseUrl, ...request }),
    listGroups: (authorization) => send("GET", "/iam/v2beta1/groups", authorization, {}),
    close: client.close,
  };
};

const grpc: Wire = (baseUrl) => {
  const client = createGrpcClient(baseUrl);
  const send = async (operation: OperationName, authorization: string[], request: Body): Promise<Result> => {
    const isUsual = authorization.length === 1 && /^[\x20-\x7e]*$/.test(authorization[0] as string);
    const answer = isUsual
      ? await client.call(operation, lists(request), { metadata: { authorization } })
      : await sendByHand(baseUrl, operation, authorization, lists(request));
    return answer.code === 0 ? { code: "OK", message: "", details: [], body: answer.json } : resultOf(answer);
  };
  return {
    exchange: (authorization, request) => send("Exchange", authorization, { aud: baseUrl, ...request }),
    exchangeRefreshToken: (authorization, request) =>
      send("ExchangeRefreshToken", authorization, { aud: baseUrl, ...request }),
    listGroups: (authorization) => send("ListGroups", authorization, {}),
    close: client.close,
  };
};

// A query holds one value as a list of one does.
const lists = (request: Body): Body =>
  Object.fromEntries(
    Object.entries(request).map(([name, value]) => [
      name,
      ["aud", "cap", "scopes"].includes(name) ? [value].flat() : value,
    ]),
  );

/** A call with headers that no gRPC client would send. Its answer has to be an error. */
const sendByHand = async (baseUrl: string, operation: OperationName, authorization: string[], request: Body) => {
  const { path, requestSerialize } = grpcMethodOf(operation);
  const message = requestSerialize(toProto(operations[operation].request as unknown as Message, request)) as Buffer;
  const session = connectHttp2(baseUrl);
  const { headers } = await rawCall(
    session,
    path,
    authorization.flatMap((value) => ["authorization", value]),
    message,
  );
  session.close();
  return { ...errorInHeaders(headers), json: {} };
};

export const WIRES: [name: string, wire: Wire][] = [
  ["REST", rest],
  ["gRPC", grpc],
];
