// Claims as published: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#schema-for-service-account-private-claims.
import { describe, expect, test } from "vitest";
import { kubernetes } from "../../../access/preset/index.ts";
import { matchesOf } from "./matching.ts";

const issuer = "https://my-cluster.example.com";
const published = {
  aud: ["https://my-audience.example.com"],
  exp: 1729605240,
  iat: 1729601640,
  iss: issuer,
  jti: "aed34954-b33a-4142-b1ec-389d6bbb4936",
  "kubernetes.io": {
    namespace: "my-namespace",
    node: { name: "my-node", uid: "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1" },
    pod: { name: "my-pod", uid: "5e0bd49b-f040-43b0-99b7-22765a53f7f3" },
    serviceaccount: { name: "my-serviceaccount", uid: "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798" },
  },
  nbf: 1729601640,
  sub: "system:serviceaccount:my-namespace:my-serviceaccount",
};

const of = (namespace: string, account: string) => ({
  ...published,
  sub: `system:serviceaccount:${namespace}:${account}`,
});

const samples = {
  published,
  "another account": of("my-namespace", "my-serviceaccount-2"),
  "another namespace": of("my-namespace-2", "my-serviceaccount"),
  "another cluster": { ...published, iss: "https://my-cluster-2.example.com" },
  "a path below the issuer": { ...published, iss: `${issuer}/id/7` },
  "a group": { ...published, sub: "system:serviceaccounts:my-namespace" },
};

const [namespace, serviceAccount] = ["my-namespace", "my-serviceaccount"];

describe("kubernetes matches the published claims of what it names, and not the neighbour:", () => {
  test.each<[string, Parameters<typeof kubernetes>[0], string[]]>([
    ["a service account", { issuer, namespace, serviceAccount }, ["published"]],
    ["every account of a namespace", { issuer, namespace, serviceAccount: "*" }, ["published", "another account"]],
    ["namespaces by *", { issuer, namespace: "my-*", serviceAccount }, ["published", "another namespace"]],
    ["another issuer", { issuer: `${issuer}/id/7`, namespace, serviceAccount }, ["a path below the issuer"]],
    ["an audience", { issuer, namespace, serviceAccount, audience: "https://my-audience.example.com" }, ["published"]],
  ])("%s", (_, args, names) => {
    expect(matchesOf(kubernetes(args), samples)).toEqual(names);
  });
});

describe("kubernetes refuses, and says what to write instead:", () => {
  test.each<[object, string]>([
    [{ namespace, serviceAccount }, "issuer is required"],
    [
      { issuer: "http://oidc.example.com", namespace, serviceAccount },
      "issuer must be https: https://oidc.example.com",
    ],
    [
      { issuer: "https://*.example.com", namespace, serviceAccount },
      "issuer must name one issuer: * is not allowed here",
    ],
    [
      { issuer, namespace: "*", serviceAccount: "*" },
      "serviceAccount matches every pod of the cluster, together with namespace; name one of them",
    ],
    [
      { issuer, namespace: "prod:deployer", serviceAccount },
      'namespace must not contain ":", which separates the parts of the subject',
    ],
  ])("%j", (args, message) => {
    expect(() => kubernetes(args as never)).toThrow(`kubernetes: ${message}`);
  });
});
