// The files of --tls-cert and --tls-key: valid ones, and the errors for the others.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readTlsKeys, TlsError } from "../../../server/index.ts";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_KEY } from "../../support/certificate.ts";
import { testFolder } from "../../support/test-folder.ts";

const { path: file } = testFolder();

const files = { "cert.pem": CERTIFICATE, "key.pem": CERTIFICATE_KEY, "other.pem": OTHER_KEY, "none.pem": "nothing" };
for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text);

test("a certificate and its key are read", () => {
  expect(readTlsKeys(file("cert.pem"), file("key.pem"))).toEqual({ cert: CERTIFICATE, key: CERTIFICATE_KEY });
});

describe("are reported in one sentence:", () => {
  test.each([
    ["a missing certificate", "no.pem", "key.pem", /^cannot read the certificate \S+no\.pem: ENOENT: [^\n]+$/],
    ["no certificate", "none.pem", "key.pem", /^\S+none\.pem holds no certificate in PEM$/],
    ["a key in place of the certificate", "key.pem", "key.pem", /^\S+key\.pem holds no certificate in PEM$/],
    [
      "no key",
      "cert.pem",
      "none.pem",
      /^\S+none\.pem holds no private key in PEM that can be used without a password$/,
    ],
    [
      "another key",
      "cert.pem",
      "other.pem",
      /^the private key in \S+other\.pem does not belong to the certificate in \S+cert\.pem$/,
    ],
  ])("%s", (_, cert, key, text) => {
    const read = () => readTlsKeys(file(cert), file(key));
    expect(read).toThrow(TlsError);
    expect(read).toThrow(text);
  });

  test("none of them quotes the key", () => {
    expect(() => readTlsKeys(file("cert.pem"), file("other.pem"))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("MIGH") }),
    );
  });
});
