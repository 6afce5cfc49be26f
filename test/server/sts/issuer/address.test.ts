// The server connects to no address of our networks, however it is written or resolved (docs/internals/faults.md#row-13).
import { expect, it } from "vitest";
import { documentUrl, guardedLookup, isPublicAddress } from "../../../../server/sts/issuer/address.ts";

it.each([
  ...["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "223.255.255.255"],
  ...["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2620:fe::fe"],
])("isPublicAddress takes %s", (address) => expect(isPublicAddress(address)).toBe(true));
it.each(
  Object.entries({
    "this host": ["0.0.0.0", "::"],
    private: ["10.255.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1"],
    "behind a carrier": ["100.64.0.1"],
    loopback: ["127.0.0.1", "127.255.255.254", "::1"],
    "the agent of a cloud": ["168.63.129.16"],
    "metadata of clouds": ["169.254.169.254", "fd00:ec2::254"],
    special: ["192.0.0.8", "240.0.0.1", "255.255.255.255"],
    documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"],
    benchmarks: ["198.18.0.1"],
    multicast: ["224.0.0.1", "ff02::1"],
    "another address in it": ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"],
    Teredo: ["2001::1"],
    "link-local": ["fe80::1", "fe80::1%eth0"],
    "no address": ["issuer.example"],
  }).flatMap(([kind, addresses]) => addresses.map((address) => [address, kind])),
)("isPublicAddress refuses %s (%s)", (address) => expect(isPublicAddress(address as string)).toBe(false));

it.each([
  ["https://issuer.example/a", false],
  ["https://issuer.example:8443/a", false],
  ["https://8.8.8.8/a", false],
  ["http://127.0.0.1:8080/a", true],
  ["http://localhost:8080/a", true],
  ["http://[::1]:8080/a", true],
  ["https://localhost/a", true],
])("documentUrl takes %s (loopback: %s)", (text, loopback) => expect(documentUrl(text, { loopback }).href).toBe(text));

it.each([
  ["http://issuer.example", true, "not https"],
  ["file:///etc/passwd", true, "not https"],
  ["ftp://127.0.0.1", true, "neither https nor http"],
  ["https://user:password@issuer.example", false, "a URL with a user"],
  ["https://169.254.169.254/latest", true, "not a public address"],
  ["https://[fd00:ec2::254]/latest", true, "not a public address"],
  ["https://[::ffff:10.0.0.1]", true, "not a public address"],
  ["https://0xa000001", true, "not a public address"],
  ["https://10.1", true, "not a public address"],
  ["https://0.0.0.0", true, "not a public address"],
  ["https://127.0.0.1", false, "a URL on loopback"],
  ["https://2130706433", false, "a URL on loopback"],
  ["https://0177.0.0.1", false, "a URL on loopback"],
  ["https://localhost", false, "a URL on loopback"],
  ["https://[::1]", false, "a URL on loopback"],
  ["issuer", false, "not a URL"],
])("documentUrl refuses %s (loopback: %s): %s", (text, loopback, message) =>
  expect(() => documentUrl(text, { loopback })).toThrow(new TypeError(message)),
);

const look = (host: string, addresses: string[], all: boolean) =>
  new Promise((resolve) => {
    const answer = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    guardedLookup(async () => answer)(host, { all }, (error, ...found) => resolve(error?.message ?? found));
  });

it("guardedLookup returns the addresses that it has checked, in both forms that a socket requests", async () => {
  expect(await look("issuer.example", ["8.8.8.8", "2620:fe::fe"], true)).toEqual([
    [
      { address: "8.8.8.8", family: 4 },
      { address: "2620:fe::fe", family: 6 },
    ],
  ]);
  expect(await look("issuer.example", ["8.8.8.8", "2620:fe::fe"], false)).toEqual(["8.8.8.8", 4]);
  expect(await look("localhost", ["127.0.0.1"], false)).toEqual(["127.0.0.1", 4]);
});

it.each([
  ["issuer.example", ["10.0.0.1"]],
  ["issuer.example", ["8.8.8.8", "127.0.0.1"]],
  ["issuer.example", []],
  ["localhost.", ["127.0.0.1"]],
  ["localhost.issuer.example", ["127.0.0.1"]],
  ["localhost", ["10.0.0.1"]],
])("guardedLookup refuses %s at %j", async (host, addresses) => {
  expect(await look(host, addresses, true)).toBe("the host resolves to an address that is not public");
});

it("guardedLookup passes a failure on", async () => {
  const lookup = guardedLookup(() => Promise.reject(new Error("no such host")));
  const error = await new Promise((resolve) => lookup("issuer.example", {}, resolve));
  expect(error).toEqual(new Error("no such host"));
});
